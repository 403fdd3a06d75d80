// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstring>
#include <vector>

#include "memory/arena.h"
#include "plugin/tiered_env/recipe/entry.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Entries of a segment, copied. Not thread-safe while it is filled.
class EntryArena {
 public:
  void Add(Ordinal ordinal, const Entry& entry) {
    Head head;
    head.sequence = entry.sequence;
    head.batch = entry.batch;
    head.key_size = static_cast<uint32_t>(entry.key.size());
    head.value_size = static_cast<uint32_t>(entry.value.size());
    head.type = entry.type;
    char* at = arena_.AllocateAligned(sizeof(head) + entry.key.size() + entry.value.size());
    if (at_.size() <= ordinal) {
      at_.resize(ordinal + 1, nullptr);
    }
    at_[ordinal] = at;
    memcpy(at, &head, sizeof(head));
    at += sizeof(head);
    memcpy(at, entry.key.data(), entry.key.size());
    memcpy(at + entry.key.size(), entry.value.data(), entry.value.size());
  }

  bool Get(Ordinal ordinal, Entry* entry) const {
    if (ordinal >= at_.size() || at_[ordinal] == nullptr) {
      return false;
    }
    const char* at = at_[ordinal];
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

  Arena arena_{1 << 20};
  std::vector<const char*> at_;  // by ordinal
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
