// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/references.h"

#include <algorithm>
#include <cstring>

#include "plugin/secondary_cache_2q/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Looks at all places, which the compiler does with a few instructions. Those that are not used are
// 0.
const uint32_t* References::PlaceOf(uint32_t tag) const {
  if (size_ == 0) {
    return nullptr;
  }
  const uint32_t* const places = lines_[LineOf(tag)].places;
  const uint32_t word = Word(tag);
  uint32_t found = 0;
  for (uint32_t place = 0; place < kWays; place++) {
    found |= uint32_t{(places[place] & ~1u) == word} << place;
  }
  return found != 0 ? places + __builtin_ctz(found) : nullptr;
}

bool References::Has(uint32_t tag) const { return PlaceOf(tag) != nullptr; }

bool References::Find(uint32_t tag, bool* victim, uint64_t* age) const {
  const uint32_t* const place = PlaceOf(tag);
  if (place == nullptr) {
    return false;
  }
  *victim = (*place & 1) != 0;
  *age = static_cast<uint64_t>(place - lines_[LineOf(tag)].places) * lines_.size();
  return true;
}

void References::Erase(uint32_t tag) {
  const uint32_t* const place = PlaceOf(tag);
  if (place != nullptr) {
    Line& line = lines_[LineOf(tag)];
    line.places[place - line.places] = 0;
    size_--;
  }
}

void References::Insert(Line* line, uint32_t word) {
  size_ -= line->places[depth_ - 1] != 0 ? 1 : 0;
  memmove(line->places + 1, line->places, (depth_ - 1) * sizeof(uint32_t));
  line->places[0] = word;
  size_++;
}

void References::Push(uint32_t tag, bool victim) {
  if (depth_ > 0) {
    Erase(tag);
    Insert(&lines_[LineOf(tag)], Word(tag) | (victim ? 1 : 0));
    pushes_++;
  }
}

void References::SetCapacity(size_t capacity, bool now) {
  const size_t change = capacity > capacity_ ? capacity - capacity_ : capacity_ - capacity;
  const bool exact = capacity <= kWays && capacity_ <= kWays;
  if (change == 0 || (!now && !exact && (change < capacity_ / 8 || pushes_ < capacity_ / 8))) {
    return;
  }
  Rebuild(capacity);
}

// Takes the oldest of all lines first, so that what was pushed last is what remains.
void References::Rebuild(size_t capacity) {
  const size_t lines = (capacity + kWays - 1) / kWays;
  std::vector<Line> old(lines);
  old.swap(lines_);
  const size_t old_depth = depth_;
  depth_ = lines > 0 ? capacity / lines : 0;
  capacity_ = capacity;
  pushes_ = 0;
  size_ = 0;
  for (size_t place = depth_ > 0 ? old_depth : 0; place-- > 0;) {
    for (const Line& line : old) {
      if (line.places[place] != 0) {
        Insert(&lines_[LineOf(line.places[place])], line.places[place]);
      }
    }
  }
}

void References::Save(size_t most, std::string* to) const {
  const size_t lines = std::min(lines_.size(), most);
  const size_t depth = lines == lines_.size() && lines > 0 ? std::min(depth_, most / lines) : 0;
  PutFixed32(to, static_cast<uint32_t>(depth > 0 ? lines : 0));
  PutFixed32(to, static_cast<uint32_t>(depth));
  for (const Line& line : lines_) {
    for (size_t place = 0; place < depth; place++) {
      PutFixed32(to, line.places[place]);
    }
  }
}

bool References::Restore(size_t most, Slice* from) {
  if (from->size() < 8) {
    return false;
  }
  const size_t lines = DecodeFixed32(from->data());
  const size_t depth = DecodeFixed32(from->data() + 4);
  if (depth > kWays || (depth == 0) != (lines == 0) || lines * depth > most ||
      from->size() - 8 < lines * depth * kBytes) {
    return false;
  }
  from->remove_prefix(8);
  lines_.assign(lines, Line());
  depth_ = depth;
  capacity_ = lines * depth;
  pushes_ = 0;
  size_ = 0;
  for (Line& line : lines_) {
    for (size_t place = 0; place < depth; place++, from->remove_prefix(kBytes)) {
      line.places[place] = DecodeFixed32(from->data());
      size_ += line.places[place] != 0 ? 1 : 0;
    }
  }
  return true;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
