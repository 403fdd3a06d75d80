// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/block.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// One read of a block's stored bytes. Made by Store::NewRead(), good for one block; used by one
// thread at a time.
class Read {
 public:
  virtual ~Read() = default;
  // Starts the read. With `async` it may go on after the call; else it is complete.
  virtual void Start(bool async) = 0;
  // Whether it is complete. Makes progress without waiting.
  virtual bool Poll() = 0;
  // Waits until it is complete.
  virtual void Wait() = 0;
  // The bytes, verified; they live as long as this object. Requires that the read is complete.
  // Corruption if the bytes are not the block's, IOError if they could not be read.
  virtual Status Result(Slice* bytes) = 0;
};

// Where the bytes of blocks are. Thread-safe.
class Store {
 public:
  enum class Room {
    kOk,
    kFull,   // evict a block of the shard and try again
    kBusy,   // no memory or bandwidth at the moment
    kNever,  // a block of this size, or with such a key, is not held
  };

  virtual ~Store() = default;

  // A block of `size` stored bytes that is in no shard yet, with one reference. Its bytes are to be
  // written to *bytes before Commit().
  virtual Room Allocate(uint32_t shard, const Slice& key, size_t size, Block** block,
                        char** bytes) = 0;

  // Makes the bytes and the encoding final. The block may be read by others at once. Called after
  // the block has entered its shard, without a lock.
  virtual void Commit(Block* block) = 0;

  // Frees the block and its room. Called when the last reference is gone.
  virtual void Destroy(Block* block) = 0;

  // The block's bytes if they are at hand as long as the block is referenced, else an empty slice
  // with null data: then a Read is needed.
  virtual Slice View(const Block* block) const = 0;
  // Makes a read. Requires that View() was null, and that the caller holds a reference on the block
  // until the read is gone.
  virtual std::unique_ptr<Read> NewRead(Block* block) = 0;

  // The blocks that were found when the store was opened, the one to evict first in front. Each
  // carries a reference. Called once, before the first Allocate().
  virtual std::vector<Block*> Recover() { return {}; }

  // Whether a block of so many stored bytes may ever be held.
  virtual bool CanHold(uint64_t /*size*/) const { return true; }

  // Whether so much waits to be written that what can wait should.
  virtual bool Crowded() const { return false; }

  // Whether the bytes of indexes and references count against the capacity too.
  virtual bool ChargesMetadata() const = 0;
  virtual uint64_t io_errors() const { return 0; }
  // What GetPrintableOptions() says of the store, one "    name : value" per line.
  virtual std::string ToString() const { return ""; }

  void Release(Block* block) {
    if (block->Unref()) {
      Destroy(block);
    }
  }
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
