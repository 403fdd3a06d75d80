// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugin/secondary_cache_2q/device.h"
#include "plugin/secondary_cache_2q/file_part.h"
#include "plugin/secondary_cache_2q/format.h"
#include "plugin/secondary_cache_2q/store.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// storage=file: blocks in a preallocated file with an index.
//
// A block is staged in memory and written by a background thread. Then its slot is stored in the
// index, a mapping. Stores to a shared mapping outlive the process, so after kill -9 the index
// names just the blocks whose bytes were written. Before a power loss the kernel may have written
// index and data in any order. Therefore every slot and every block carries a checksum, and one
// that does not match is a miss.
//
// Memory has no keys: a block is found by a part of the hash of its key. Its header in the file,
// which is read with it, has the key, and all else that is needed to read it back.
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

  // The references of each kind that a saved order of use has room for.
  uint64_t References() const { return superblock_.References(); }
  // Writes the order of use of a shard. Called after Close().
  void SaveOrder(uint32_t shard, const std::string& state);
  // Takes what SaveOrder() wrote: it is good for one opening. Empty if there is none, or it is
  // damaged.
  std::string TakeOrder(uint32_t shard);

  Room Allocate(uint32_t shard, const Slice& key, size_t size, Block** block,
                char** bytes) override;
  bool Keep(Block* block) override;
  void Commit(Block* block) override;
  Block* Pin(uint32_t shard, BlockId id, uint64_t hash) override;
  Block* Detach(uint32_t shard, BlockId id) override;
  void Release(Block* block) override;
  Slice View(const Block* /*block*/) const override { return Slice(nullptr, 0); }
  std::unique_ptr<Read> NewRead(Block* block, const Slice& key) override;
  void Recover(uint32_t shard, const std::function<bool(const Found&)>& take) override;
  bool FindKey(uint32_t shard, BlockId id, std::string* key) override;
  bool Crowded() const override {
    return staged_bytes_.load(std::memory_order_relaxed) > max_staged_ / 2;
  }
  bool CanHold(uint64_t size) const override {
    const uint64_t units = superblock_.UnitsOf(size);
    return size <= UINT32_MAX && size <= superblock_.LargestBlock() && units <= kMostUnits &&
           units <= superblock_.UnitsPerShard() && units * superblock_.block_size <= max_staged_;
  }
  bool ChargesMetadata() const override { return false; }
  size_t MemoryUsage(uint32_t shard) const override { return parts_[shard]->MemoryUsage(); }
  uint64_t io_errors() const override { return io_errors_.load(std::memory_order_relaxed); }
  std::string ToString() const override;

  // Waits until everything that was committed is written.
  void Drain();

 private:
  friend class FileRead;

  // A part of the index, of whole pages.
  struct Piece {
    uint64_t offset;  // in the file
    std::string bytes;
  };
  // What a slot says.
  struct Candidate {
    uint64_t sequence;
    uint64_t start;  // units from the start of the shard's part
    Found found;
  };
  using Candidates = std::vector<Candidate>;

  explicit FileStore(const TwoQSecondaryCacheOptions& options);
  void MakeParts();
  FilePart* PartOf(const Block* block) const { return parts_[block->shard].get(); }
  uint64_t OffsetOf(const FileBlock* block) const;
  uint64_t LengthOf(const FileBlock* block) const { return block->units * superblock_.block_size; }

  // In file_recovery.cc.
  void ReadPiece(Piece* piece);
  void ScanPiece(uint32_t shard, Piece* piece, Candidates* found);
  bool ScanSlot(uint32_t shard, uint64_t number, char* bytes, Candidates* found);
  Candidate MakeCandidate(uint32_t shard, uint64_t number, const Slot& slot) const;

  void CheckIndexIo(const Status& s);
  uint64_t SlotOffset(uint32_t shard, BlockId id) const {
    return superblock_.IndexOffset() + (shard * superblock_.SlotsPerShard() + id) * Slot::kSize;
  }
  void ClearSlot(uint32_t shard, BlockId id);

  void Withdraw(uint32_t shard, BlockId id);
  void WriterLoop();
  void WriteBatch(const std::vector<FileBlock*>& batch);
  void Publish(FileBlock* block);

  const TwoQSecondaryCacheOptions options_;
  const size_t max_staged_;  // bytes
  // Constant after Open().
  Descriptor lock_;  // of the lock file; goes after the device
  Superblock superblock_;
  std::unique_ptr<Device> device_;
  std::vector<std::unique_ptr<FilePart>> parts_;  // by shard
  std::function<void(Block*)> on_failure_;

  std::atomic<uint64_t> sequence_{1};
  std::atomic<uint64_t> io_errors_{0};
  std::atomic<size_t> staged_bytes_{0};  // allocated and not yet written
  std::atomic<bool> closed_{false};

  mutable std::mutex staged_mutex_;

  std::mutex queue_mutex_;
  std::condition_variable queue_changed_;
  // Guarded by queue_mutex_.
  std::list<FileBlock*> queue_;  // each with a reference
  bool writing_ = false;
  bool stop_ = false;
  std::thread writer_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
