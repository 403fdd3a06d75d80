// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <memory>
#include <string>

#include "plugin/hot_promotion/factory.h"
#include "plugin/hot_promotion/options.h"
#include "rocksdb/utilities/object_registry.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

int Register(ObjectLibrary& library) {
  library.AddFactory<TableFactory>(
      ObjectLibrary::PatternEntry(HotPromotionTable::kClassName()),
      [](const std::string& /*uri*/, std::unique_ptr<TableFactory>* guard, std::string* /*error*/) {
        *guard = std::make_unique<HotPromotionTable>();
        return guard->get();
      });
  size_t types;
  return static_cast<int>(library.GetFactoryCount(&types));
}

}  // namespace

Status NewHotPromotionTableFactory(const HotPromotionOptions& options,
                                   const BlockBasedTableOptions& table_options,
                                   std::shared_ptr<TableFactory>* result) {
  Status s = Validate(options);
  if (s.ok()) {
    *result = std::make_shared<HotPromotionTable>(table_options, options);
  }
  return s;
}

Status NewHotPromotionTableFactory(const HotPromotionOptions& options,
                                   const std::shared_ptr<TableFactory>& table,
                                   std::shared_ptr<TableFactory>* result) {
  Status s = Validate(options);
  if (s.ok()) {
    s = table == nullptr ? Status::InvalidArgument("HotPromotionTable: table", "is null")
                         : ValidateInner(*table);
  }
  if (s.ok()) {
    *result = std::make_shared<HotPromotionTable>(table, options);
  }
  return s;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE

extern "C" int register_hot_promotion(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                      const std::string& /*arg*/) {
  return ROCKSDB_NAMESPACE::hot_promotion::Register(library);
}
