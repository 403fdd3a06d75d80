// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the tests of copied databases of raw_wal_fs have in common.

#pragma once

#include <filesystem>
#include <string>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/db.h"
#include "test/raw_wal_fs/support.h"

namespace rocktier {

class CopyMistakes : public RawWalTest {
 protected:
  CopyMistakes() { NewFs(); }
  ~CopyMistakes() override {
    db_.reset();
    std::filesystem::remove_all(folder_);
  }

  // A closed database of this name with `records` records, none of them in an SST.
  void Fill(const std::string& name, int records, bool sync) {
    db_name_ = name;
    NewFs();
    Open();
    for (int i = 0; i < records; i++) {
      Put("key" + std::to_string(i), name + std::to_string(i) + std::string(200, 'v'), sync);
    }
    NewFs();
  }
  void ExpectWhole(const std::string& name, int records, const std::string& of = "") {
    db_name_ = name;
    NewFs();
    Open();
    for (int i = 0; i < records; i++) {
      ASSERT_EQ(Get("key" + std::to_string(i)),
                (of.empty() ? name : of) + std::to_string(i) + std::string(200, 'v'));
    }
    NewFs();
  }
  void ExpectRefused(const std::string& name, const std::string& mentions) {
    NewFs();
    ExpectRefusedNow(name, mentions);
  }
  // Its logs, or a part of them, are not on the device.
  void ExpectCorruption(const std::string& name, const std::string& mentions) {
    NewFs();
    ExpectRefusedNow(name, mentions, /*corrupt=*/true);
  }
  void ExpectRefusedNow(const std::string& name, const std::string& mentions,
                        bool corrupt = false) {
    for (const bool paranoid : {true, false}) {
      ROCKSDB_NAMESPACE::Options options = DbOptions();
      options.paranoid_checks = paranoid;
      std::unique_ptr<ROCKSDB_NAMESPACE::DB> db;
      const ROCKSDB_NAMESPACE::Status s = OpenDb(options, name, &db);
      EXPECT_FALSE(s.ok());
      EXPECT_TRUE(s.IsCorruption() || !corrupt) << s.ToString();
      EXPECT_NE(s.ToString().find(mentions), std::string::npos) << s.ToString();
    }
  }
  ROCKSDB_NAMESPACE::Options WithWalDir() const {
    ROCKSDB_NAMESPACE::Options options = DbOptions();
    options.wal_dir = folder_ + "/wal";
    return options;
  }
  ROCKSDB_NAMESPACE::raw_wal_fs::RawWalAdoption Adopt(const std::string& name, bool force) {
    NewFs();
    ROCKSDB_NAMESPACE::raw_wal_fs::RawWalOptions wal;
    wal.device = device_;
    wal.force = force;
    ROCKSDB_NAMESPACE::raw_wal_fs::RawWalAdoption done;
    EXPECT_OK(ROCKSDB_NAMESPACE::raw_wal_fs::AdoptLogs(wal, name, &done));
    return done;
  }
  static void Copy(const std::string& from, const std::string& to) {
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  }
};

}  // namespace rocktier
