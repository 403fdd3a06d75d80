// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <map>
#include <set>

#include "plugin/hot_promotion/store/format.h"
#include "test/hot_promotion/support.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

class InspectTest : public HotDb {
 protected:
  void Prepare() {
    Open();
    Fill(0, 100);
    Flush();
    Heat(0, 50);
    Fill(50, 60, 1);
    Flush();
    Heat(50, 60);
  }
};

TEST_F(InspectTest, CountsWhatIsThere) {
  Prepare();
  for (int closed = 0; closed < 2; closed++) {
    HotStoreInfo info;
    ASSERT_OK(InspectHotStore(hot_.path, &info));
    EXPECT_EQ(60u, info.records);
    EXPECT_EQ(2u, info.files);
    EXPECT_EQ(60 * KeyOf(0).size(), info.key_bytes);
    EXPECT_EQ(60 * ValueOf(0).size(), info.value_bytes);
    EXPECT_GT(info.file_bytes, info.value_bytes);
    EXPECT_EQ(0u, info.unknown);
    EXPECT_EQ(std::string::npos, info.ToJson().find("equal"));
    CloseAll();
  }
}

TEST_F(InspectTest, VerifyComparesWithTheSsts) {
  Prepare();
  CloseAll();
  HotStoreInfo info;
  ASSERT_OK(VerifyHotStore(hot_.path, &info));
  EXPECT_EQ(60u, info.equal);
  EXPECT_EQ(0u, info.different + info.unchecked);

  // A store with another value is told.
  std::string key;
  ASSERT_OK(DumpHotStore(hot_.path,
                         [](const std::string&, const Slice&, const Slice&) { return false; }));
  std::unique_ptr<DB> store;
  ASSERT_OK(OpenDb(Options(), hot_.path + "/store", &store));
  {
    std::unique_ptr<Iterator> it(store->NewIterator(ReadOptions()));
    StoreKey decoded;
    for (it->SeekToFirst(); decoded.tag == Tag::kFile; it->Next()) {
      ASSERT_TRUE(it->Valid());
      if (DecodeKey(it->key(), &decoded)) {
        key = it->key().ToString();
      }
    }
  }
  ASSERT_OK(store->Put(WriteOptions(), key, "wrong"));
  ASSERT_OK(store->Put(WriteOptions(), "neither", "nor"));
  store.reset();
  ASSERT_OK(VerifyHotStore(hot_.path, &info));
  EXPECT_EQ(59u, info.equal);
  EXPECT_EQ(1u, info.different);
  EXPECT_EQ(1u, info.unknown);
  EXPECT_NE(std::string::npos, info.ToJson().find("\"different\":1"));
  EXPECT_NE(std::string::npos, info.ToString().find("different: 1\n"));
}

TEST_F(InspectTest, DumpHasEveryRecord) {
  Prepare();
  CloseAll();
  std::map<std::string, std::string> records;
  std::set<std::string> files;
  ASSERT_OK(
      DumpHotStore(hot_.path, [&](const std::string& file, const Slice& key, const Slice& value) {
        files.insert(file);
        records[key.ToString()] = value.ToString();
        return true;
      }));
  EXPECT_EQ(60u, records.size());
  EXPECT_EQ(ValueOf(5), records[KeyOf(5)]);
  EXPECT_EQ(ValueOf(55, 1), records[KeyOf(55)]);
  EXPECT_EQ(2u, files.size());
  EXPECT_EQ(0u, files.begin()->find(path_));
}

TEST_F(InspectTest, ClearLosesNothing) {
  Prepare();
  EXPECT_TRUE(ClearHotStore(hot_.path).IsBusy());
  EXPECT_TRUE(ClearHotStore(hot_.path, /*dry_run=*/true).IsBusy());
  CloseAll();
  ASSERT_OK(ClearHotStore(hot_.path, /*dry_run=*/true));
  ASSERT_OK(ClearHotStore(hot_.path));
  HotStoreInfo info;
  EXPECT_TRUE(InspectHotStore(hot_.path, &info).IsNotFound());
  EXPECT_TRUE(ClearHotStore(hot_.path).IsNotFound());
  Open();
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(1u, TakeServed().slow);
  Heat(0, 10);
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(1u, TakeServed().store);
}

TEST_F(InspectTest, OtherDirectories) {
  HotStoreInfo info;
  EXPECT_TRUE(InspectHotStore(root_ + "/none", &info).IsNotFound());
  ASSERT_OK(Env::Default()->CreateDirIfMissing(root_ + "/x"));
  std::unique_ptr<DB> db;
  Options options;
  options.create_if_missing = true;
  ASSERT_OK(OpenDb(options, root_ + "/x/store", &db));
  db.reset();
  EXPECT_TRUE(InspectHotStore(root_ + "/x", &info).IsCorruption());
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
