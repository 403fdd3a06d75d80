// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>

#include "plugin/hot_promotion/hot_promotion.h"
#include "table/block_based/block_based_table_factory.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// A BlockBasedTableFactory with options of its own beside those of the base class, so that RocksDB and its users find
// all that they know of block-based tables.
class HotPromotionTable : public BlockBasedTableFactory {
 public:
  explicit HotPromotionTable(
      const BlockBasedTableOptions& table_options = BlockBasedTableOptions(),
      const HotPromotionOptions& options = HotPromotionOptions());

  static const char* kClassName() { return "HotPromotionTable"; }
  const char* Name() const override { return kClassName(); }
  bool IsInstanceOf(const std::string& name) const override;

  std::unique_ptr<TableFactory> Clone() const override {
    return std::make_unique<HotPromotionTable>(*this);
  }
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& family) const override;

 private:
  HotPromotionOptions options_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
