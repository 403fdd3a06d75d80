// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/block.h"
#include "plugin/secondary_cache_2q/chunked_array.h"
#include "plugin/secondary_cache_2q/device.h"
#include "plugin/secondary_cache_2q/format.h"
#include "plugin/secondary_cache_2q/free_space.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// A block of the cache file that somebody works with. Its references are guarded by its part's
// mutex.
struct FileBlock : public Block {
  char key[Slot::kKeySize] = {};
  uint64_t start = 0;  // of its extent, in units from the start of the shard's part
  uint64_t units = 0;
  // Whether the bytes are in the file; `staged` may then be gone.
  std::atomic<bool> written{true};
  std::shared_ptr<AlignedBuffer> staged;  // guarded by FileStore::staged_mutex_ until written
  FileBlock* next_pinned = nullptr;       // guarded by the part's mutex
  bool waits = false;  // to be written, in the store's queue. Guarded by the part's mutex
  std::list<FileBlock*>::iterator place;  // in the queue. Guarded by FileStore::queue_mutex_
};

// A shard's part of the cache file: which ids are taken, where their extents are, and the blocks
// that somebody works with. The id is the number of the block's slot in the shard's part of the
// index.
//
// An id and its extent are taken as long as AM keeps the block, or anybody has a reference on it.
// Who drops the last of these has to clear the slot, if there is one, and then calls Free(). Until
// then nobody gets the extent.
//
// Thread-safe. Needs 6 bytes for each id up to the highest that was ever taken, and a bit for each
// unit.
class FilePart {
 public:
  // `units`: of the shard's part of the data area, each of `block_size` bytes.
  FilePart(uint32_t shard, uint64_t units, uint32_t block_size, BlockId slots)
      : shard_(shard), block_size_(block_size), slots_(slots), space_(units), pinned_(1) {}

  // A new block of this key, with an extent of `units` and one reference. Null if there is no room.
  // FindKey() may look at it at once, by an id that was another block's.
  FileBlock* Allocate(const Slice& key, uint64_t units);
  void Keep(FileBlock* block);
  // The block with this id, which AM keeps, with a reference; `hash` if it is not in use yet.
  FileBlock* Pin(BlockId id, uint64_t hash);
  // Does the same, and AM keeps it no longer.
  FileBlock* Detach(BlockId id);
  // Takes a reference for the store's queue. Until Begin() the block is one that waits there.
  void Enqueue(FileBlock* block);
  void Begin(FileBlock* block);
  // The block with this id, if the queue alone has it: the caller gets its reference, with which it
  // goes. Else null. The queue's mutex is held.
  FileBlock* Withdraw(BlockId id);
  // The slot names the block, or may do so.
  void SetPublished(const FileBlock* block);
  bool IsPublished(const FileBlock* block) const;

  enum class Left {
    kOthers,  // somebody else works with the block
    kWaits,   // the store's queue alone has it, unless that has just begun: see Withdraw()
    kKept,    // nobody does; the object is to be deleted
    kNone,    // nor does AM keep it: the slot is to be cleared, and Free() to be called
  };
  Left Unpin(FileBlock* block);
  void Free(const FileBlock* block);

  // Takes an id and an extent that were found in the file, for AM. False unless they are free.
  bool Adopt(BlockId id, uint64_t start, uint64_t units);
  // Gives back what AM did not want.
  void Reject(BlockId id);
  // All is adopted: what lies between is free.
  void EndAdoption();

  enum class Known { kNo, kKey, kSlot };
  // How the key of a block can be told: it is set, or is in the slot.
  Known FindKey(BlockId id, std::string* key) const;

  size_t MemoryUsage() const;

 private:
  // An id is taken, or is in the list of those that are free: then the word is the next one and 1,
  // or 0, and it has no units.
  static constexpr uint32_t kStart = kMostShardUnits - 1;
  static constexpr uint32_t kKept = 1u << 29;
  static constexpr uint32_t kPublished = 1u << 30;
  static constexpr uint32_t kRecovered = 1u << 31;

  static constexpr size_t kPinLoad = 4;  // blocks for each list

  size_t ListOf(BlockId id) const { return id & (pinned_.size() - 1); }
  FileBlock* FindPinned(BlockId id) const;
  void AddPinned(FileBlock* block);
  FileBlock* PinLocked(BlockId id, uint64_t hash);
  void DropPinned(const FileBlock* block);
  bool OnlyWaits(const FileBlock* block) const;
  bool TakeId(BlockId* id);
  void FreeId(BlockId id);

  const uint32_t shard_;
  const uint32_t block_size_;  // bytes
  const BlockId slots_;

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  FreeSpace space_;
  ChunkedArray<uint32_t> words_;    // by id: the start of the extent, and flags
  ChunkedArray<uint16_t> units_;    // by id; 0: free
  uint32_t free_ = 0;               // the first free id and 1, or 0
  std::vector<FileBlock*> pinned_;  // 2^n lists, by id; they never become fewer
  size_t pins_ = 0;                 // blocks in them
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
