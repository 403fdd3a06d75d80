// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/listener.h"
#include "rocksdb/options.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Bytes of a small store's MANIFESTs and OPTIONS files, of which there may be two of each for a
// moment. Those of a large store are within the 5% that all files may have beside the budget.
constexpr uint64_t kOtherFiles = 32 << 10;

// RocksDbSettings: what differs from store to store in the options of its RocksDB.
struct RocksDbSettings {
  Env* env = nullptr;
  uint64_t batch = 0;      // bytes: most that one addition has
  int open_files = -1;     // at most; -1: all of them
  bool direct_io = false;  // past the page cache
  std::shared_ptr<CompactionFilterFactory> filter;
  std::shared_ptr<EventListener> space;
};

// Returns the options of a store's RocksDB. Sizes follow the budget, so that the output that a
// compaction adds for a moment is a small part of it. Compactions begin when the store enables
// them.
Options RocksDbOptions(const RocksDbSettings& settings);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
