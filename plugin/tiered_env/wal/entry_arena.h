// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "plugin/tiered_env/recipe/entry.h"
#include "plugin/tiered_env/wal/large_memory.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Entries of a segment, copied. Not thread-safe while it is filled.
class EntryArena {
 public:
  // Finds entries by their ordinal as in an array. `sparse`: by search, so that an ordinal takes no
  // memory for those below it; they ascend then.
  explicit EntryArena(bool sparse) : sparse_(sparse) {}

  void Add(Ordinal ordinal, const Entry& entry) {
    Head head;
    head.sequence = entry.sequence;
    head.batch = entry.batch;
    head.key_size = static_cast<uint32_t>(entry.key.size());
    head.value_size = static_cast<uint32_t>(entry.value.size());
    head.type = entry.type;
    char* at = Allocate(sizeof(head) + entry.key.size() + entry.value.size());
    Note(ordinal, at);
    memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    memcpy(at, entry.key.data(), entry.key.size());
    memcpy(at + entry.key.size(), entry.value.data(), entry.value.size());
  }

  bool Get(Ordinal ordinal, Entry* entry) const {
    const char* at = Find(ordinal);
    if (at == nullptr) {
      return false;
    }
    Head head;
    memcpy(&head, at, sizeof(head));
    at += sizeof(head);
    entry->sequence = head.sequence;
    entry->batch = head.batch;
    entry->type = head.type;
    entry->key = Slice(at, head.key_size);
    entry->value = Slice(at + head.key_size, head.value_size);
    return true;
  }

 private:
  struct Head {
    SequenceNumber sequence;
    SequenceNumber batch;
    uint32_t key_size;
    uint32_t value_size;
    ValueType type;
  };

  void Note(Ordinal ordinal, const char* at) {
    if (sparse_) {
      found_.emplace_back(ordinal, at);
      return;
    }
    if (at_.size() <= ordinal) {
      at_.resize(ordinal + size_t{1}, nullptr);
    }
    at_[ordinal] = at;
  }

  // Null: it was not added.
  const char* Find(Ordinal ordinal) const {
    if (!sparse_) {
      return ordinal < at_.size() ? at_[ordinal] : nullptr;
    }
    const auto it =
        std::lower_bound(found_.begin(), found_.end(), ordinal,
                         [](const auto& entry, Ordinal wanted) { return entry.first < wanted; });
    return it != found_.end() && it->first == ordinal ? it->second : nullptr;
  }

  // Of what is taken at once, in bytes: twice as much each time.
  static constexpr size_t kLeast = size_t{64} << 10;
  static constexpr size_t kMost = size_t{32} << 20;

  char* Allocate(size_t bytes) {
    if (bytes > left_) {
      left_ = std::max(bytes, next_size_);
      next_size_ = std::min(2 * next_size_, kMost);
      if (left_ < kHugePage) {
        small_.emplace_back(new char[left_]);
        next_ = small_.back().get();
      } else {
        large_.push_back(AllocateLarge(left_));
        next_ = large_.back().get();
      }
    }
    char* const at = next_;
    next_ += bytes;
    left_ -= bytes;
    return at;
  }

  const bool sparse_;
  std::vector<std::unique_ptr<char[]>> small_;
  std::vector<LargeMemory> large_;
  size_t next_size_ = kLeast;
  char* next_ = nullptr;
  size_t left_ = 0;                                     // bytes, at next_
  std::vector<const char*> at_;                         // by ordinal, unless sparse_
  std::vector<std::pair<Ordinal, const char*>> found_;  // if sparse_
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
