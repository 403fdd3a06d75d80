// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Index blocks for tests, made as RocksDB makes them.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plugin/secondary_cache_2q/sst_index.h"
#include "table/block_based/block_builder.h"
#include "table/format.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

inline SstIndex::Form IndexBlockForm() {
  SstIndex::Form form;
  form.user_keys = true;
  return form;
}

// Of blocks that follow each other: separator and bytes.
inline std::string IndexBlock(const std::vector<std::pair<std::string, uint64_t>>& blocks) {
  BlockBuilder builder(/*block_restart_interval=*/2);
  uint64_t offset = 0;
  for (const auto& [separator, bytes] : blocks) {
    std::string value;
    BlockHandle(offset, bytes).EncodeTo(&value);
    builder.Add(separator, value);
    offset += bytes + 5;  // the trailer
  }
  return builder.Finish().ToString();
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
