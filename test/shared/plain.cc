// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// plain write|read|destroy DB: a program that knows nothing of plugins, with RocksDB's C API. After
// "write" the database stays open until standard input ends.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "rocksdb/c.h"

namespace {

constexpr int kRecords = 2000;

std::string Key(int i) { return "key" + std::to_string(i); }

std::string Value(int i) { return std::to_string(i) + std::string(1000, 'v'); }

void Check(char* error) {
  if (error != nullptr) {
    fprintf(stderr, "%s\n", error);
    exit(1);
  }
}

// Every other record is flushed, the others are in the log.
void Write(rocksdb_t* db) {
  char* error = nullptr;
  rocksdb_writeoptions_t* const write = rocksdb_writeoptions_create();
  rocksdb_writeoptions_set_sync(write, 1);
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  for (int begin : {0, 1}) {
    for (int i = begin; i < kRecords; i += 2) {
      const std::string key = Key(i);
      const std::string value = Value(i);
      rocksdb_put(db, write, key.data(), key.size(), value.data(), value.size(), &error);
      Check(error);
    }
    if (begin == 0) {
      rocksdb_flush(db, flush, &error);
      Check(error);
    }
  }
  rocksdb_flushoptions_destroy(flush);
  rocksdb_writeoptions_destroy(write);
}

void Read(rocksdb_t* db) {
  rocksdb_readoptions_t* const read = rocksdb_readoptions_create();
  for (int i = 0; i < kRecords; i++) {
    const std::string key = Key(i);
    char* error = nullptr;
    size_t size = 0;
    char* const value = rocksdb_get(db, read, key.data(), key.size(), &size, &error);
    Check(error);
    if (value == nullptr || std::string(value, size) != Value(i)) {
      fprintf(stderr, "%s has another value\n", key.c_str());
      exit(1);
    }
    rocksdb_free(value);
  }
  rocksdb_readoptions_destroy(read);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: plain write|read|destroy DB\n");
    return 2;
  }
  char* error = nullptr;
  rocksdb_options_t* const options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, strcmp(argv[1], "write") == 0);
  if (strcmp(argv[1], "destroy") == 0) {
    rocksdb_destroy_db(options, argv[2], &error);
    Check(error);
  } else {
    rocksdb_t* const db = rocksdb_open(options, argv[2], &error);
    Check(error);
    if (strcmp(argv[1], "write") == 0) {
      Write(db);
    }
    Read(db);
    printf("%d records are there\n", kRecords);
    fflush(stdout);
    if (strcmp(argv[1], "write") == 0) {
      while (getchar() != EOF) {
      }
    }
    rocksdb_close(db);
  }
  rocksdb_options_destroy(options);
  return 0;
}
