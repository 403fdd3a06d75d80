// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Returns how many of the newest runs are to be merged into one; 0: none. `sizes` are the runs'
// bytes, the newest first.
//
// A run is left alone while it is kRatio times as large as all newer ones together. So there are
// few runs, the older ones have most of the records, and few records are in two. Up to kYoung runs
// are not worth a merge.
inline size_t PickMerge(const std::vector<uint64_t>& sizes) {
  constexpr uint64_t kRatio = 8;
  constexpr size_t kYoung = 3;
  if (sizes.size() <= kYoung) {
    return 0;
  }
  size_t merge = 0;
  uint64_t newer = sizes[0];
  for (size_t i = 1; i < sizes.size(); ++i) {
    if (sizes[i] < kRatio * newer) {
      merge = i + 1;
    }
    newer += sizes[i];
  }
  return merge;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
