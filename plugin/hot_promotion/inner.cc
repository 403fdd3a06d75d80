// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/inner.h"

#include <set>
#include <unordered_set>

#include "rocksdb/convenience.h"
#include "table/block_based/block_based_table_factory.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

using OptionMap = std::unordered_map<std::string, std::string>;

Status Invalid(const std::string& id, const std::string& reason) {
  return Status::InvalidArgument("HotPromotionTable: table=" + id, reason);
}

// The names of options that the factory has and a BlockBasedTable has not, in order.
std::set<std::string> OwnOptions(const ConfigOptions& config, const TableFactory& factory) {
  std::unordered_set<std::string> names;
  std::unordered_set<std::string> stock;
  factory.GetOptionNames(config, &names).PermitUncheckedError();
  BlockBasedTableFactory().GetOptionNames(config, &stock).PermitUncheckedError();
  std::set<std::string> own;
  for (const std::string& name : names) {
    if (stock.count(name) == 0) {
      own.insert(name);
    }
  }
  return own;
}

Status Serialize(const ConfigOptions& config, const std::string& /*name*/, const void* address,
                 std::string* value) {
  const auto& inner = *static_cast<const std::shared_ptr<TableFactory>*>(address);
  value->clear();
  if (inner == nullptr) {
    return Status::OK();
  }
  std::string options;
  for (const std::string& name : OwnOptions(config, *inner)) {
    std::string option;
    const Status s = inner->GetOption(config, name, &option);
    if (!s.ok()) {
      return s;
    }
    options += ";" + name + "=" + option;
  }
  *value = options.empty() ? inner->GetId() : "{id=" + inner->GetId() + options + "}";
  return Status::OK();
}

// HotPromotionTable makes the factory itself, as it needs its own options for that.
Status Parse(const ConfigOptions& /*config*/, const std::string& name, const std::string& /*value*/,
             void* /*address*/) {
  return Status::NotSupported("HotPromotionTable: " + name);
}

}  // namespace

const std::unordered_map<std::string, OptionTypeInfo>& InnerTypes() {
  static const std::unordered_map<std::string, OptionTypeInfo> types = {
      {kInnerOption, OptionTypeInfo(0, OptionType::kCustomizable, OptionVerificationType::kByName,
                                    OptionTypeFlags::kShared | OptionTypeFlags::kAllowNull, Parse,
                                    Serialize, {})},
  };
  return types;
}

Status ValidateInner(const TableFactory& inner) {
  for (const Customizable* part = &inner; part != nullptr; part = part->Inner()) {
    if (part->IsInstanceOf(kTableName)) {
      return Invalid(inner.GetId(), "cannot be a HotPromotionTable, nor have one in it");
    }
  }
  return inner.IsInstanceOf(TableFactory::kBlockBasedTableName()) &&
                 inner.GetOptions<BlockBasedTableOptions>() != nullptr
             ? Status::OK()
             : Invalid(inner.GetId(), "is not derived from BlockBasedTable");
}

Status NewInner(const ConfigOptions& config, const std::string& text,
                const BlockBasedTableOptions& defaults, std::shared_ptr<TableFactory>* result) {
  std::string id;
  OptionMap options;
  Status s = Customizable::GetOptionsMap(config, /*customizable=*/nullptr, text, &id, &options);
  if (s.ok() && id.empty()) {
    result->reset();
    return s;
  }
  ConfigOptions strict = config;
  strict.ignore_unsupported_options = false;
  std::shared_ptr<TableFactory> inner;
  if (s.ok()) {
    s = TableFactory::CreateFromString(strict, id, &inner);
  }
  if (!s.ok() || inner == nullptr) {
    return Invalid(id, "no table factory of this name is in this program");
  }
  s = ValidateInner(*inner);
  if (s.ok()) {
    *BlockBasedOf(inner.get()) = defaults;
    s = inner->ConfigureFromMap(config, options);
    s = s.ok() ? s : Invalid(id, s.ToString());
  }
  if (s.ok()) {
    *result = std::move(inner);
  }
  return s;
}

Status RefuseTwoValues(const std::string& text, const OptionMap& beside) {
  std::string id;
  OptionMap options;
  Status s = Customizable::GetOptionsMap(ConfigOptions(), nullptr, text, &id, &options);
  for (const auto& [name, value] : options) {
    const auto it = beside.find(name);
    if (s.ok() && it != beside.end() && it->second != value) {
      s = Invalid(id, name + " is given in it and beside it, with two values");
    }
  }
  return s;
}

bool SameBlockBased(const BlockBasedTableOptions& a, const BlockBasedTableOptions& b) {
  ConfigOptions exact;
  exact.sanity_level = ConfigOptions::kSanityLevelExactMatch;
  std::string mismatch;
  const BlockBasedTableFactory other(b);
  return a.block_cache == b.block_cache &&
         BlockBasedTableFactory(a).AreEquivalent(exact, &other, &mismatch);
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
