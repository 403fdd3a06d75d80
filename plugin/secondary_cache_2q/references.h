// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// References to blocks that are not held, of which the oldest roll over: A1, say. A reference is
// the tag of a key (see Index) and whether it is of a victim.
//
// Many short FIFOs, the lines. The tag tells which one a reference belongs to. So a reference needs
// 4 bytes and no index, and to look for one touches one line of the CPU's cache. A reference rolls
// over when about as many were pushed as there is room for; up to 16 of them do so in exact order.
// One that is taken out leaves a place that still takes room until it rolls over. Not thread-safe.
class References {
 public:
  static constexpr size_t kWays = 16;  // places of a line
  static constexpr size_t kBytes = 4;  // of a place

  // Adds a reference as the newest one. It is not there a second time.
  void Push(uint32_t tag, bool victim);

  // Whether the reference is there; then of what kind, and about how many were pushed since.
  bool Find(uint32_t tag, bool* victim, uint64_t* age) const;
  bool Has(uint32_t tag) const;
  void Erase(uint32_t tag);

  // Makes room for about so many; the oldest go if there are more. With more than 16 a change by
  // less than an eighth does nothing, nor do changes that follow each other too fast, unless `now`.
  void SetCapacity(size_t capacity, bool now);

  size_t size() const { return size_; }
  size_t MemoryUsage() const { return lines_.capacity() * sizeof(Line); }
  void Prefetch(uint32_t tag) const {
    if (!lines_.empty()) {
      __builtin_prefetch(&lines_[LineOf(tag)]);
    }
  }

  // Appends what there is, to `to`; with more than `most` references only the newest of each line.
  void Save(size_t most, std::string* to) const;
  // Takes what Save() wrote from the front of `from`, in the place of all references. False, with
  // nothing changed, if it is damaged or of more than `most`.
  bool Restore(size_t most, Slice* from);

 private:
  struct alignas(64) Line {
    uint32_t places[kWays];  // the newest first: see Word()
  };

  // The tag without its lowest bit, in the place of which is whether it is of a victim. 0: none.
  static uint32_t Word(uint32_t tag) { return tag < 2 ? 2 : tag & ~1u; }
  size_t LineOf(uint32_t tag) const {
    return static_cast<size_t>((uint64_t{Word(tag)} * lines_.size()) >> 32);
  }
  const uint32_t* PlaceOf(uint32_t tag) const;
  void Insert(Line* line, uint32_t word);
  void Rebuild(size_t capacity);

  std::vector<Line> lines_;
  size_t depth_ = 0;     // places that are used of each line
  size_t capacity_ = 0;  // that the table was built for
  size_t pushes_ = 0;    // since then
  size_t size_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
