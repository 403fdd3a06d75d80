// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/buffer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "plugin/hot_promotion/ralt/key.h"
#include "plugin/hot_promotion/ralt/thread.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

constexpr size_t kMaxShards = 16;
constexpr size_t kTries = 4;
// Two varints.
constexpr size_t kMaxHeader = 15;

size_t ChunkBytes(size_t bytes) { return std::clamp<size_t>(bytes / 64, 1 << 10, 64 << 10); }

// Shards have at most a quarter of the chunks.
size_t Shards(size_t chunks) {
  size_t shards = 1;
  while (shards < kMaxShards && shards * 2 <= chunks / 4) {
    shards *= 2;
  }
  return shards;
}

}  // namespace

Buffer::Buffer(size_t bytes, uint64_t max_record)
    : max_record_(max_record),
      chunk_bytes_(ChunkBytes(bytes)),
      chunks_(bytes / chunk_bytes_),
      shards_size_(Shards(chunks_)),
      shards_(new Shard[shards_size_]) {
  free_.resize(chunks_);
  for (Chunk& chunk : free_) {
    chunk.bytes.reset(new char[chunk_bytes_]);
  }
  full_.reserve(chunks_);
}

Buffer::Shard* Buffer::Enter() {
  const size_t home = ThreadNumber();
  for (size_t i = 0; i < kTries; ++i) {
    Shard* const shard = &shards_[(home + i) & (shards_size_ - 1)];
    if (shard->mutex.try_lock()) {
      return shard;
    }
  }
  return nullptr;
}

bool Buffer::Add(Space space, const Slice& key, size_t value_size) {
  Shard* const shard = key.size() + value_size <= max_record_ ? Enter() : nullptr;
  bool added = false;
  if (shard != nullptr) {
    std::lock_guard<SpinMutex> guard(shard->mutex, std::adopt_lock);
    added = Append(shard, space, key, value_size);
  }
  if (!added) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
  }
  return added;
}

bool Buffer::Append(Shard* shard, Space space, const Slice& key, size_t value_size) {
  const size_t most = kMaxHeader + kSpaceSize + key.size();
  if (most > chunk_bytes_) {
    return false;
  }
  Chunk* const chunk = &shard->chunk;
  if ((!chunk->bytes || chunk->used + most > chunk_bytes_) && !Exchange(shard)) {
    return false;
  }
  char* end = chunk->bytes.get() + chunk->used;
  end = EncodeVarint32(end, static_cast<uint32_t>(kSpaceSize + key.size()));
  end = EncodeVarint64(end, key.size() + value_size);
  EncodeSpace(space, end);
  memcpy(end + kSpaceSize, key.data(), key.size());
  chunk->used = static_cast<size_t>(end - chunk->bytes.get()) + kSpaceSize + key.size();
  chunk->accesses++;
  shard->added.store(shard->added.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

uint64_t Buffer::added() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < shards_size_; ++i) {
    sum += shards_[i].added.load(std::memory_order_relaxed);
  }
  return sum;
}

bool Buffer::Exchange(Shard* shard) {
  if (dry_.load(std::memory_order_relaxed)) {
    return false;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (free_.empty()) {
    return false;
  }
  if (shard->chunk.bytes) {
    full_.push_back(std::move(shard->chunk));
  }
  shard->chunk = std::move(free_.back());
  free_.pop_back();
  UpdatePressing();
  return true;
}

void Buffer::UpdatePressing() {
  dry_.store(free_.empty(), std::memory_order_relaxed);
  const bool pressing = woken_ || full_.size() >= chunks_ / 2;
  if (pressing && !Pressing()) {
    changed_.notify_all();
  }
  pressing_.store(pressing, std::memory_order_relaxed);
}

void Buffer::Wait(uint64_t micros) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, std::chrono::microseconds(micros), [this] { return Pressing(); });
}

void Buffer::Wake() {
  std::lock_guard<std::mutex> lock(mutex_);
  woken_ = true;
  UpdatePressing();
}

void Buffer::Acknowledge() {
  std::lock_guard<std::mutex> lock(mutex_);
  woken_ = false;
  UpdatePressing();
}

std::vector<Chunk> Buffer::Collect() {
  std::vector<Chunk> result;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    result.swap(full_);
    full_.reserve(chunks_);
    UpdatePressing();
  }
  // A shard holds the order of one thread's accesses: its last chunk goes behind the full ones.
  for (size_t i = 0; i < shards_size_; ++i) {
    std::lock_guard<SpinMutex> guard(shards_[i].mutex);
    if (shards_[i].chunk.used > 0) {
      result.push_back(std::move(shards_[i].chunk));
      shards_[i].chunk = Chunk();
    }
  }
  return result;
}

void Buffer::Return(std::vector<Chunk> chunks) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Chunk& chunk : chunks) {
    chunk.used = 0;
    chunk.accesses = 0;
    free_.push_back(std::move(chunk));
  }
  UpdatePressing();
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
