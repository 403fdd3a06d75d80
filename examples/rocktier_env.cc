// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier_env OPTIONS_FILE DB: a database on all that the `env` of an OPTIONS file names.
//
// DB is created; what an earlier run has left there is deleted. A folder with other files in it is
// refused. The program has nothing of a plugin in it: it reads the file, writes, closes the
// database, reads the file again, and finds all records. It prints what the FileSystem has to say.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "own_folder.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/version.h"

namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::DestroyDB;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::LoadOptionsFromFile;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

constexpr int kRecords = 20000;

std::string Key(int i) { return "key" + std::to_string(1000000 + i); }
std::string Value(int i) { return std::string(static_cast<size_t>(i % 300), 'v') + Key(i); }

Status Load(const std::string& path, Options* options) {
  ConfigOptions config;
  config.ignore_unsupported_options = false;  // or a misspelt env would be Env::Default()
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  Status s = LoadOptionsFromFile(config, path, &db_options, &families);
  if (s.ok()) {
    *options = Options(db_options, families[0].options);
  }
  if (s.ok() && options->env == Env::Default()) {
    s = Status::InvalidArgument(path, "names no env");
  }
  return s;
}

Status Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
#if ROCKSDB_MAJOR >= 11
  return DB::Open(options, path, db);
#else
  DB* raw = nullptr;
  Status s = DB::Open(options, path, &raw);
  db->reset(raw);
  return s;
#endif
}

Status Write(DB* db) {
  Status s;
  for (int i = 0; s.ok() && i < kRecords; i++) {
    s = db->Put(WriteOptions(), Key(i), Value(i));
  }
  return s.ok() ? db->SyncWAL() : s;
}

Status Verify(DB* db) {
  Status s;
  std::string value;
  for (int i = 0; s.ok() && i < kRecords; i++) {
    s = db->Get(ReadOptions(), Key(i), &value);
    if (s.ok() && value != Value(i)) {
      s = Status::Corruption("wrong value of", Key(i));
    }
  }
  return s;
}

Status Run(const std::string& file, const std::string& path) {
  Options options;
  Status s = Load(file, &options);
  if (s.ok()) {
    s = DestroyDB(path, options);
  }
  std::unique_ptr<DB> db;
  if (s.ok()) {
    s = Open(options, path, &db);
  }
  if (s.ok()) {
    s = Write(db.get());
  }
  db.reset();
  Options again;
  if (s.ok()) {
    s = Load(file, &again);
  }
  if (s.ok()) {
    s = Open(again, path, &db);
  }
  if (s.ok()) {
    s = Verify(db.get());
  }
  if (s.ok()) {
    const bool same = options.env->GetFileSystem() == again.env->GetFileSystem();
    std::printf("%d records written and found again\n%s, %s\n%s", kRecords,
                again.env->GetFileSystem()->Name(), same ? "the same twice" : "another one",
                again.env->GetFileSystem()->GetPrintableOptions().c_str());
  }
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: %s OPTIONS_FILE DB\n"
                 "What an earlier run has left in DB is deleted.\n",
                 argv[0]);
    return 2;
  }
  if (!rocktier_example::OwnFolder(argv[2])) {
    return 2;
  }
  const Status s = Run(argv[1], argv[2]);
  if (!s.ok()) {
    std::fprintf(stderr, "%s\n", s.ToString().c_str());
    return 1;
  }
  return 0;
}
