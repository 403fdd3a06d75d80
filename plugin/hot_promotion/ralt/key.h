// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include "plugin/hot_promotion/ralt/space.h"
#include "rocksdb/slice.h"
#include "util/hash.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Keys of the table: the space, eight bytes, big-endian, and then the record's key. So the records
// of a space are side by side, in the order of their keys.
constexpr size_t kSpaceSize = 8;

inline void EncodeSpace(Space space, char* bytes) {
  for (size_t i = 0; i < kSpaceSize; ++i) {
    bytes[i] = static_cast<char>(space >> (8 * (kSpaceSize - 1 - i)));
  }
}

inline Space SpaceOf(const Slice& key) {
  Space space = 0;
  for (size_t i = 0; i < kSpaceSize; ++i) {
    space = space << 8 | static_cast<uint8_t>(key[i]);
  }
  return space;
}

// Returns what a filter knows of a key.
inline uint64_t HashOf(const Slice& key) { return Hash64(key.data(), key.size(), 0x52414c54); }

// Key: one for a look-up, on the stack if it is short.
class Key {
 public:
  Key(Space space, const Slice& key) : size_(kSpaceSize + key.size()) {
    if (size_ > sizeof(short_)) {
      long_.reset(new char[size_]);
    }
    char* const bytes = long_ ? long_.get() : short_;
    EncodeSpace(space, bytes);
    memcpy(bytes + kSpaceSize, key.data(), key.size());
  }

  Slice slice() const { return Slice(long_ ? long_.get() : short_, size_); }

 private:
  const size_t size_;
  char short_[256];
  std::unique_ptr<char[]> long_;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
