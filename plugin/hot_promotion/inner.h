// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The option `table`: the table factory that HotPromotionTable stands in front of.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "rocksdb/table.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

constexpr char kTableName[] = "HotPromotionTable";
constexpr char kInnerOption[] = "table";

// The type of the option, for RegisterOptions() with a shared_ptr<TableFactory>. What is written of
// a factory is its name, with those of its options that a BlockBasedTable has not: the others are
// written as HotPromotionTable's own. Nothing is written where there is none.
const std::unordered_map<std::string, OptionTypeInfo>& InnerTypes();

// The options of block-based tables that a factory uses.
inline BlockBasedTableOptions* BlockBasedOf(TableFactory* factory) {
  return factory->GetOptions<BlockBasedTableOptions>();
}

// Makes the factory that `text` names: "BlobHybridTable" or "{id=BlobHybridTable;block_size=8K}".
// What the text does not say is as in `defaults`. Null if the text is empty or "nullptr".
// InvalidArgument: there is no such factory, or none that can be used.
Status NewInner(const ConfigOptions& config, const std::string& text,
                const BlockBasedTableOptions& defaults, std::shared_ptr<TableFactory>* result);

// Refuses a factory that is not derived from BlockBasedTable, and one with a HotPromotionTable.
Status ValidateInner(const TableFactory& inner);

// Refuses an option that is in the text of `table` and among the options beside it, with another
// value.
Status RefuseTwoValues(const std::string& text,
                       const std::unordered_map<std::string, std::string>& beside);

// Tells whether two sets of options of block-based tables are equal, and have the same cache.
bool SameBlockBased(const BlockBasedTableOptions& a, const BlockBasedTableOptions& b);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
