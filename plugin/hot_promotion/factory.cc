// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/factory.h"

#include "plugin/hot_promotion/options.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

HotPromotionTable::HotPromotionTable(const BlockBasedTableOptions& table_options,
                                     const HotPromotionOptions& options)
    : BlockBasedTableFactory(table_options), options_(options) {
  RegisterOptions(&options_, &OptionTypes());
}

bool HotPromotionTable::IsInstanceOf(const std::string& name) const {
  return name == kBlockBasedTableName() || BlockBasedTableFactory::IsInstanceOf(name);
}

Status HotPromotionTable::ValidateOptions(const DBOptions& db,
                                          const ColumnFamilyOptions& family) const {
  Status s = Validate(options_);
  if (s.ok()) {
    s = BlockBasedTableFactory::ValidateOptions(db, family);
  }
  return s;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
