// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

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
  // The bytes, verified, and how they are to be read; the bytes live as long as this object.
  // Requires that the read is complete. NotFound if the block is another key's, Corruption if the
  // bytes are not the block's, IOError if they could not be read.
  virtual Status Result(Slice* bytes, Encoding* encoding) = 0;
};

// Where the bytes of blocks are. Thread-safe; a call "with the shard's mutex" is made by one thread
// at a time for each shard.
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
  // written to *bytes before it enters its shard.
  virtual Room Allocate(uint32_t shard, const Slice& key, size_t size, Block** block,
                        char** bytes) = 0;

  // The block enters AM: it has an id from now on. With the shard's mutex. False if there is none.
  virtual bool Keep(Block* block) = 0;

  // Makes the bytes and the encoding final. Called after the block has entered its shard, without a
  // lock; others may read the block before that.
  virtual void Commit(Block* block) = 0;

  // The block that AM holds by this id, with a reference. `hash`: of who asks. With the shard's
  // mutex.
  virtual Block* Pin(uint32_t shard, BlockId id, uint64_t hash) = 0;

  // AM lets go of the block with this id, which goes with the reference that is returned, or with
  // the last one of others. With the shard's mutex.
  virtual Block* Detach(uint32_t shard, BlockId id) = 0;

  // Drops a reference. Without the shard's mutex unless AM holds the block.
  virtual void Release(Block* block) = 0;

  // The block's bytes if they are at hand as long as the block is referenced, else an empty slice
  // with null data: then a Read is needed.
  virtual Slice View(const Block* block) const = 0;
  // Makes a read for who asks for this key. Requires that View() was null, and that the caller
  // holds a reference on the block until the read is gone.
  virtual std::unique_ptr<Read> NewRead(Block* block, const Slice& key) = 0;

  // A block that was found when the store was opened.
  struct Found {
    BlockId id = kNoBlock;
    uint64_t hash = 0;
    uint64_t file = 0;
    size_t charge = 0;
  };
  // Gives all of a shard to `take`, the newest first. What that refuses, by false, is gone. Called
  // once, before the first Allocate().
  virtual void Recover(uint32_t /*shard*/, const std::function<bool(const Found&)>& /*take*/) {}

  // The key of the block that has this id, or had it a moment ago. False if it cannot be told.
  virtual bool FindKey(uint32_t /*shard*/, BlockId /*id*/, std::string* /*key*/) { return false; }

  // Whether a block of so many stored bytes may ever be held.
  virtual bool CanHold(uint64_t /*size*/) const { return true; }

  // Whether so much waits to be written that what can wait should.
  virtual bool Crowded() const { return false; }

  // Whether ids may change, so that they can be kept dense: then Move() gives a block another one,
  // and Truncate() forgets those from `ids` on. With the shard's mutex.
  virtual bool CanMove() const { return false; }
  virtual void Move(uint32_t /*shard*/, BlockId /*from*/, BlockId /*to*/) {}
  virtual void Truncate(uint32_t /*shard*/, BlockId /*ids*/) {}

  // Whether the bytes of indexes and references count against the capacity too.
  virtual bool ChargesMetadata() const = 0;
  // Bytes of memory for what is known of a shard's blocks, but for those that somebody works with.
  // With the shard's mutex.
  virtual size_t MemoryUsage(uint32_t shard) const = 0;
  virtual uint64_t io_errors() const { return 0; }
  // What GetPrintableOptions() says of the store, one "    name : value" per line.
  virtual std::string ToString() const { return ""; }
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
