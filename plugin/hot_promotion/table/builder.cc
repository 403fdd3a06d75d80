// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/table/builder.h"

#include "plugin/hot_promotion/store/identity.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

Status HotBuilder::Finish() {
  Status s = target_->Finish();
  if (!s.ok() || path_.empty()) {
    return s;
  }
  const FileId file = FileIdOf(target_->GetTableProperties());
  if (file != kNullUniqueId64x2) {
    engine_->catalog()->Add(file, space_, path_, *lease_);
    hot_records_->Publish(file);
  }
  return s;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
