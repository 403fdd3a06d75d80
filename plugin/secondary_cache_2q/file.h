// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugin/secondary_cache_2q/device.h"
#include "plugin/secondary_cache_2q/extents.h"
#include "plugin/secondary_cache_2q/format.h"
#include "plugin/secondary_cache_2q/store.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// A block in the cache file.
struct FileBlock : public Block {
  char key[Slot::kKeySize] = {};
  uint64_t offset = 0;  // bytes from the start of the data area
  uint64_t units = 0;   // of allocation
  uint32_t slot = 0;
  uint32_t checksum = 0;
  uint64_t sequence = 0;  // of a block that was found in the file
  // Whether the bytes are in the file; `staged` may then be gone.
  std::atomic<bool> written{false};
  bool published = false;                 // the slot names this block, or may
  std::shared_ptr<AlignedBuffer> staged;  // guarded by FileStore::staged_mutex_ until written
};

// storage=file: blocks in a preallocated file with an index.
//
// A block is staged in memory and written by a background thread. Then its slot is stored in the
// index, a mapping. Stores to a shared mapping outlive the process, so after kill -9 the index
// names just the blocks whose bytes were written. Before a power loss the kernel may have written
// index and data in any order. Therefore every slot and every block carries a checksum, and one
// that does not match is a miss.
//
// Thread-safe. Owns the file's lock, the device and the writer thread.
class FileStore : public Store {
 public:
  // Busy if another cache, in this or another process, owns the file.
  static Status Open(const TwoQSecondaryCacheOptions& options, int shard_bits,
                     std::unique_ptr<FileStore>* result);
  ~FileStore() override;

  // Called for a block that could not be written: take it out of AM. Set before the first block.
  void OnFailure(std::function<void(Block*)> callback) { on_failure_ = std::move(callback); }

  // Writes what is staged and stops the writer. From now on destroyed blocks stay in the file.
  void Close();

  Room Allocate(uint32_t shard, const Slice& key, size_t size, Block** block,
                char** bytes) override;
  void Commit(Block* block) override;
  void Destroy(Block* block) override;
  Slice View(const Block* /*block*/) const override { return Slice(nullptr, 0); }
  std::unique_ptr<Read> NewRead(Block* block) override;
  std::vector<Block*> Recover() override;
  bool Crowded() const override {
    return staged_bytes_.load(std::memory_order_relaxed) > max_staged_ / 2;
  }
  bool CanHold(uint64_t size) const override {
    const uint64_t units = superblock_.UnitsOf(size);
    return size <= UINT32_MAX && size <= superblock_.LargestBlock() &&
           units <= superblock_.UnitsPerShard() && units * superblock_.block_size <= max_staged_;
  }
  bool ChargesMetadata() const override { return false; }
  uint64_t io_errors() const override { return io_errors_.load(std::memory_order_relaxed); }
  std::string ToString() const override;

  // Waits until everything that was committed is written.
  void Drain();

 private:
  friend class FileRead;

  // A shard's part of the index and of the data area.
  struct Part {
    explicit Part(uint64_t units) : extents(units) {}
    Extents extents;
    std::mutex mutex;
    std::vector<uint32_t> free_slots;  // guarded by mutex
  };

  // A part of the index, of whole pages.
  struct Piece {
    uint64_t offset;  // in the file
    std::string bytes;
  };
  using Candidates = std::vector<std::unique_ptr<FileBlock>>;

  explicit FileStore(const TwoQSecondaryCacheOptions& options);
  void MakeParts();
  bool TakeSlot(Part* part, uint32_t* slot);
  void GiveBackSlot(Part* part, uint32_t slot);
  void ReadPiece(Piece* piece);
  void ScanPiece(Piece* piece, Candidates* found);
  std::unique_ptr<FileBlock> Candidate(uint32_t slot_number, const Slot& slot) const;
  bool Adopt(FileBlock* block);
  void CheckIndexIo(const Status& s);
  void ClearSlot(uint32_t slot);
  uint64_t SlotOffset(uint32_t slot) const {
    return superblock_.IndexOffset() + uint64_t{slot} * Slot::kSize;
  }

  void WriterLoop();
  void WriteBatch(const std::vector<FileBlock*>& batch);
  void Publish(FileBlock* block);

  const TwoQSecondaryCacheOptions options_;
  const size_t max_staged_;  // bytes
  // Constant after Open().
  Descriptor lock_;  // of the lock file; goes after the device
  Superblock superblock_;
  std::unique_ptr<Device> device_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::function<void(Block*)> on_failure_;

  std::atomic<uint64_t> sequence_{1};
  std::atomic<uint64_t> io_errors_{0};
  std::atomic<size_t> staged_bytes_{0};  // allocated and not yet written
  std::atomic<bool> closed_{false};

  mutable std::mutex staged_mutex_;

  std::mutex queue_mutex_;
  std::condition_variable queue_changed_;
  // Guarded by queue_mutex_.
  std::deque<FileBlock*> queue_;  // each with a reference
  bool writing_ = false;
  bool stop_ = false;
  std::thread writer_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
