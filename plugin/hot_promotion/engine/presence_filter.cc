// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/presence_filter.h"

#include <algorithm>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

PresenceFilter::PresenceFilter(uint64_t bytes)
    : lines_(std::max<size_t>(16, bytes / sizeof(Line))), table_(new Line[lines_]) {}

bool PresenceFilter::Replace(Line* line, Word from, Word to) {
  for (std::atomic<Word>& word : line->words) {
    // The flag is no place.
    const Word flag = &word == &line->words[0] ? 0xff : 0;
    Word before = word.load(std::memory_order_relaxed);
    for (;;) {
      const Word found = Zeros((before ^ (from * kOnes)) | flag);
      if (found == 0) {
        break;
      }
      const Word lowest = (found & -found) >> 7;
      if (word.compare_exchange_weak(before, (before & ~(lowest * 0xff)) | lowest * to,
                                     std::memory_order_relaxed)) {
        return true;
      }
    }
  }
  return false;
}

void PresenceFilter::Add(uint64_t hash) {
  Line& line = LineOf(hash);
  if (!Replace(&line, 0, MarkOf(hash)) &&
      (line.words[0].fetch_or(kFull, std::memory_order_relaxed) & kFull) == 0) {
    full_.fetch_add(1, std::memory_order_relaxed);
  }
}

void PresenceFilter::Remove(uint64_t hash) { Replace(&LineOf(hash), MarkOf(hash), 0); }

void PresenceFilter::Clear() {
  for (size_t i = 0; i < lines_; i++) {
    for (std::atomic<Word>& word : table_[i].words) {
      word.store(0, std::memory_order_relaxed);
    }
  }
  full_.store(0, std::memory_order_relaxed);
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
