// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace rocktier {

using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

constexpr uint32_t kKeys = 24000;

// The versions of a key that a reader may see are those from `acknowledged` to `issued`: the writer
// raises `issued` before it calls the DB and `acknowledged` after the DB has returned. A key has
// one writer, so that they differ by one at most. After a kill a version that was issued and not
// acknowledged may be there or not; the next writer writes the same one again.
struct KeyState {
  std::atomic<uint32_t> issued{0};
  std::atomic<uint32_t> acknowledged{0};
};

// What a child process tells its parent; it lives in a file that both map, so that all of it is
// there after SIGKILL.
struct Shared {
  std::atomic<bool> stop{false};   // the parent asks for a clean close
  std::atomic<bool> quiet{false};  // and for no writes, so that no SST goes while it reads the DB
  // Steps of the writer, which goes on where the last one was killed.
  std::atomic<uint32_t> step{0};
  // The child's sample of its cache, a few milliseconds old at most.
  std::atomic<bool> running{false};
  std::atomic<uint64_t> blocks{0};
  std::atomic<uint64_t> hits{0};
  std::atomic<uint64_t> corrupt{0};
  std::atomic<uint64_t> io_errors{0};
  std::atomic<uint64_t> erased_obsolete{0};
  std::atomic<uint64_t> carried{0};
  std::atomic<uint64_t> carry_failed{0};
  std::atomic<uint64_t> reads{0};
  std::atomic<uint64_t> writes{0};
  KeyState keys[kKeys];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "atomics are shared by processes");

// Knows the right answer of every read. Thread-safe. Owns the mapping.
class Oracle {
 public:
  // Maps the file, which is created if there is none.
  explicit Oracle(const std::string& path);
  ~Oracle();
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  Shared& shared() { return *shared_; }

  static std::string Key(uint32_t key);
  static bool ParseKey(const Slice& text, uint32_t* key);
  // A version is a deletion, or a value that no other key or version has.
  static bool IsDeletion(uint32_t key, uint32_t version);
  static std::string Value(uint32_t key, uint32_t version);

  // The versions that may be seen. Take `oldest` before the read and `newest` after it.
  uint32_t Oldest(uint32_t key) const {
    return shared_->keys[key].acknowledged.load(std::memory_order_acquire);
  }
  uint32_t Newest(uint32_t key) const {
    return shared_->keys[key].issued.load(std::memory_order_acquire);
  }
  // Empty if a read may answer so, else what is wrong.
  std::string Check(uint32_t key, uint32_t oldest, const Status& status, const Slice& value) const;

 private:
  Shared* shared_ = nullptr;
};

// Prints a message and aborts. For what a test cannot do without.
void Require(bool condition, const std::string& message);
void Require(const Status& status, const std::string& what);

}  // namespace rocktier
