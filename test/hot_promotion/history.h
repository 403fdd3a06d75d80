// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

constexpr char kAbsent[] = "none";

// What keys of a database had in the course of time. Each key is written by one thread; any may
// read. A read is right if it returns one of the states that the key had while it was read.
class History {
 public:
  explicit History(int keys) : keys_(keys) {
    for (Key& key : keys_) {
      key.states.push_back(kAbsent);
    }
  }

  int size() const { return static_cast<int>(keys_.size()); }
  std::string Name(int key) const;

  // Before a write, and after it.
  void Begin(int key, const std::string& state);
  void End(int key);
  std::string Latest(int key) const;

  // The number of the state at a read's begin, for Check() after it.
  size_t Mark(int key) const;
  bool Check(int key, size_t mark, const std::string& result) const;

  // Whether the key with this name has had the state at any time.
  bool Had(const std::string& name, const std::string& state) const;

 private:
  struct Key {
    mutable std::mutex mutex;
    std::vector<std::string> states;
    size_t ended = 0;  // of them, the last one that is in the database for sure
  };
  std::vector<Key> keys_;
};

// Writes random changes of keys [from, to) of a database, and their history.
class RandomWriter {
 public:
  RandomWriter(DB* db, History* history, int from, int to, uint32_t seed)
      : db_(db), history_(history), from_(from), to_(to), random_(seed) {}

  // Instead of range deletions it deletes single keys.
  void LeaveRanges() { ranges_ = false; }
  Status WriteOne();
  int AnyKey() { return from_ + static_cast<int>(random_.Uniform(to_ - from_)); }

 private:
  Status DeleteSomeRange();

  DB* const db_;
  History* const history_;
  const int from_;
  const int to_;
  bool ranges_ = true;
  Random random_;
};

// Merges by appending; see StringAppendOperator.
std::string Appended(const std::string& state, const std::string& operand);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
