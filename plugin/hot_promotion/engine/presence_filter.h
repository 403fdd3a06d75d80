// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rocksdb/rocksdb_namespace.h"
#include "util/fastrange.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Tells which copies there may be, so that reads of records without one need not look for it. Until
// the filter is complete it says yes to all. Each copy has a mark of eight bits in the cache line
// that its hash chooses. A line that has been full says yes to all from then on, so that no copy is
// missed. The number of such lines says whether all copies should be told anew.
//
// Thread-safe, without locks. Add() and Remove() take the hash of a copy's key; each is called once
// when the copy is made or dropped, also while the filter is not complete.
class PresenceFilter {
 public:
  explicit PresenceFilter(uint64_t bytes);

  bool MayHave(uint64_t hash) const;
  void Add(uint64_t hash);
  // A Remove() without an Add() may remove the mark of another copy.
  void Remove(uint64_t hash);

  void Clear();

  // Whether all copies there are were told of.
  bool IsComplete() const { return complete_.load(std::memory_order_acquire); }
  void SetComplete(bool complete) { complete_.store(complete, std::memory_order_release); }

  // Whether a good part of the lines is full, or was.
  bool Crowded() const { return full_.load(std::memory_order_relaxed) > lines_ / 16; }
  // Returns how many copies there may be until it is crowded.
  uint64_t Capacity() const { return lines_ * kComfortable; }

 private:
  using Word = uint64_t;
  static constexpr size_t kWords = 8;
  static constexpr uint64_t kComfortable = 44;  // of the 63 in a line
  struct alignas(64) Line {
    std::array<std::atomic<Word>, kWords> words{};
  };

  // Marks are 2 to 255. 0 is a free place; 1 in the first place: the line was full.
  static constexpr Word kFull = 1;
  static constexpr Word kOnes = 0x0101010101010101;
  static Word MarkOf(uint64_t hash) { return 2 + (hash & 0xffff) % 254; }
  // Returns 0 if no byte of `word` is zero. Else the lowest bit of the result is the highest bit of
  // the lowest such byte.
  static Word Zeros(Word word) { return (word - kOnes) & ~word & (kOnes << 7); }

  Line& LineOf(uint64_t hash) const;
  // Puts `to` into one place that has `from`, if there is one.
  static bool Replace(Line* line, Word from, Word to);

  const size_t lines_;
  const std::unique_ptr<Line[]> table_;
  std::atomic<uint64_t> full_{0};
  std::atomic<bool> complete_{false};
};

inline PresenceFilter::Line& PresenceFilter::LineOf(uint64_t hash) const {
  return table_[FastRange64(hash, lines_)];
}

inline bool PresenceFilter::MayHave(uint64_t hash) const {
  if (!IsComplete()) {
    return true;
  }
  const Line& line = LineOf(hash);
  const Word mark = MarkOf(hash) * kOnes;
  Word found = line.words[0].load(std::memory_order_relaxed) & kFull;
  for (const std::atomic<Word>& word : line.words) {
    found |= Zeros(word.load(std::memory_order_relaxed) ^ mark);
  }
  return found != 0;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
