// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "plugin/hot_promotion/ralt/space.h"
#include "rocksdb/slice.h"
#include "util/mutexlock.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Chunk: a part of the buffer, accesses one behind the other.
//
//   size      field
//   varint32  size of the key of the table
//   varint64  size of the record: its key and value
//             the key of the table
struct Chunk {
  std::unique_ptr<char[]> bytes;
  size_t used = 0;
  size_t accesses = 0;
};

// The unsorted buffer of accesses that are not on the disk yet.
//
// The buffer has a fixed number of chunks. Each of a few shards fills one; a full chunk is
// exchanged for a free one. A thread keeps to its shard while no other is in it, so that threads do
// not meet. The owner collects the chunks, writes what they have, and gives them back.
//
// Thread-safe. Add() waits for nothing: it takes a shard's lock only if that is free, and the lock
// of the chunks, under which a few pointers are moved, only once a chunk.
class Buffer {
 public:
  // Records larger than `max_record`, key and value, are not recorded.
  Buffer(size_t bytes, uint64_t max_record);

  // False: there is no room, or it is too large.
  bool Add(Space space, const Slice& key, size_t value_size);

  // Waits until half of the chunks are full, `micros` have passed, or Wake() was called, which
  // counts until Acknowledge().
  void Wait(uint64_t micros);
  void Wake();
  void Acknowledge();

  // Whether Wait() would not wait.
  bool Pressing() const { return pressing_.load(std::memory_order_relaxed); }

  // Takes all chunks that have accesses.
  std::vector<Chunk> Collect();
  // Gives chunks back, empty.
  void Return(std::vector<Chunk> chunks);

  // Accesses that were recorded, and that were not.
  uint64_t added() const;
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  size_t MemoryUsage() const { return chunk_bytes_ * chunks_; }

 private:
  struct alignas(64) Shard {
    SpinMutex mutex;
    Chunk chunk;                     // no bytes: there was none
    std::atomic<uint64_t> added{0};  // written under the mutex
  };

  // Returns a locked shard; null if others are in all that were tried.
  Shard* Enter();
  bool Append(Shard* shard, Space space, const Slice& key, size_t value_size);
  bool Exchange(Shard* shard);
  // Requires mutex_.
  void UpdatePressing();

  const uint64_t max_record_;
  const size_t chunk_bytes_;
  const size_t chunks_;
  const size_t shards_size_;  // a power of two
  const std::unique_ptr<Shard[]> shards_;
  std::atomic<uint64_t> dropped_{0};
  std::atomic<bool> dry_{false};  // free_ is empty
  std::atomic<bool> pressing_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Chunk> free_;  // guarded by mutex_, as all below
  std::vector<Chunk> full_;
  bool woken_ = false;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
