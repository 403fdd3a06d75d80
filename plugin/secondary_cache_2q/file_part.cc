// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/file_part.h"

#include <cassert>
#include <cstring>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

bool FilePart::TakeId(BlockId* id) {
  if (free_ != 0) {
    *id = free_ - 1;
    free_ = words_[*id];
    return true;
  }
  if (words_.size() >= slots_) {
    return false;
  }
  *id = static_cast<BlockId>(words_.size());
  words_.Resize(size_t{*id} + 1);
  units_.Resize(size_t{*id} + 1);
  return true;
}

void FilePart::FreeId(BlockId id) {
  words_[id] = free_;
  units_[id] = 0;
  free_ = id + 1;
}

FileBlock* FilePart::FindPinned(BlockId id) const {
  FileBlock* block = pinned_[ListOf(id)];
  while (block != nullptr && block->id != id) {
    block = block->next_pinned;
  }
  return block;
}

// A large write_buffer_size has many blocks wait, and each look-up goes over a list.
void FilePart::AddPinned(FileBlock* block) {
  if (++pins_ > kPinLoad * pinned_.size()) {
    std::vector<FileBlock*> old(pinned_.size() * 2);
    old.swap(pinned_);
    for (FileBlock* other : old) {
      while (other != nullptr) {
        FileBlock* const next = other->next_pinned;
        other->next_pinned = pinned_[ListOf(other->id)];
        pinned_[ListOf(other->id)] = other;
        other = next;
      }
    }
  }
  block->next_pinned = pinned_[ListOf(block->id)];
  pinned_[ListOf(block->id)] = block;
}

void FilePart::DropPinned(const FileBlock* block) {
  FileBlock** link = &pinned_[ListOf(block->id)];
  while (*link != block) {
    link = &(*link)->next_pinned;
  }
  *link = block->next_pinned;
  pins_--;
}

// Finds the block, or makes one, of an id that is taken.
FileBlock* FilePart::PinLocked(BlockId id, uint64_t hash) {
  FileBlock* block = FindPinned(id);
  if (block != nullptr) {
    block->refs.fetch_add(1, std::memory_order_relaxed);
    return block;
  }
  block = new FileBlock();
  block->hash = hash;
  block->shard = shard_;
  block->id = id;
  block->start = words_[id] & kStart;
  block->units = units_[id];
  block->charge = block->units * block_size_;
  block->recovered = (words_[id] & kRecovered) != 0;
  AddPinned(block);
  return block;
}

FileBlock* FilePart::Allocate(const Slice& key, uint64_t units) {
  assert(key.size() == Slot::kKeySize);
  std::lock_guard<std::mutex> lock(mutex_);
  BlockId id;
  uint64_t start;
  if (!TakeId(&id)) {
    return nullptr;
  }
  if (!space_.Allocate(units, &start)) {
    FreeId(id);
    return nullptr;
  }
  words_[id] = static_cast<uint32_t>(start);
  units_[id] = static_cast<uint16_t>(units);
  FileBlock* const block = PinLocked(id, 0);
  memcpy(block->key, key.data(), Slot::kKeySize);
  block->key_data = block->key;
  block->key_size = Slot::kKeySize;
  return block;
}

void FilePart::Keep(FileBlock* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  words_[block->id] |= kKept;
}

FileBlock* FilePart::Pin(BlockId id, uint64_t hash) {
  std::lock_guard<std::mutex> lock(mutex_);
  return PinLocked(id, hash);
}

FileBlock* FilePart::Detach(BlockId id) {
  std::lock_guard<std::mutex> lock(mutex_);
  words_[id] &= ~kKept;
  return PinLocked(id, 0);
}

void FilePart::Enqueue(FileBlock* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  block->refs.fetch_add(1, std::memory_order_relaxed);
  block->waits = true;
}

void FilePart::Begin(FileBlock* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  block->waits = false;
}

bool FilePart::OnlyWaits(const FileBlock* block) const {
  return block->waits && block->refs.load(std::memory_order_relaxed) == 1 &&
         (words_[block->id] & kKept) == 0;
}

FileBlock* FilePart::Withdraw(BlockId id) {
  std::lock_guard<std::mutex> lock(mutex_);
  FileBlock* const block = FindPinned(id);
  if (block == nullptr || !OnlyWaits(block)) {
    return nullptr;
  }
  DropPinned(block);
  return block;
}

void FilePart::SetPublished(const FileBlock* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  words_[block->id] |= kPublished;
}

bool FilePart::IsPublished(const FileBlock* block) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return (words_[block->id] & kPublished) != 0;
}

FilePart::Left FilePart::Unpin(FileBlock* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (block->refs.fetch_sub(1, std::memory_order_relaxed) > 1) {
    return OnlyWaits(block) ? Left::kWaits : Left::kOthers;
  }
  DropPinned(block);
  return (words_[block->id] & kKept) != 0 ? Left::kKept : Left::kNone;
}

void FilePart::Free(const FileBlock* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  space_.Free(block->start, block->units);
  FreeId(block->id);
}

bool FilePart::Adopt(BlockId id, uint64_t start, uint64_t units) {
  std::lock_guard<std::mutex> lock(mutex_);
  assert(id < slots_ && units <= kMostUnits);
  if (!space_.Reserve(start, units)) {
    return false;
  }
  if (id >= words_.size()) {
    words_.Resize(size_t{id} + 1);
    units_.Resize(size_t{id} + 1);
  }
  words_[id] = static_cast<uint32_t>(start) | kKept | kPublished | kRecovered;
  units_[id] = static_cast<uint16_t>(units);
  return true;
}

void FilePart::Reject(BlockId id) {
  std::lock_guard<std::mutex> lock(mutex_);
  space_.Free(words_[id] & kStart, units_[id]);
  words_[id] = 0;
  units_[id] = 0;
}

void FilePart::EndAdoption() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t id = words_.size(); id-- > 0;) {
    if (units_[id] == 0) {
      FreeId(static_cast<BlockId>(id));
    }
  }
}

FilePart::Known FilePart::FindKey(BlockId id, std::string* key) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const FileBlock* const block = FindPinned(id);
  if (block != nullptr && block->key_size != 0) {
    key->assign(block->key, sizeof(block->key));
    return Known::kKey;
  }
  const bool published = id < words_.size() && units_[id] != 0 && (words_[id] & kPublished) != 0;
  return published ? Known::kSlot : Known::kNo;
}

size_t FilePart::MemoryUsage() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return sizeof(*this) + space_.MemoryUsage() + words_.MemoryUsage() + units_.MemoryUsage() +
         pinned_.capacity() * sizeof(FileBlock*);
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
