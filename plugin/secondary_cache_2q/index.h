// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "plugin/secondary_cache_2q/block.h"
#include "plugin/secondary_cache_2q/chunked_array.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Finds the blocks of AM by a part of the hash of their key, the tag. Two keys may have the same
// tag: who finds a block has to look at its key. Has three flags for each block, and needs 8 bytes
// for it, and 4 bytes for each bucket.
//
// Linear hashing: chains by id, and as many buckets as the number of blocks asks for. Growing and
// shrinking moves one bucket at a time. Not thread-safe.
class Index {
 public:
  enum Flag : uint32_t {
    kUsed = 1u << 27,      // since the hand of CLOCK came by
    kPromoted = 1u << 28,  // the primary cache has a copy
  };

  // `load`: blocks for each bucket. More need less memory, and more time.
  explicit Index(size_t load) : load_(load) { buckets_.Resize(1); }

  static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash); }

  // A block with this tag, or kNoBlock.
  BlockId Find(uint32_t tag) const {
    uint32_t at = buckets_[BucketOf(tag)];
    while (at != 0 && nodes_[at - 1].tag != tag) {
      at = nodes_[at - 1].link & kNext;
    }
    return at == 0 ? kNoBlock : at - 1;
  }

  bool Has(BlockId id) const { return id < nodes_.size() && (nodes_[id].link & kHeld) != 0; }
  uint32_t Tag(BlockId id) const { return nodes_[id].tag; }
  bool Is(BlockId id, Flag flag) const { return (nodes_[id].link & flag) != 0; }
  void Set(BlockId id, Flag flag, bool value) {
    nodes_[id].link = value ? nodes_[id].link | flag : nodes_[id].link & ~uint32_t{flag};
  }

  // Adds a block without flags. Requires that it is not in the index.
  void Add(BlockId id, uint32_t tag) {
    assert(id < kMostBlocks && !Has(id));
    if (id >= nodes_.size()) {
      nodes_.Resize(id + 1);
    }
    Link(id, tag, 0);
    size_++;
    while (size_ > load_ * buckets_.size()) {
      Split();
    }
  }

  // Removes a block that is in the index.
  void Remove(BlockId id) {
    Unlink(id);
    nodes_[id] = {};
    size_--;
    while (buckets_.size() > 1 && size_ * 2 < load_ * (buckets_.size() - 1)) {
      Merge();
    }
  }

  // Gives a block another id, which is free.
  void Move(BlockId from, BlockId to) {
    const Node node = nodes_[from];
    Unlink(from);
    nodes_[from] = {};
    Link(to, node.tag, node.link & (kUsed | kPromoted));
  }

  // Forgets the ids from this one on. Requires that none of them is in the index.
  void Truncate(BlockId ids) { nodes_.Resize(ids); }

  size_t size() const { return size_; }
  // All ids that were ever added are below.
  BlockId ids() const { return static_cast<BlockId>(nodes_.size()); }
  size_t MemoryUsage() const { return nodes_.MemoryUsage() + buckets_.MemoryUsage(); }

  void Prefetch(uint32_t tag) const { __builtin_prefetch(&buckets_[BucketOf(tag)]); }

 private:
  struct Node {
    uint32_t tag = 0;
    uint32_t link = 0;  // the next id of the chain and 1, or 0; and the flags
  };
  static constexpr uint32_t kNext = (1u << 27) - 1;
  static constexpr uint32_t kHeld = 1u << 31;

  size_t BucketOf(uint32_t tag) const {
    const size_t bucket = tag & mask_;
    return bucket < buckets_.size() ? bucket : bucket & mask_ >> 1;
  }

  void Link(BlockId id, uint32_t tag, uint32_t flags) {
    uint32_t& head = buckets_[BucketOf(tag)];
    nodes_[id] = {tag, head | flags | kHeld};
    head = id + 1;
  }

  void Unlink(BlockId id) {
    uint32_t& head = buckets_[BucketOf(nodes_[id].tag)];
    const uint32_t next = nodes_[id].link & kNext;
    if (head == id + 1) {
      head = next;
      return;
    }
    uint32_t before = head - 1;
    while ((nodes_[before].link & kNext) != id + 1) {
      before = (nodes_[before].link & kNext) - 1;
    }
    nodes_[before].link = (nodes_[before].link & ~kNext) | next;
  }

  // Puts a chain that no bucket has any more into the buckets where its blocks belong now.
  void Relink(uint32_t at) {
    while (at != 0) {
      const BlockId id = at - 1;
      at = nodes_[id].link & kNext;
      Link(id, nodes_[id].tag, nodes_[id].link & (kUsed | kPromoted));
    }
  }

  void Split() {
    const size_t added = buckets_.size();
    if (added > mask_) {
      mask_ = mask_ * 2 + 1;
    }
    buckets_.Resize(added + 1);
    uint32_t& head = buckets_[added & mask_ >> 1];
    const uint32_t chain = head;
    head = 0;
    Relink(chain);
  }

  void Merge() {
    const size_t last = buckets_.size() - 1;
    const uint32_t chain = buckets_[last];
    buckets_.Resize(last);
    if (last - 1 <= mask_ >> 1) {
      mask_ >>= 1;
    }
    Relink(chain);
  }

  const size_t load_;
  ChunkedArray<Node> nodes_;        // by id
  ChunkedArray<uint32_t> buckets_;  // the first id of each chain and 1, or 0
  size_t mask_ = 0;                 // 2^n - 1, the least that is not below the last bucket
  size_t size_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
