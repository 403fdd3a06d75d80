// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The inside of a block of an SST, as RocksDB's BlockBuilder writes it.
//
//   block   = entry* [value*] restart* [hash index] footer
//   entry   = shared fresh [value size] [offset among the values] (varints), the fresh bytes of
//             the key, [value]
//   restart = offset of an entry that shares nothing with the one before it (4 bytes)
//   footer  = [offset of the values (4 bytes)] flags and number of restarts (4 bytes)
//
// The values stand by themselves if the flag says so (RocksDB 11.8); then the entries at restarts
// have the offset. In indexes of format version 4 on, values have no size.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/slice.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

constexpr uint32_t kSeparatedValues = 1u << 28;  // of the footer's flags

struct BlockParts {
  Slice entries;
  Slice values;  // those that stand by themselves
  bool separated = false;
  const char* restarts = nullptr;
  uint32_t restart_count = 0;
  Slice rest;  // behind the restarts
};

// False: it is no such block.
bool SplitBlock(const Slice& block, BlockParts* parts);

struct EntryHead {
  uint32_t shared = 0;
  uint32_t fresh = 0;
  uint32_t value = 0;   // size
  uint32_t offset = 0;  // among the values
};

// Which of the varints an entry has.
struct HeadForm {
  bool value = true;
  bool offset = false;
};

// Returns what is behind the head in [p, limit), or nullptr.
inline const char* ReadHead(const char* p, const char* limit, HeadForm form, EntryHead* head) {
  p = GetVarint32Ptr(p, limit, &head->shared);
  if (p != nullptr) {
    p = GetVarint32Ptr(p, limit, &head->fresh);
  }
  if (p != nullptr && form.value) {
    p = GetVarint32Ptr(p, limit, &head->value);
  }
  if (p != nullptr && form.offset) {
    p = GetVarint32Ptr(p, limit, &head->offset);
  }
  return p;
}

inline size_t HeadSize(const EntryHead& head, HeadForm form) {
  size_t size = VarintLength(head.shared) + VarintLength(head.fresh);
  if (form.value) {
    size += VarintLength(head.value);
  }
  if (form.offset) {
    size += VarintLength(head.offset);
  }
  return size;
}

constexpr size_t kMaxHeadSize = 4 * 5;

inline char* WriteHead(const EntryHead& head, HeadForm form, char* p) {
  p = EncodeVarint32(p, head.shared);
  p = EncodeVarint32(p, head.fresh);
  if (form.value) {
    p = EncodeVarint32(p, head.value);
  }
  if (form.offset) {
    p = EncodeVarint32(p, head.offset);
  }
  return p;
}

// Goes over the entries of a block. Not thread-safe. The parts' bytes must stay.
class BlockReader {
 public:
  // sized: the entries have the sizes of their values. If not, each Next() must be followed by
  // TakeValue().
  explicit BlockReader(const BlockParts& parts, bool sized = true);

  // False at the end, and at damage.
  bool Next();
  // The bytes where the value of this entry begins, up to the end of what can be value.
  Slice rest() const { return Slice(value_end_, static_cast<size_t>(value_limit() - value_end_)); }
  void TakeValue(size_t size);

  bool ok() const { return ok_; }
  // The head of this entry.
  const EntryHead& head() const { return head_; }
  HeadForm form() const { return form_; }
  bool at_restart() const { return at_restart_; }
  const Slice& bytes() const { return bytes_; }  // head and key, as in the block
  const std::string& key() const { return key_; }
  const Slice& value() const { return value_; }
  // The byte of the key before this one that comes after those shared, -1: there is none.
  int next_of_last() const { return next_of_last_; }
  // Restarts that were passed, with this entry's.
  uint32_t restarts() const { return restart_; }

 private:
  const char* value_limit() const {
    return parts_.separated ? parts_.values.data() + parts_.values.size() : limit_;
  }
  bool Fail();
  bool IsRestart() const;

  const BlockParts parts_;
  const bool sized_;
  const char* next_;
  const char* const limit_;
  // The end of what has been read; of the values that stand by themselves, if they do.
  const char* value_end_;
  uint32_t restart_ = 0;
  bool ok_ = true;

  EntryHead head_;
  HeadForm form_;
  bool at_restart_ = false;
  int next_of_last_ = -1;
  Slice bytes_;
  Slice value_;
  std::string key_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
