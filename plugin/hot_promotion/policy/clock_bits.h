// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "util/fastrange.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Remembers which copies of the store have answered a read since they were last looked at. So
// copies that serve are kept, also if the access table does not know them as hot (CLOCK). There is
// a bit for each hash, which some share.
//
// Thread-safe, without locks.
class ClockBits {
 public:
  // `bytes` of memory.
  explicit ClockBits(uint64_t bytes) : words_(std::max<size_t>(16, bytes / sizeof(Word))) {}

  void Mark(uint64_t hash) {
    Word& word = WordOf(hash);
    // Most often the mark is there; then the cache line is only read.
    if ((word.load(std::memory_order_relaxed) & BitOf(hash)) == 0) {
      word.fetch_or(BitOf(hash), std::memory_order_relaxed);
    }
  }

  // Whether there was a mark since the last call.
  bool Take(uint64_t hash) {
    return (WordOf(hash).fetch_and(~BitOf(hash), std::memory_order_relaxed) & BitOf(hash)) != 0;
  }

 private:
  using Word = std::atomic<uint64_t>;

  Word& WordOf(uint64_t hash) { return words_[FastRange64(hash, words_.size())]; }
  static uint64_t BitOf(uint64_t hash) { return uint64_t{1} << (hash & 63); }

  std::vector<Word> words_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
