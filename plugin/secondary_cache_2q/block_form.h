// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The form of RocksDB's uncompressed blocks of data, range deletions and indexes: entries, and
// behind them restart points, at which an entry has all of its key.

#pragma once

#include <cstdint>
#include <string>

#include "plugin/secondary_cache_2q/coding.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Keys of data blocks are internal keys: their last bytes are sequence number and type.
constexpr uint64_t kKeyTrailer = 8;

// The end of a block: what follows its entries.
struct Restarts {
  const char* points = nullptr;  // 32 bits each, right behind the entries
  uint32_t count = 0;
  uint32_t entries = 0;  // bytes
  bool separate_values = false;
  uint32_t keys = 0;  // bytes of the entries that are keys; then come the separate values
  uint32_t Point(uint32_t i) const { return DecodeFixed32(points + i * sizeof(uint32_t)); }
};

// False if the bytes do not end as a block does.
bool FindRestarts(Slice bytes, Restarts* result);

// Takes a number off the beginning of the bytes: seven bits in each byte, the lower ones first, and
// the top bit in all but the last one. False if there is none.
bool TakeNumber(Slice* bytes, uint64_t* number);
// The same for numbers of 32 bits.
bool TakeLength(Slice* bytes, uint32_t* length);

// Goes over the entries of a data block. It takes each step only if all of the entry is there.
class DataBlockEntries {
 public:
  // `bytes` must outlive it.
  explicit DataBlockEntries(const Slice& bytes);

  // Goes to the next entry. False at the end, and if there is none.
  bool Next();
  // Of the entry.
  Slice UserKey() const { return Slice(key_.data(), key_.size() - kKeyTrailer); }
  uint64_t bytes() const { return bytes_; }

 private:
  Slice left_;
  const char* begin_ = nullptr;
  Restarts restarts_;
  uint32_t next_restart_ = 0;
  std::string key_;
  uint64_t bytes_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
