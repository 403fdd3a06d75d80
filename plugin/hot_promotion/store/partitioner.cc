// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/store/partitioner.h"

#include <algorithm>

#include "plugin/hot_promotion/store/format.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

// Returns what all keys of a file have in common: way and SST, if it has retained records, else
// nothing.
Slice Common(const Slice& key) {
  const bool retained = !key.empty() && key[0] == static_cast<char>(Way::kRetained);
  return Slice(key.data(), retained ? std::min(key.size(), 1 + kFileIdSize) : 0);
}

}  // namespace

PartitionerResult RetainedPartitioner::ShouldPartition(const PartitionerRequest& request) {
  return Common(*request.prev_user_key) == Common(*request.current_user_key) ? kNotRequired
                                                                             : kRequired;
}

bool RetainedPartitioner::CanDoTrivialMove(const Slice& smallest_key, const Slice& largest_key) {
  return Common(smallest_key) == Common(largest_key);
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
