// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// ROCKTIER_TABLE_FACTORY=BlobHybridTable: with the filter factory and the listener that belong to
// it. Families that a test gives a filter of its own have plain tables. Values go to blob files as
// the test has it, and are moved out of those with garbage.

#include "plugin/blob_hybrid/table.h"

#include <atomic>
#include <string>

#include "plugin/blob_hybrid/factory.h"
#include "test/upstream/default_table.h"

namespace ROCKSDB_NAMESPACE {

namespace {

std::atomic<uint64_t> tables{0};

class TestTable : public blob_hybrid::BlobHybridTable {
 public:
  using BlobHybridTable::BlobHybridTable;

  TableBuilder* NewTableBuilder(const TableBuilderOptions& options,
                                WritableFileWriter* file) const override {
    tables.fetch_add(1, std::memory_order_relaxed);
    return BlobHybridTable::NewTableBuilder(options, file);
  }

  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& family) const override {
    const auto& factory = family.compaction_filter_factory;
    return factory != nullptr && factory->IsInstanceOf(blob_hybrid::BlobHybridFactory::kClassName())
               ? BlobHybridTable::ValidateOptions(db, family)
               : BlockBasedTableFactory::ValidateOptions(db, family);
  }

  std::unique_ptr<TableFactory> Clone() const override {
    return std::make_unique<TestTable>(*this);
  }
};

// RocksDB's tests have options that the plugin refuses, such as BlobDB's own collection, which
// moves values in addition.
class TestFilter : public blob_hybrid::BlobHybridFactory {
 public:
  using BlobHybridFactory::BlobHybridFactory;

  Status ValidateOptions(const DBOptions&, const ColumnFamilyOptions&) const override {
    return Status::OK();
  }
};

std::string Shown() {
  return tables == 0 ? "" : "BlobHybridTable made " + std::to_string(tables) + " SSTs";
}

void SetFamily(ColumnFamilyOptions* options) {
  blob_hybrid::BlobHybridOptions hybrid;
  // Asks for no job, which would compact when the test does not expect it.
  hybrid.max_space_amplification = 0;
  hybrid.gc_garbage_ratio = 0.1;
  options->compaction_filter_factory = std::make_shared<TestFilter>(hybrid);
}

void SetDb(DBOptions* options) {
  options->listeners.push_back(blob_hybrid::NewBlobHybridListener());
}

const bool added =
    DefaultTables()
        .emplace("BlobHybridTable", DefaultTable{[](const BlockBasedTableOptions& options) {
                                                   return new TestTable(options);
                                                 },
                                                 SetFamily, SetDb, Shown})
        .second;

}  // namespace

}  // namespace ROCKSDB_NAMESPACE
