// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// hot_promotion FOLDER: a database whose last levels are in a slow folder, with its hot records in
// a fast one.
//
// FOLDER is created; what an earlier run has left in it is deleted. A folder with other files in it
// is refused. The program writes records, compacts them to FOLDER/slow, reads some of them often,
// checks every answer, and prints the statistics; then it opens the database again and shows that
// the hot records are still served from their copies.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>

#include "own_folder.h"
// Installed with RocksDB: "rocksdb/plugin/hot_promotion/hot_promotion.h".
#include "plugin/hot_promotion/hot_promotion.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"

namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DestroyDB;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;
using ROCKSDB_NAMESPACE::hot_promotion::ClearHotStore;
using ROCKSDB_NAMESPACE::hot_promotion::GetHotPromotionStats;
using ROCKSDB_NAMESPACE::hot_promotion::HotPromotionOptions;
using ROCKSDB_NAMESPACE::hot_promotion::HotPromotionStats;
using ROCKSDB_NAMESPACE::hot_promotion::NewHotPromotionTableFactory;
using ROCKSDB_NAMESPACE::hot_promotion::SettleHotPromotion;

constexpr int kRecords = 20000;
constexpr int kHotRecords = 1000;

std::string Key(int i) { return "key" + std::to_string(1000000 + i); }

std::string Value(int i) {
  std::mt19937 random(static_cast<uint32_t>(i));
  std::string value(400, '\0');
  for (char& c : value) {
    c = static_cast<char>('a' + random() % 26);
  }
  return value;
}

// The upper levels in FOLDER/fast, as long as they have less than 1 MB, the others in FOLDER/slow.
Status DatabaseOptions(const std::string& folder, Options* options) {
  options->create_if_missing = true;
  options->db_paths = {{folder + "/fast", 1 << 20}, {folder + "/slow", 1 << 30}};
  HotPromotionOptions hot;
  hot.path = folder + "/hot";
  hot.budget = 8 << 20;
  hot.slow = folder + "/slow";
  hot.slow_read_micros = 0;  // so little data is in the page cache; elsewhere leave this out
  return NewHotPromotionTableFactory(hot, BlockBasedTableOptions(), &options->table_factory);
}

Status Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
#if ROCKSDB_MAJOR < 11
  DB* opened = nullptr;
  Status s = DB::Open(options, path, &opened);
  db->reset(opened);
  return s;
#else
  return DB::Open(options, path, db);
#endif
}

Status Write(DB* db) {
  Status s;
  for (int i = 0; s.ok() && i < kRecords; i++) {
    s = db->Put(WriteOptions(), Key(i), Value(i));
  }
  CompactRangeOptions to_slow;
  to_slow.change_level = true;
  to_slow.target_path_id = 1;
  return s.ok() ? db->CompactRange(to_slow, nullptr, nullptr) : s;
}

Status ReadHot(DB* db) {
  Status s;
  std::string value;
  for (int i = 0; s.ok() && i < kHotRecords; i++) {
    s = db->Get(ReadOptions(), Key(i), &value);
    if (s.ok() && value != Value(i)) {
      s = Status::Corruption(Key(i), "has another value than the one written");
    }
  }
  return s;
}

Status Run(const std::string& folder, bool fill) {
  Options options;
  Status s = DatabaseOptions(folder, &options);
  std::unique_ptr<DB> db;
  if (s.ok()) {
    s = Open(options, folder + "/db", &db);
  }
  if (s.ok() && fill) {
    s = Write(db.get());
  }
  // What is read the second time is promoted, in the background. To show it, it is waited for.
  for (int turn = 0; s.ok() && turn < (fill ? 3 : 1); turn++) {
    s = ReadHot(db.get());
    if (s.ok()) {
      s = SettleHotPromotion(options.table_factory.get());
    }
  }
  HotPromotionStats stats;
  if (s.ok()) {
    s = GetHotPromotionStats(options.table_factory.get(), &stats);
  }
  if (s.ok()) {
    printf("%s\n%s\n", fill ? "filled and read" : "opened again and read",
           stats.ToString().c_str());
    if (stats.served_store < kHotRecords) {
      s = Status::Aborted("hot_promotion did not do what this example is to show");
    }
  }
  const Status closed = db == nullptr ? Status::OK() : db->Close();
  return s.ok() ? closed : s;
}

Status RunAll(const std::string& folder) {
  Status s = Env::Default()->CreateDirIfMissing(folder);
  Options options;
  if (s.ok()) {
    s = DatabaseOptions(folder, &options);
  }
  if (s.ok()) {
    s = DestroyDB(folder + "/db", options);
  }
  if (s.ok()) {
    s = ClearHotStore(folder + "/hot");
    s = s.IsNotFound() ? Status::OK() : s;
  }
  for (const bool fill : {true, false}) {
    if (s.ok()) {
      s = Run(folder, fill);
    }
  }
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr,
            "Usage: %s FOLDER\n"
            "What an earlier run has left in FOLDER is deleted.\n",
            argv[0]);
    return 2;
  }
  if (!rocktier_example::OwnFolder(argv[1])) {
    return 2;
  }
  const Status s = RunAll(argv[1]);
  if (!s.ok()) {
    fprintf(stderr, "%s\n", s.ToString().c_str());
    return 1;
  }
  return 0;
}
