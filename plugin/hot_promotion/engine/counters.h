// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <array>
#include <atomic>

#include "plugin/hot_promotion/hot_promotion.h"
#include "util/core_local.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

enum class Counter : size_t {
#define X(name, type, unit, description) name,
  HOT_PROMOTION_STATS(X)
#undef X
      kCount
};

// Counts what threads do; one set for each core, as reads of many threads do. Thread-safe.
class Counters {
 public:
  void Add(Counter counter, uint64_t value = 1) {
    sets_.Access()->values[static_cast<size_t>(counter)].fetch_add(value,
                                                                   std::memory_order_relaxed);
  }

  uint64_t Sum(Counter counter) const {
    uint64_t sum = 0;
    for (size_t i = 0; i < sets_.Size(); i++) {
      sum += sets_.AccessAtCore(i)->values[static_cast<size_t>(counter)].load(
          std::memory_order_relaxed);
    }
    return sum;
  }

 private:
  struct alignas(64) Set {
    std::array<std::atomic<uint64_t>, static_cast<size_t>(Counter::kCount)> values{};
  };
  CoreLocalArray<Set> sets_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
