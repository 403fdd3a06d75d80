// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/sst/block.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint32_t kHashIndex = 1u << 31;
constexpr uint32_t kUnknown = 1u << 30;
constexpr uint32_t kUniform = 1u << 29;

bool CutFixed32(Slice* input, uint32_t* value) {
  if (input->size() < 4) {
    return false;
  }
  input->remove_suffix(4);
  *value = DecodeFixed32(input->data() + input->size());
  return true;
}

// Buckets of one byte each, and their number.
bool CutHashIndex(Slice* input) {
  if (input->size() < 2) {
    return false;
  }
  const size_t size = DecodeFixed16(input->data() + input->size() - 2) + 2u;
  if (input->size() < size) {
    return false;
  }
  input->remove_suffix(size);
  return true;
}

}  // namespace

bool SplitBlock(const Slice& block, BlockParts* parts) {
  *parts = BlockParts();
  Slice left = block;
  uint32_t packed = 0;
  uint32_t values = 0;
  if (!CutFixed32(&left, &packed) || (packed & kUnknown) != 0) {
    return false;
  }
  parts->separated = (packed & kSeparatedValues) != 0;
  if (parts->separated && !CutFixed32(&left, &values)) {
    return false;
  }
  if ((packed & kHashIndex) != 0 && !CutHashIndex(&left)) {
    return false;
  }
  parts->restart_count = packed & ~(kHashIndex | kUniform | kSeparatedValues);
  if (parts->restart_count > left.size() / 4) {
    return false;
  }
  const size_t end = left.size();
  left.remove_suffix(4 * size_t{parts->restart_count});
  if (values > left.size()) {
    return false;
  }
  parts->entries = parts->separated ? Slice(block.data(), values) : left;
  if (parts->separated) {
    parts->values = Slice(block.data() + values, left.size() - values);
  }
  parts->restarts = block.data() + left.size();
  parts->rest = Slice(block.data() + end, block.size() - end);
  return true;
}

BlockReader::BlockReader(const BlockParts& parts, bool sized)
    : parts_(parts),
      sized_(sized),
      next_(parts.entries.data()),
      limit_(parts.entries.data() + parts.entries.size()),
      value_end_(parts.separated ? parts.values.data() : next_) {}

bool BlockReader::Fail() {
  ok_ = false;
  return false;
}

bool BlockReader::IsRestart() const {
  return restart_ < parts_.restart_count && DecodeFixed32(parts_.restarts + 4 * size_t{restart_}) ==
                                                static_cast<size_t>(next_ - parts_.entries.data());
}

bool BlockReader::Next() {
  if (!ok_ || next_ == limit_) {
    return false;
  }
  at_restart_ = IsRestart();
  if (at_restart_) {
    ++restart_;
  }
  form_.value = sized_;
  form_.offset = parts_.separated && at_restart_;
  const char* delta = ReadHead(next_, limit_, form_, &head_);
  if (delta == nullptr || head_.fresh > static_cast<size_t>(limit_ - delta) ||
      head_.shared > key_.size()) {
    return Fail();
  }
  next_of_last_ = head_.shared < key_.size() ? static_cast<unsigned char>(key_[head_.shared]) : -1;
  key_.resize(head_.shared);
  key_.append(delta, head_.fresh);
  bytes_ = Slice(next_, static_cast<size_t>(delta + head_.fresh - next_));
  next_ = delta + head_.fresh;
  if (!parts_.separated) {
    value_end_ = next_;
  }
  if (sized_) {
    if (head_.value > rest().size()) {
      return Fail();
    }
    TakeValue(head_.value);
  }
  return true;
}

void BlockReader::TakeValue(size_t size) {
  value_ = Slice(value_end_, size);
  value_end_ += size;
  if (!parts_.separated) {
    next_ = value_end_;
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
