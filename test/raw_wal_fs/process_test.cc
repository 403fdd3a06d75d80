// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Two processes at one log device: the child writes, this one reads, or wants to write, too.

#include <filesystem>
#include <fstream>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "port/stack_trace.h"
#include "rocksdb/file_system.h"
#include "test/raw_wal_fs/child.h"
#include "test/raw_wal_fs/support.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

class RawWalProcessTest : public RawWalDeviceTest {
 protected:
  RawWalProcessTest() { device_size_ = 16 << 20; }

  void OpenSecondary(std::unique_ptr<DB>* secondary) {
    Options options = DbOptions();
    options.max_open_files = -1;
    ASSERT_OK(OpenDbAsSecondary(options, db_name_, folder_ + "/secondary", secondary));
  }

  Child child_;
};

TEST_P(RawWalProcessTest, ASecondaryFollows) {
  ASSERT_EQ(child_.Open(Uri("tail_size=128K"), db_name_), "OK");
  ASSERT_EQ(child_.Put(0, 1, 100, /*sync=*/false), "OK");
  NewFs();
  std::unique_ptr<DB> secondary;
  OpenSecondary(&secondary);
  EXPECT_EQ(Get(secondary.get(), Child::Key(0)), Child::Value(0, 100));
  // Alone in the tail, over its end, on the device, in the next segment, in the next log.
  int next = 1;
  for (const int size : {100, 10, 3000, 60000, 200}) {
    for (const bool sync : {false, true, true, false}) {
      for (const int count : {1, 7}) {
        ASSERT_EQ(child_.Put(next, next + count, size, sync), "OK");
        ASSERT_OK(secondary->TryCatchUpWithPrimary());
        for (int i = next; i < next + count; i++) {
          ASSERT_TRUE(Get(secondary.get(), Child::Key(i)) == Child::Value(i, size))
              << i << ": " << Get(secondary.get(), Child::Key(i)).substr(0, 100);
        }
        next += count;
      }
    }
    if (size == 3000) {
      ASSERT_EQ(child_.Flush(), "OK");
    }
  }
  // What the child leaves when it is killed is followed, too.
  ASSERT_EQ(child_.Put(next, next + 1, 100, /*sync=*/false), "OK");
  child_.Kill();
  ASSERT_OK(secondary->TryCatchUpWithPrimary());
  EXPECT_EQ(Get(secondary.get(), Child::Key(next)), Child::Value(next, 100));
}

// The child writes while this process reads: frames are written over, logs come and go.
TEST_P(RawWalProcessTest, ASecondaryFollowsAWriterThatDoesNotWait) {
  for (const bool sync : {false, true}) {
    const std::string name = db_name_ + (sync ? "-sync" : "");
    ASSERT_EQ(child_.Open(Uri("tail_size=128K"), name), "OK");
    const int keys = sync ? 4000 : 20000;
    ASSERT_EQ(child_.Start(keys, sync), "OK");
    NewFs();
    Options options = DbOptions();
    options.max_open_files = -1;
    std::unique_ptr<DB> secondary;
    ASSERT_OK(OpenDbAsSecondary(options, name, folder_ + "/secondary", &secondary));
    // Meanwhile a log may be missing, which was flushed and deleted after the manifest had been
    // read: with stock RocksDB, too. What is found is right, and in the end all is.
    int found = 0;
    int rounds = 0;
    for (; found < keys; rounds++) {
      ASSERT_OK(secondary->TryCatchUpWithPrimary());
      std::unique_ptr<Iterator> it(secondary->NewIterator(ReadOptions()));
      found = 0;
      for (it->SeekToFirst(); it->Valid(); it->Next(), found++) {
        const int n = atoi(it->key().ToString().c_str());
        ASSERT_EQ(it->key().ToString(), Child::Key(n));
        ASSERT_TRUE(it->value() == Child::Value(n, Child::SizeOf(n))) << n;
      }
      ASSERT_OK(it->status());
    }
    EXPECT_EQ(child_.Wait(), "OK");
    printf("sync=%d: %d rounds\n", static_cast<int>(sync), rounds);
  }
}

