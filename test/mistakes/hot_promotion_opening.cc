// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A store that cannot be opened, or fails while it is open; who may open it; how many files it
// opens.

#include "test/mistakes/hot_promotion_opening.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "plugin/hot_promotion/options.h"
#include "rocksdb/utilities/options_util.h"
#include "test/support/no_threads.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

namespace fs = std::filesystem;

// Nothing but the reason has to go away: its copies are there again.
TEST_F(OpeningMistakes, AStoreThatCannotBeOpenedForAWhileIsKept) {
  const struct {
    const char* what;
    std::function<void()> begin;
    std::function<void()> end;
  } kCases[] = {
      {"a MANIFEST that cannot be read",
       [&] {
         for (const auto& entry : fs::directory_iterator(hot_.path + "/store")) {
           if (entry.path().filename().string().find("MANIFEST") == 0) {
             fs::rename(entry.path(), root_ + "/manifest");
             fs::create_directory(entry.path());  // EISDIR
           }
         }
       },
       [&] {
         for (const auto& entry : fs::directory_iterator(hot_.path + "/store")) {
           if (entry.path().filename().string().find("MANIFEST") == 0) {
             fs::remove(entry.path());
             fs::rename(root_ + "/manifest", entry.path());
             return;
           }
         }
       }},
      {"a CATALOG that cannot be read",
       [&] {
         fs::rename(hot_.path + "/ralt/CATALOG", root_ + "/catalog");
         fs::create_directory(hot_.path + "/ralt/CATALOG");
       },
       [&] {
         fs::remove(hot_.path + "/ralt/CATALOG");
         fs::rename(root_ + "/catalog", hot_.path + "/ralt/CATALOG");
       }},
  };
  Prepare();
  for (const auto& one : kCases) {
    SCOPED_TRACE(one.what);
    one.begin();
    Open();
    for (int i = 0; i < 200; i++) {
      ASSERT_EQ(ValueOf(i), Get(i));
    }
    one.end();
    EXPECT_TRUE(Soon([&] { return IsServed(5); }));
    TakeServed();
    for (int i = 0; i < 100; i++) {
      ASSERT_EQ(ValueOf(i), Get(i));
    }
    EXPECT_EQ(100u, TakeServed().store);
    EXPECT_GE(Stats().access_table["hot_keys"], 100u);
    CloseAll();
  }
}

