// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Which data blocks an SST has: where they are, and which keys are in each. As its index says, so
// the bounds of keys are not exact: a separator may be above the last key of its block. Not
// thread-safe.
class SstIndex {
 public:
  // How the entries of an index block are written; the SST's properties tell.
  struct Form {
    bool user_keys = false;  // else internal keys
    bool delta_values = false;
    bool first_keys = false;  // values have the first key of their block, too
  };
  // Where a block is.
  struct Place {
    uint64_t offset = 0;
    uint64_t size = 0;  // bytes, without the trailer
  };

  // One that takes more memory, in bytes, is not read.
  static constexpr uint64_t kMostMemory = 16 << 20;
  // What one is expected to take that has so many bytes in its SST, and names so many blocks.
  static uint64_t ExpectedMemory(uint64_t size, uint64_t blocks) {
    return size + blocks * sizeof(Entry);
  }

  // Adds the data blocks that an index block names. False if it is none, or too large: what was
  // added is useless.
  bool Add(const Slice& index_block, const Form& form);

  // Finds what the top level of an index of two levels names: index blocks.
  static bool ReadTopLevel(const Slice& index_block, const Form& form, std::vector<Place>* places);

  // The first key of the first block.
  void SetFirstKey(const Slice& user_key) { first_key_ = user_key.ToString(); }
  Slice FirstKey() const { return first_key_; }

  size_t size() const { return blocks_.size(); }
  uint64_t Offset(size_t block) const { return blocks_[block].place.offset; }
  uint64_t Bytes(size_t block) const { return blocks_[block].place.size; }
  // A user key. All keys of the block are at most this one, and all of the next are at least.
  Slice Separator(size_t block) const;
  // The keys of the block are above this one. The first key of the SST is not above its own bound.
  Slice Below(size_t block) const { return block == 0 ? FirstKey() : Separator(block - 1); }

  // The block at offset `quarter` * 4, the last two bits aside; size() if there is none.
  size_t Find(uint64_t quarter) const;

  // Gives back memory that was taken to grow.
  void ShrinkToFit();
  size_t MemoryUsage() const;

 private:
  struct Entry {
    Place place;
    uint64_t key_end;  // of its separator, in keys_
  };

  std::string keys_;  // separators, one behind the other
  std::vector<Entry> blocks_;
  std::string first_key_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
