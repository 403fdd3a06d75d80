// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>

#include "plugin/blob_hybrid/names.h"
#include "table/block_based/block_based_table_factory.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// A BlockBasedTableFactory whose tables are RocksDB's own. Its flushes write medium values to blob
// files, too, and its tables tell in their properties what they refer to. The sizes are those of
// the family's BlobHybridFactory. Thread-safe.
class BlobHybridTable : public BlockBasedTableFactory {
 public:
  explicit BlobHybridTable(const BlockBasedTableOptions& options = BlockBasedTableOptions())
      : BlockBasedTableFactory(options) {}

  static const char* kClassName() { return kTableName; }
  const char* Name() const override { return kClassName(); }
  bool IsInstanceOf(const std::string& name) const override;

  TableBuilder* NewTableBuilder(const TableBuilderOptions& options,
                                WritableFileWriter* file) const override;

  std::unique_ptr<TableFactory> Clone() const override {
    return std::make_unique<BlobHybridTable>(*this);
  }
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& family) const override;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
