// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugin/secondary_cache_2q/chunked_array.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Numbers the SSTs of which a shard holds blocks, and counts these: the number is in each block's
// bookkeeping, and not the SST itself. Not thread-safe.
class SstNumbers {
 public:
  static constexpr uint32_t kMost = (1u << 24) - 1;  // numbers, from 1 on

  SstNumbers() : buckets_(1) {}

  // Counts one more block of this SST. Returns the SST's number; 0, which is none, for file 0, and
  // when there are no more numbers.
  uint32_t AddBlock(uint64_t file) {
    if (file == 0) {
      return 0;
    }
    uint32_t number = Find(file);
    if (number == 0) {
      number = Make(file);
    }
    if (number != 0) {
      ssts_[number - 1].blocks++;
    }
    return number;
  }

  // Counts one less. The number is free when there is none left.
  void DropBlock(uint32_t number) {
    if (number != 0 && --ssts_[number - 1].blocks == 0) {
      Forget(number);
    }
  }

  // The SST's number, or 0.
  uint32_t Find(uint64_t file) const {
    uint32_t number = buckets_[BucketOf(file)];
    while (number != 0 && ssts_[number - 1].file != file) {
      number = ssts_[number - 1].next;
    }
    return number;
  }
  uint32_t Blocks(uint32_t number) const { return number == 0 ? 0 : ssts_[number - 1].blocks; }

  size_t MemoryUsage() const {
    return ssts_.MemoryUsage() + buckets_.capacity() * sizeof(uint32_t);
  }

 private:
  struct Sst {
    uint64_t file = 0;
    uint32_t blocks = 0;
    uint32_t next = 0;  // number, in the chain of a bucket or of those that are free
  };

  size_t BucketOf(uint64_t file) const {
    return (file * 0x9E3779B97F4A7C15u >> 32) & (buckets_.size() - 1);
  }

  uint32_t Make(uint64_t file) {
    uint32_t number = free_;
    if (number != 0) {
      free_ = ssts_[number - 1].next;
    } else if (ssts_.size() < kMost) {
      ssts_.Resize(ssts_.size() + 1);
      number = static_cast<uint32_t>(ssts_.size());
    } else {
      return 0;
    }
    if (++size_ > buckets_.size()) {
      Grow();
    }
    uint32_t& head = buckets_[BucketOf(file)];
    ssts_[number - 1] = {file, 0, head};
    head = number;
    return number;
  }

  void Forget(uint32_t number) {
    uint32_t* link = &buckets_[BucketOf(ssts_[number - 1].file)];
    while (*link != number) {
      link = &ssts_[*link - 1].next;
    }
    *link = ssts_[number - 1].next;
    ssts_[number - 1] = {0, 0, free_};
    free_ = number;
    size_--;
  }

  void Grow() {
    std::vector<uint32_t> old(buckets_.size() * 2);
    old.swap(buckets_);
    for (uint32_t number : old) {
      while (number != 0) {
        Sst& sst = ssts_[number - 1];
        const uint32_t next = sst.next;
        uint32_t& head = buckets_[BucketOf(sst.file)];
        sst.next = head;
        head = number;
        number = next;
      }
    }
  }

  ChunkedArray<Sst> ssts_;         // by number, less 1
  std::vector<uint32_t> buckets_;  // the first number of each chain; 2^n of them
  uint32_t free_ = 0;
  size_t size_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
