// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// mistakes_worker: opens a database as an operator said, does what the lines of its standard input
// say, and answers each with a line. See README.md.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/options_util.h"
#include "test/support/open_db.h"
#include "util/gflags_compat.h"

using GFLAGS_NAMESPACE::ParseCommandLineFlags;

DEFINE_string(db, "", "The database's directory.");
DEFINE_string(fs_uri, "", "The FileSystem.");
DEFINE_string(options_file, "", "Its options.");
DEFINE_string(secondary_cache_uri, "", "A secondary cache, for block-based tables.");
DEFINE_string(first_path, "", "The first of two db_paths, of 100 KB; the second is the database.");
DEFINE_bool(create_if_missing, false, "");

namespace ROCKSDB_NAMESPACE {
namespace {

// Lines are whole, or not there at all: the process may die at any time.
void Say(const std::string& line) {
  const std::string text = line + "\n";
  if (write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    _exit(9);
  }
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    c = c == '\n' ? ' ' : c;
  }
  return text;
}

// A value is its tag again and again.
std::string ValueOf(const std::string& tag, size_t bytes) {
  std::string value;
  while (value.size() < bytes) {
    value += tag;
  }
  value.resize(bytes);
  return value;
}

// What ValueOf() made it from, "tag bytes"; for anything else its bytes.
std::string TagOf(const Slice& value) {
  const std::string text = value.ToString();
  const std::string tag = text.substr(0, text.find('.') + 1);
  return !tag.empty() && ValueOf(tag, text.size()) == text ? tag + " " + std::to_string(text.size())
                                                           : "damaged " + value.ToString(true);
}

class Worker {
 public:
  Status Open() {
    config_.ignore_unknown_options = false;
    if (!FLAGS_fs_uri.empty()) {
      Env* env = nullptr;
      Status s = Env::CreateFromUri(config_, "", FLAGS_fs_uri, &env, &env_);
      if (!s.ok()) {
        return s;
      }
      config_.env = env;
    }
    // The options file is none of the database's: the stock FileSystem reads it.
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    ConfigOptions config;
    Status s = LoadOptionsFromFile(config, FLAGS_options_file, &db_options, &families);
    if (!s.ok()) {
      return s;
    }
    Options options(db_options, families.at(0).options);
    options.env = config_.env;
    options.create_if_missing = FLAGS_create_if_missing;
    if (!FLAGS_first_path.empty()) {
      options.db_paths = {{FLAGS_first_path, 100000}, {FLAGS_db, uint64_t{1} << 40}};
    }
    if (!FLAGS_secondary_cache_uri.empty()) {
      s = UseSecondaryCache(&options);
      if (!s.ok()) {
        return s;
      }
    }
    return OpenDb(options, FLAGS_db, &db_);
  }

  // False: the end.
  bool Do(const std::string& line) {
    std::istringstream words(line);
    std::string what, key, other;
    words >> what >> key;
    Status s;
    if (what == "put") {
      size_t bytes = 0;
      int sync = 0;
      words >> other >> bytes >> sync;
      WriteOptions options;
      options.sync = sync != 0;
      s = db_->Put(options, key, ValueOf(other, bytes));
    } else if (what == "delete") {
      s = db_->Delete(WriteOptions(), key);
    } else if (what == "range") {
      words >> other;
      s = db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), key, other);
    } else if (what == "flush") {
      s = db_->Flush(FlushOptions());
    } else if (what == "compact") {
      s = db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    } else if (what == "wait") {
      s = db_->WaitForCompact(WaitForCompactOptions());
    } else if (what == "get") {
      std::string value;
      s = db_->Get(ReadOptions(), key, &value);
      if (s.IsNotFound()) {
        Say("none");
        return true;
      }
      if (s.ok()) {
        Say("value " + TagOf(value));
        return true;
      }
    } else if (what == "dump") {
      s = Dump();
    } else if (what == "checkpoint") {
      std::unique_ptr<Checkpoint> checkpoint;
      Checkpoint* made = nullptr;
      s = Checkpoint::Create(db_.get(), &made);
      checkpoint.reset(made);
      if (s.ok()) {
        s = checkpoint->CreateCheckpoint(key);
      }
    } else if (what == "die") {
      kill(getpid(), SIGKILL);
    } else if (what == "close") {
      s = db_->Close();
      db_.reset();
      Say(s.ok() ? "ok" : "error " + OneLine(s.ToString()));
      return false;
    } else {
      s = Status::InvalidArgument("no such command", what);
    }
    Say(s.ok() ? "ok" : "error " + OneLine(s.ToString()));
    return true;
  }

 private:
  Status UseSecondaryCache(Options* options) {
    LRUCacheOptions primary;
    primary.capacity = 64 << 10;
    primary.num_shard_bits = 0;
    Status s = SecondaryCache::CreateFromString(config_, FLAGS_secondary_cache_uri,
                                                &primary.secondary_cache);
    auto* const table = options->table_factory->GetOptions<BlockBasedTableOptions>();
    if (s.ok() && table != nullptr) {
      table->block_cache = primary.MakeSharedCache();
    }
    return s;
  }

  // The same in both directions.
  Status Dump() {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    std::vector<std::string> forward;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      forward.push_back(it->key().ToString() + " " + TagOf(it->value()));
    }
    Status s = it->status();
    size_t left = forward.size();
    for (it->SeekToLast(); s.ok() && it->Valid(); it->Prev()) {
      if (left == 0 || forward[--left] != it->key().ToString() + " " + TagOf(it->value())) {
        s = Status::Corruption("backwards there is something else", it->key());
      }
    }
    s.UpdateIfOk(it->status());
    if (s.ok() && left != 0) {
      s = Status::Corruption("backwards there is less");
    }
    for (const std::string& line : forward) {
      Say("= " + line);
    }
    return s;
  }

  ConfigOptions config_;
  std::shared_ptr<Env> env_;
  std::unique_ptr<DB> db_;
};

int Run() {
  Worker worker;
  const Status s = worker.Open();
  Say(s.ok() ? "open" : "refused " + OneLine(s.ToString()));
  if (!s.ok()) {
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    if (!worker.Do(line)) {
      break;
    }
  }
  return 0;
}

}  // namespace
}  // namespace ROCKSDB_NAMESPACE

int main(int argc, char** argv) {
  ParseCommandLineFlags(&argc, &argv, true);
  return ROCKSDB_NAMESPACE::Run();
}
