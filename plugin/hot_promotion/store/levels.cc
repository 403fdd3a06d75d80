// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/store/levels.h"

#include <algorithm>
#include <string>

#include "plugin/hot_promotion/store/disk_space.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

// Overlap: bytes of the files of one level that a growing range of keys overlaps.
class Overlap {
 public:
  explicit Overlap(const LevelMetaData& level) : files_(&level.files) {}

  // Begins a range at a key that is above that of the range before.
  void Begin(const Slice& key) {
    bytes_ = 0;
    while (next_ > 0 && key.compare(files_->at(next_ - 1).largestkey) <= 0) {
      next_--;
    }
    while (next_ < files_->size() && key.compare(files_->at(next_).largestkey) > 0) {
      next_++;
    }
    Grow(key);
  }

  // Takes a key into the range.
  void Grow(const Slice& key) {
    for (; next_ < files_->size() && key.compare(files_->at(next_).smallestkey) >= 0; next_++) {
      bytes_ += files_->at(next_).size;
    }
  }

  uint64_t bytes() const { return bytes_; }

 private:
  const std::vector<SstFileMetaData>* files_;
  size_t next_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

Levels::Levels(DB* db, uint64_t batch)
    : batch_(batch), base_(IntProperty(db, DB::Properties::kBaseLevel)) {
  db->GetColumnFamilyMetaData(&family_);
  base_ = std::min<uint64_t>(std::max<uint64_t>(base_, 1), family_.levels.size() - 1);
}

bool Levels::FillsLevel0(uint64_t bytes, uint64_t most) const {
  const LevelMetaData& level0 = family_.levels[0];
  const uint64_t below = family_.levels[base_].size;
  const bool rests = level0.files.size() < kLevel0Trigger && below <= kBaseLevel * batch_;
  return !rests && level0.size + below + bytes > most;
}

// A file goes to level 0 if that or the base level has a key in its range. The ends of files are
// keys that are known. Those that are compacted are about to leave their level.
bool Levels::GoesToLevel0(const Slice& first, const Slice& last) const {
  const auto within = [&](const std::string& key) {
    return first.compare(key) <= 0 && last.compare(key) >= 0;
  };
  for (const uint64_t level : {uint64_t{0}, base_}) {
    for (const SstFileMetaData& file : family_.levels[level].files) {
      if (!file.being_compacted && (within(file.smallestkey) || within(file.largestkey))) {
        return true;
      }
    }
  }
  return false;
}

std::vector<size_t> Levels::Cut(const std::vector<StoreRecord>& records) const {
  if (GoesToLevel0(records.front().key, records.back().key)) {
    return {records.size()};
  }
  std::vector<size_t> ends;
  std::vector<Overlap> overlaps(family_.levels.begin() + static_cast<std::ptrdiff_t>(base_),
                                family_.levels.end());
  for (size_t i = 0; i < records.size(); i++) {
    const Slice& key = records[i].key;
    uint64_t most = 0;
    for (Overlap& overlap : overlaps) {
      i == 0 ? overlap.Begin(key) : overlap.Grow(key);
      most = std::max(most, overlap.bytes());
    }
    if (i > 0 && most > kLargestCompaction * batch_) {
      ends.push_back(i);
      for (Overlap& overlap : overlaps) {
        overlap.Begin(key);
      }
    }
  }
  ends.push_back(records.size());
  return ends;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