// As of a process that is to end soon.
TEST_F(OpeningMistakes, TheLockIsTriedAgain) {
  Prepare();
  const int fd = open((hot_.path + "/LOCK").c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  int ready[2];
  int done[2];
  ASSERT_EQ(0, pipe(ready));
  ASSERT_EQ(0, pipe(done));
  const pid_t child = fork();
  if (child == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    char byte = fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
    close(done[1]);
    if (write(ready[1], &byte, 1) == 1) {
      byte = read(done[0], &byte, 1) == 0 ? 'y' : 'n';
    }
    _exit(0);
  }
  close(done[0]);
  char byte = 0;
  ASSERT_EQ(1, read(ready[0], &byte, 1));
  ASSERT_EQ('y', byte);
  close(fd);
  Open();
  EXPECT_FALSE(IsServed(5));
  std::string log;
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/LOG", &log));
  EXPECT_NE(std::string::npos, log.find("tried again every few seconds"));
  close(done[1]);
  ASSERT_EQ(child, waitpid(child, nullptr, 0));
  EXPECT_TRUE(Soon([&] { return IsServed(5); }));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(OpeningMistakes, ThoseThatOnlyReadLeaveTheFolderAlone) {
  Prepare();
  ConfigOptions config;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(config, path_, &db_options, &families));
  const Options options(db_options, families[0].options);
  for (const char* how : {"read-only", "secondary"}) {
    SCOPED_TRACE(how);
    std::unique_ptr<DB> reader;
    if (std::string(how) == "read-only") {
      ASSERT_OK(OpenDbForReadOnly(options, path_, &reader));
    } else {
      Options secondary = options;
      secondary.max_open_files = -1;
      ASSERT_OK(hot_promotion::OpenInto(&reader, [&](auto* db) {
        return DB::OpenAsSecondary(secondary, path_, root_ + "/secondary", db);
      }));
    }
    std::string value;
    ASSERT_OK(reader->Get(ReadOptions(), KeyOf(5), &value));
    EXPECT_EQ(ValueOf(5), value);
    EXPECT_EQ(nullptr, Engine::Find(hot_.path));
    Open();
    EXPECT_TRUE(IsServed(5));
    CloseAll();
    reader.reset();
  }
}

class DamageMistakes : public OpeningMistakes {
 protected:
  // Makes every block of the store bad, or the first one of each file.
  void DamageSsts(bool all) {
    for (const auto& entry : fs::directory_iterator(hot_.path + "/store")) {
      if (entry.path().extension() == ".sst") {
        const int fd = open(entry.path().c_str(), O_WRONLY);  // in place
        ASSERT_GE(fd, 0);
        const uint64_t end = all ? entry.file_size() / 2 : 9;
        for (uint64_t at = 0; at + 8 < end; at += 64) {
          ASSERT_EQ(8, pwrite(fd, "nonsense", 8, static_cast<off_t>(at)));
        }
        close(fd);
      }
    }
  }
  void ExpectAnswers() {
    for (int i = 0; i < 100; i++) {
      EXPECT_EQ(ValueOf(i), Get(i));
    }
  }
  bool AreServedSoon() {
    return Soon([&] {
      ExpectAnswers();
      SettleHotPromotion(options_.table_factory.get())
          .PermitUncheckedError();  // there may be no store
      TakeServed();
      ExpectAnswers();
      return TakeServed().store == 100;
    });
  }
};

TEST_F(DamageMistakes, AStoreThatIsDamagedWhileItIsOpenIsReplaced) {
  Prepare();
  for (const bool all : {true, false}) {
    SCOPED_TRACE(all);
    Open();
    EXPECT_TRUE(IsServed(5));
    ASSERT_NO_FATAL_FAILURE(DamageSsts(all));
    ExpectAnswers();
    EXPECT_TRUE(AreServedSoon());
    EXPECT_GT(Stats().errors, 0u);
    const uint64_t errors = Stats().errors;
    ExpectAnswers();
    EXPECT_EQ(errors, Stats().errors);
    CloseAll();
  }
}

// Where a limit of threads is reached while the database is open.
TEST_F(DamageMistakes, AStoreIsReplacedOnceThereAreThreads) {
  Prepare();
  Open();
  EXPECT_TRUE(IsServed(5));
  {
    const rocktier::NoThreads none;
    ASSERT_NO_FATAL_FAILURE(DamageSsts(/*all=*/true));
    EXPECT_TRUE(Soon([&] {
      ExpectAnswers();
      std::string log;
      EXPECT_OK(ReadFileToString(Env::Default(), hot_.path + "/LOG", &log));
      return log.find("store: no thread can be had") != std::string::npos;
    }));
    ExpectAnswers();
  }
  EXPECT_TRUE(AreServedSoon());
}

// The same while reads, flushes and compactions use it.
TEST_F(OpeningMistakes, AStoreIsReplacedUnderLoad) {
  Prepare();
  Open();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([&, t] {
      for (int i = t; !stop; i++) {
        wrong += Get(i % 200) == ValueOf(i % 200) ? 0 : 1;
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      Compact();
      Env::Default()->SleepForMicroseconds(300000);
    }
  });
  const std::string damaged = hot_.path + "/LOG";
  const bool replaced = Soon([&] {
    for (const auto& entry : fs::directory_iterator(hot_.path + "/store")) {
      if (entry.path().extension() == ".sst") {
        std::error_code gone;
        const uint64_t size = fs::file_size(entry.path(), gone);
        const int fd = open(entry.path().c_str(), O_WRONLY);
        if (!gone && fd >= 0) {
          for (uint64_t at = 0; at + 8 < size / 2; at += 64) {
            EXPECT_EQ(8, pwrite(fd, "nonsense", 8, static_cast<off_t>(at)));
          }
        }
        close(fd);
      }
    }
    std::string log;
    EXPECT_OK(ReadFileToString(Env::Default(), damaged, &log));
    return log.find("begins empty") != std::string::npos;
  });
  std::string told;
  EXPECT_OK(ReadFileToString(Env::Default(), damaged, &told));
  EXPECT_TRUE(replaced) << told << Stats().ToString();
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(0, wrong.load());
}

TEST_F(OpeningMistakes, OpenFilesAreAPartOfWhatTheDatabaseMayOpen) {
  HotPromotionOptions options;
  EXPECT_EQ(20, StoreOpenFiles(options, 40));
  EXPECT_EQ(25, StoreOpenFiles(options, 100));
  struct rlimit limit;
  ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
  EXPECT_EQ(static_cast<int>(std::min<uint64_t>(limit.rlim_cur, INT_MAX) / 4),
            StoreOpenFiles(options, -1));
  options.store_open_files = 123;
  EXPECT_EQ(123, StoreOpenFiles(options, 40));
}

// Each slow SST with retained records has a file of the store.
TEST_F(OpeningMistakes, FewDescriptors) {
  struct rlimit before;
  ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
  struct rlimit few = before;
  few.rlim_cur = 200;
  options_.max_open_files = 40;
  options_.target_file_size_base = 8 << 10;
  options_.compression = kNoCompression;
  ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
  Open();
  Fill(0, 20000);
  Flush();
  Compact();
  Heat(0, 20000);
  const Status s = db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_OK(s);
  Compact();
  EXPECT_GT(Stats().store_files, 200u);
  Fill(0, 100);
  EXPECT_LE(OpenFilesOf(hot_.path + "/store"), 20u);
  for (int i = 0; i < 20000; i += 7) {
    ASSERT_EQ(ValueOf(i), Get(i));
  }
  EXPECT_LE(OpenFilesOf(hot_.path + "/store"), 20u);
  CloseAll();
  ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
