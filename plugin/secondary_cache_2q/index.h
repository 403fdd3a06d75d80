// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugin/secondary_cache_2q/block.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// What is known of a key: a block in AM, a reference in A1, a reference marked for admission.
enum class Kind : uint8_t { kNone = 0, kBlock = 1, kGhost = 2, kMarked = 3 };

// What is known of a key, in one word. The two lowest bits are the kind. Above them is the block's
// address; or whether the reference is to a victim of AM, and the reference's position in its FIFO.
class Known {
 public:
  Known() = default;
  explicit Known(Block* block)
      : word_(reinterpret_cast<uintptr_t>(block) | static_cast<uint64_t>(Kind::kBlock)) {}
  Known(Kind kind, uint64_t position, bool victim = false)
      : word_(position << 3 | uint64_t{victim} << 2 | static_cast<uint64_t>(kind)) {}

  Kind kind() const { return static_cast<Kind>(word_ & 3); }
  Block* block() const { return reinterpret_cast<Block*>(word_ & ~uint64_t{3}); }
  bool victim() const { return (word_ & 4) != 0; }
  uint64_t position() const { return word_ >> 3; }

 private:
  uint64_t word_ = 0;
};

// Maps the hash of a key to what is known of it. One table serves AM, A1 and the marked references,
// so that a look-up that misses touches one cache line. Open addressing with linear probing and
// backward-shift deletion; at most three quarters full; grows by doubling. Not thread-safe.
class Index {
 public:
  Index() : slots_(kMinSlots), mask_(kMinSlots - 1) {}

  Known Find(uint64_t hash) const { return slots_[Probe(hash)].known; }

  void Set(uint64_t hash, Known known) {
    size_t i = Probe(hash);
    if (slots_[i].known.kind() == Kind::kNone) {
      if ((size_ + 1) * 4 > slots_.size() * 3) {
        Resize(slots_.size() * 2);
        i = Probe(hash);
      }
      size_++;
    }
    slots_[i] = {hash, known};
  }

  void Erase(uint64_t hash) {
    size_t hole = Probe(hash);
    if (slots_[hole].known.kind() == Kind::kNone) {
      return;
    }
    size_--;
    for (size_t i = (hole + 1) & mask_; slots_[i].known.kind() != Kind::kNone;
         i = (i + 1) & mask_) {
      // A slot may move into the hole unless its home lies behind the hole.
      if (((i - slots_[i].hash) & mask_) >= ((i - hole) & mask_)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole] = {};
  }

  // Makes the table as small as it may be.
  void Compact() {
    size_t slots = kMinSlots;
    while (size_ * 4 > slots * 3) {
      slots *= 2;
    }
    if (slots < slots_.size()) {
      Resize(slots);
    }
  }

  size_t size() const { return size_; }
  size_t MemoryUsage() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    uint64_t hash = 0;
    Known known;
  };
  static constexpr size_t kMinSlots = 64;

  // The slot of `hash`, or the free one where it would go.
  size_t Probe(uint64_t hash) const {
    size_t i = hash & mask_;
    while (slots_[i].known.kind() != Kind::kNone && slots_[i].hash != hash) {
      i = (i + 1) & mask_;
    }
    return i;
  }

  void Resize(size_t slots) {
    std::vector<Slot> old(slots);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.known.kind() != Kind::kNone) {
        slots_[Probe(slot.hash)] = slot;
      }
    }
  }

  std::vector<Slot> slots_;
  size_t mask_;
  size_t size_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
