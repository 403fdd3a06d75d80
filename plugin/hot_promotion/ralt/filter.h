// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/slice.h"
#include "util/bloom_impl.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Filter: a bloom filter of RocksDB's cache-local kind with 20 bits a key, which answers yes for
// about one of 10,000 keys that it does not have. The bits are a multiple of 64 bytes; none: no
// key.
class Filter {
 public:
  explicit Filter(const Slice& bits) : bits_(bits) {}

  bool MayHave(uint64_t hash) const {
    return !bits_.empty() && FastLocalBloomImpl::HashMayMatch(
                                 static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32),
                                 static_cast<uint32_t>(bits_.size()), kProbes, bits_.data());
  }

  static bool Sound(const Slice& bits) { return bits.size() % kLine == 0; }

  static std::string Make(const std::vector<uint64_t>& hashes) {
    std::string bits((hashes.size() * kBits / 8 + kLine - 1) / kLine * kLine, '\0');
    for (const uint64_t hash : hashes) {
      FastLocalBloomImpl::AddHash(static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32),
                                  static_cast<uint32_t>(bits.size()), kProbes, &bits[0]);
    }
    return bits;
  }

 private:
  static constexpr size_t kBits = 20;
  static constexpr int kProbes = 11;  // what RocksDB takes for 20 bits
  static constexpr size_t kLine = 64;

  Slice bits_;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
