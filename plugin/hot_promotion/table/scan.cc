// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/table/scan.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

void ScanRecorder::Record() {
  if (left_ == 0 || !target_->Valid()) {
    return;
  }
  left_--;
  const Slice key = target_->key();
  if (ExtractValueType(key) != kTypeValue) {
    return;
  }
  engine_->Access(space_, ExtractUserKey(key), value_size_);
  engine_->counters()->Add(Counter::scanned);
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
