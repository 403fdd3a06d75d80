// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Linked into a RocksDB test with --wrap, and with the environment variable ROCKTIER_TABLE_FACTORY,
// puts a table factory of ours in the place of each BlockBasedTable that the test makes, and of the
// default one; and sets other options by default that it needs. A run in which it did nothing
// fails.

#include "test/upstream/default_table.h"

#include <cstdio>
#include <cstdlib>

#include "gtest/gtest.h"
#include "rocksdb/options.h"

namespace ROCKSDB_NAMESPACE {

std::map<std::string, DefaultTable>& DefaultTables() {
  static std::map<std::string, DefaultTable> tables;
  return tables;
}

namespace {

// Null: RocksDB's own is wanted.
const DefaultTable* Wanted() {
  static const DefaultTable* const wanted = []() -> const DefaultTable* {
    const char* name = getenv("ROCKTIER_TABLE_FACTORY");
    if (name == nullptr) {
      return nullptr;
    }
    const auto it = DefaultTables().find(name);
    if (it == DefaultTables().end()) {
      fprintf(stderr, "ROCKTIER_TABLE_FACTORY=%s: there is none\n", name);
      abort();
    }
    return &it->second;
  }();
  return wanted;
}

class DidSomething : public testing::Environment {
 public:
  void TearDown() override {
    if (Wanted() != nullptr) {
      const std::string shown = Wanted()->shown();
      printf("%s\n", shown.c_str());
      EXPECT_NE("", shown);
    }
  }
};

const testing::Environment* const environment = testing::AddGlobalTestEnvironment(new DidSomething);

}  // namespace

// The linker's --wrap=SYMBOL sends the callers of SYMBOL to __wrap_SYMBOL, and those of
// __real_SYMBOL to SYMBOL. These are NewBlockBasedTableFactory() and both variants of the default
// constructors of ColumnFamilyOptions and DBOptions, whose `this` is passed as a first argument is.
#define NEW "_ZN7rocksdb25NewBlockBasedTableFactoryERKNS_22BlockBasedTableOptionsE"
#define FAMILY "_ZN7rocksdb19ColumnFamilyOptionsC1Ev"
#define FAMILY_BASE "_ZN7rocksdb19ColumnFamilyOptionsC2Ev"
#define DB_WHOLE "_ZN7rocksdb9DBOptionsC1Ev"
#define DB_BASE "_ZN7rocksdb9DBOptionsC2Ev"
TableFactory* RealNew(const BlockBasedTableOptions& options) __asm__("__real_" NEW);
TableFactory* WrapNew(const BlockBasedTableOptions& options) __asm__("__wrap_" NEW);
void RealFamily(ColumnFamilyOptions* options) __asm__("__real_" FAMILY);
void WrapFamily(ColumnFamilyOptions* options) __asm__("__wrap_" FAMILY);
void RealFamilyBase(ColumnFamilyOptions* options) __asm__("__real_" FAMILY_BASE);
void WrapFamilyBase(ColumnFamilyOptions* options) __asm__("__wrap_" FAMILY_BASE);
void RealDb(DBOptions* options) __asm__("__real_" DB_WHOLE);
void WrapDb(DBOptions* options) __asm__("__wrap_" DB_WHOLE);
void RealDbBase(DBOptions* options) __asm__("__real_" DB_BASE);
void WrapDbBase(DBOptions* options) __asm__("__wrap_" DB_BASE);

namespace {

void Set(ColumnFamilyOptions* options) {
  if (Wanted() != nullptr) {
    options->table_factory.reset(Wanted()->make(BlockBasedTableOptions()));
    Wanted()->set_family(options);
  }
}

void Set(DBOptions* options) {
  if (Wanted() != nullptr) {
    Wanted()->set_db(options);
  }
}

}  // namespace

TableFactory* WrapNew(const BlockBasedTableOptions& options) {
  return Wanted() == nullptr ? RealNew(options) : Wanted()->make(options);
}

void WrapFamily(ColumnFamilyOptions* options) {
  RealFamily(options);
  Set(options);
}

void WrapFamilyBase(ColumnFamilyOptions* options) {
  RealFamilyBase(options);
  Set(options);
}

void WrapDb(DBOptions* options) {
  RealDb(options);
  Set(options);
}

void WrapDbBase(DBOptions* options) {
  RealDbBase(options);
  Set(options);
}

}  // namespace ROCKSDB_NAMESPACE