TEST_P(RawWalProcessTest, OnlyOneWrites) {
  ASSERT_EQ(child_.Open(Uri(), folder_ + "/of-the-child"), "OK");
  ASSERT_EQ(child_.Put(0, 100, 1000, /*sync=*/true), "OK");
  NewFs();
  std::unique_ptr<DB> db;
  for (int i = 0; i < 2; i++) {
    const Status s = OpenDb(DbOptions(), db_name_, &db);
    EXPECT_TRUE(s.IsBusy()) << s.ToString();
    EXPECT_NE(s.ToString().find("device=" + device_), std::string::npos) << s.ToString();
    // Neither by its tools.
    raw_wal_fs::RawWalOptions options;
    options.device = device_;
    options.force = true;
    EXPECT_TRUE(raw_wal_fs::FormatLogDevice(options).IsBusy());
    uint64_t logs;
    const std::string database = folder_ + "/closed";
    std::filesystem::create_directories(database);
    std::ofstream(database + "/CURRENT") << "MANIFEST-000001\n";
    EXPECT_TRUE(raw_wal_fs::ExportLogs(options, database, &logs).IsBusy());
    if (i == 0) {
      // By another name of the device, too.
      const std::string name = device_;
      device_ = folder_ + "/other-name";
      std::filesystem::create_symlink(name, device_);
      NewFs();
    }
  }
  // Readers are not hindered.
  raw_wal_fs::RawWalDeviceInfo info;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
  ASSERT_EQ(info.logs.size(), 1u);
  EXPECT_EQ(info.logs[0].problem, "");
  EXPECT_GT(info.logs[0].bytes, 100u * 8);
  std::unique_ptr<DB> reader;
  ASSERT_OK(OpenDbForReadOnly(DbOptions(), folder_ + "/of-the-child", &reader));
  for (int i = 0; i < 100; i++) {
    ASSERT_EQ(Get(reader.get(), Child::Key(i)), Child::Value(i, 1000));
  }
  // The writer goes on unharmed, and when it is done the next one may write, this reader still
  // there.
  ASSERT_EQ(child_.Put(100, 200, 1000, /*sync=*/true), "OK");
  ASSERT_EQ(child_.Close(), "OK");
  Open();
  Put("a", "1");
  EXPECT_EQ(child_.Open(Uri(), folder_ + "/of-the-child").compare(0, 14, "Resource busy:"), 0);
  reader.reset();
  NewFs();
  ASSERT_EQ(child_.Open(Uri(), folder_ + "/of-the-child"), "OK");
}

TEST_P(RawWalProcessTest, TheDeviceOfAKilledWriterIsFree) {
  for (int i = 0; i < 3; i++) {
    Child child;
    ASSERT_EQ(child.Open(Uri(), folder_ + "/of-the-child"), "OK");
    ASSERT_EQ(child.Put(0, 10, 1000, /*sync=*/i % 2 == 0), "OK");
    ASSERT_EQ(child.Start(1 << 30, /*sync=*/true), "OK");
    NewFs();
    std::unique_ptr<DB> db;
    ASSERT_TRUE(OpenDb(DbOptions(), db_name_, &db).IsBusy());
    child.Kill();
    Open();
    Put("key" + std::to_string(i), "value");
    ASSERT_OK(OpenDb(DbOptions(), folder_ + "/of-the-child", &db));
    EXPECT_EQ(Get(db.get(), Child::Key(5)).substr(0, 8), Child::Key(5));
    db.reset();
    for (int j = 0; j <= i; j++) {
      EXPECT_EQ(Get("key" + std::to_string(j)), "value");
    }
    NewFs();
  }
}

INSTANTIATE_TEST_CASE_P(Devices, RawWalProcessTest, ::testing::ValuesIn(DeviceKinds()), NameOf);

}  // namespace

}  // namespace rocktier

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--child") {
    return rocktier::ChildMain();
  }
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
