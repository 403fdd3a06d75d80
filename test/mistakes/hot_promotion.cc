// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What is at the folder of hot_promotion: nothing that somebody else has there is touched, and what
// is ours is kept.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "file/file_util.h"
#include "plugin/hot_promotion/store/folder.h"
#include "rocksdb/convenience.h"
#include "test/hot_promotion/support.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

namespace fs = std::filesystem;

// Names and contents of all files, but for LOG and LOCK.
std::map<std::string, std::string> ContentsOf(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      EXPECT_OK(ReadFileToString(Env::Default(), entry.path(), &contents[entry.path()]));
    }
  }
  return contents;
}

class FolderMistakes : public HotDb {
 protected:
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    ASSERT_OK(WriteStringToFile(Env::Default(), text, path));
  }
  // A database of somebody, with a few records.
  void MakeDatabase(const std::string& path) {
    fs::create_directories(fs::path(path).parent_path());
    Options options;
    options.create_if_missing = true;
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(options, path, &db));
    ASSERT_OK(db->Put(WriteOptions(), "precious", "value"));
    ASSERT_OK(db->Flush(FlushOptions()));
    ASSERT_OK(db->Put(WriteOptions(), "logged", "value"));
  }
  // The folder as the first version made it.
  void MakeOld() {
    Open();
    Fill(0, 100);
    Flush();
    Heat(0, 50);
    CloseAll();
    for (const char* part : {"", "/store", "/ralt"}) {
      ASSERT_TRUE(fs::remove(hot_.path + part + "/HOT_PROMOTION"));
    }
  }
  // A database is not opened with the folder, which is as it was.
  void ExpectRefused(const std::string& mentions) {
    const auto before = ContentsOf(root_);
    NewFactory();
    const Status s = OpenDb(options_, path_, &db_);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find(mentions)) << s.ToString();
    EXPECT_TRUE(ClearHotStore(hot_.path).IsInvalidArgument());
    CloseAll();
    EXPECT_EQ(before, ContentsOf(root_));
  }
};

TEST_F(FolderMistakes, WhatIsSomebodyElsesIsRefused) {
  const struct {
    const char* what;
    const char* mentions;
    std::function<void()> make;
  } kCases[] = {
      {"a database", "may not have made", [&] { MakeDatabase(hot_.path); }},
      {"a database at store", "store", [&] { MakeDatabase(hot_.path + "/store"); }},
      {"a database at ralt", "ralt", [&] { MakeDatabase(hot_.path + "/ralt"); }},
      {"SSTs at ralt", "ralt", [&] { Write(hot_.path + "/ralt/000007.sst", "an SST"); }},
      {"a file", "has thesis.txt", [&] { Write(hot_.path + "/thesis.txt", "all of it"); }},
      {"a file at store", "store", [&] { Write(hot_.path + "/store/thesis.txt", "all"); }},
      {"a file in the place of it", "not a folder", [&] { Write(hot_.path, "text"); }},
      {"a FIFO in the place of it", "not a folder",
       [&] { ASSERT_EQ(0, mkfifo(hot_.path.c_str(), 0600)); }},
      {"a marker of somebody", "HOT_PROMOTION",
       [&] { Write(hot_.path + "/HOT_PROMOTION", "my notes"); }},
  };
  for (const auto& one : kCases) {
    SCOPED_TRACE(one.what);
    fs::remove_all(root_);
    fs::create_directories(root_);
    one.make();
    ExpectRefused(one.mentions);
  }
  fs::remove_all(hot_.path);  // DestroyDir() would wait for a FIFO
}

TEST_F(FolderMistakes, WhatIsEmptyOrMarkedIsUsed) {
  const struct {
    const char* what;
    std::function<void()> make;
  } kCases[] = {
      {"nothing", [] {}},
      {"an empty folder", [&] { fs::create_directories(hot_.path); }},
      {"an empty file system", [&] { fs::create_directories(hot_.path + "/lost+found"); }},
      {"half a marker", [&] { Write(hot_.path + "/HOT_PROMOTION.tmp", "RKT"); }},
      {"a folder of a process that was killed early",
       [&] {
         Write(hot_.path + "/LOCK", "");
         Write(hot_.path + "/LOG", "what it told\n");
         fs::create_directories(hot_.path + "/store");
       }},
  };
  for (const auto& one : kCases) {
    SCOPED_TRACE(one.what);
    fs::remove_all(root_);
    fs::create_directories(root_);
    one.make();
    Open();
    Fill(0, 100);
    Flush();
    Heat(0, 50);
    EXPECT_EQ(ValueOf(5), Get(5));
    EXPECT_EQ(1u, TakeServed().store);
    CloseAll();
    EXPECT_TRUE(fs::exists(hot_.path + "/HOT_PROMOTION"));
  }
}

TEST_F(FolderMistakes, AFolderOfTheFirstVersionIsUsedAndMarked) {
  MakeOld();
  ASSERT_OK(Folder::Check(Folder::Kind::kTop, hot_.path));
  Open();
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  EXPECT_EQ(50u, TakeServed().store);
  CloseAll();
  for (const char* part : {"", "/store", "/ralt"}) {
    EXPECT_TRUE(fs::exists(hot_.path + part + "/HOT_PROMOTION"));
  }
}

TEST_F(FolderMistakes, AFolderOfTheFirstVersionWithSomethingElseIsRefused) {
  MakeOld();
  Write(hot_.path + "/store/thesis.txt", "all of it");
  ExpectRefused("store");
}

// What others put beside our files stays, whatever happens to ours.
TEST_F(FolderMistakes, OnlyOwnFilesAreDeleted) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  CloseAll();
  Write(hot_.path + "/mine", "1");
  Write(hot_.path + "/store/mine", "2");
  Write(hot_.path + "/store/DAMAGED", "begin anew");
  Write(hot_.path + "/ralt/mine", "3");
  Write(hot_.path + "/ralt/CATALOG", "nonsense");
  Open();
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(1u, TakeServed().slow);
  CloseAll();
  EXPECT_TRUE(ClearHotStore(hot_.path).IsInvalidArgument());
  for (const char* name : {"/mine", "/store/mine", "/ralt/mine"}) {
    EXPECT_TRUE(fs::exists(hot_.path + name)) << name;
    fs::remove(hot_.path + name);
  }
  ASSERT_OK(ClearHotStore(hot_.path));
  EXPECT_FALSE(fs::exists(hot_.path + "/store"));
}

// A database that was put into a folder of ours is no hot store.
TEST_F(FolderMistakes, ADatabaseInAMarkedStoreIsLeft) {
  Open();
  Fill(0, 10);
  Flush();
  CloseAll();
  for (const auto& entry : fs::directory_iterator(hot_.path + "/store")) {
    if (entry.path().filename() != "HOT_PROMOTION") {
      fs::remove(entry.path());
    }
  }
  MakeDatabase(hot_.path + "/store");
  Open();
  EXPECT_EQ(ValueOf(5), Get(5));
  CloseAll();
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(Options(), hot_.path + "/store", &db));
  std::string value;
  ASSERT_OK(db->Get(ReadOptions(), "precious", &value));
  ASSERT_OK(db->Get(ReadOptions(), "logged", &value));
}

TEST_F(FolderMistakes, TheLogOfTheLastTimeIsKept) {
  Open();
  Fill(0, 10);
  Flush();
  CloseAll();
  Write(hot_.path + "/LOG", "what went wrong\n");
  Open();
  std::string log;
  ASSERT_OK(ReadFileToString(Env::Default(), hot_.path + "/LOG.old", &log));
  EXPECT_EQ("what went wrong\n", log);
}

// However one folder is called, it has one engine.
TEST_F(FolderMistakes, SpellingsOfOnePath) {
  fs::create_directories(root_ + "/real/hot");
  fs::create_directory_symlink(root_ + "/real", root_ + "/link");
  const char* kSpellings[] = {"/real/hot", "/real/hot/", "/real//./hot", "/link/hot",
                              "/link/../real/hot"};
  std::vector<ColumnFamilyDescriptor> families;
  options_.create_missing_column_families = true;
  for (const char* spelling : kSpellings) {
    hot_.path = root_ + spelling;
    NewFactory();
    families.emplace_back(families.empty() ? kDefaultColumnFamilyName : spelling, options_);
  }
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(hot_promotion::OpenInto(
      &db_, [&](auto* db) { return DB::Open(options_, path_, families, &handles, db); }));
  for (auto* handle : handles) {
    for (int i = 0; i < 100; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), handle, KeyOf(i), handle->GetName() + ValueOf(i)));
    }
    ASSERT_OK(db_->Flush(FlushOptions(), handle));
  }
  for (int round = 0; round < 3; round++) {
    for (auto* handle : handles) {
      for (int i = 0; i < 100; i++) {
        std::string value;
        ASSERT_OK(db_->Get(ReadOptions(), handle, KeyOf(i), &value));
        EXPECT_EQ(handle->GetName() + ValueOf(i), value);
      }
    }
    Settle();
  }
  std::shared_ptr<Engine> first;
  for (const auto& family : families) {
    std::shared_ptr<Engine> engine;
    ASSERT_OK(EngineOf(family.options.table_factory.get(), &engine));
    first = first == nullptr ? engine : first;
    EXPECT_EQ(first, engine);
  }
  EXPECT_EQ(0u, first->Stats().errors);
  EXPECT_EQ(500u, first->Stats().promoted);
  for (auto* handle : handles) {
    ASSERT_OK(db_->DestroyColumnFamilyHandle(handle));
  }
  first.reset();
  families.clear();
  CloseAll();
  fs::remove(root_ + "/link");
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
