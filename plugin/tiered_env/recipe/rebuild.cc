// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recipe/rebuild.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "plugin/tiered_env/recipe/format.h"
#include "port/port.h"
#include "util/coding.h"
#include "util/xxhash.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

Status Damaged(const char* what) {
  return Status::Corruption("tiered_env: recipe does not make its SST", what);
}

Status Missing(const Reference& reference) {
  return Status::Corruption("tiered_env: entry of a recipe is not there",
                            "segment " + std::to_string(reference.segment) + ", ordinal " +
                                std::to_string(reference.ordinal));
}

class Rebuilder {
 public:
  Rebuilder(const RecipeParts& parts, EntrySource* entries, char* out)
      : parts_(parts),
        entries_(entries),
        numbers_(parts.packed, parts.space.width()),
        numbers_left_(parts.numbers),
        operations_(parts.operations),
        out_(out),
        next_(out),
        limit_(out + parts.summary.size),
        hashed_(out) {
    XXH3_64bits_reset(&hash_);
  }

  Status Run();

 private:
  // Entries that are looked up at once.
  static constexpr size_t kAhead = 32;

  struct Found {
    bool literal = false;
    bool of_batch = false;
    Entry entry;
  };

  Status RunOne(uint64_t operation, uint64_t count);
  void Hash();
  Status CopyLiteral(uint64_t size);
  Status WriteZeros(uint64_t size);

  Status WriteBlock(uint64_t entries, bool whole);
  bool BeginBlock();
  // Looks up the entries of the next numbers, so that the memory they are in is on its way.
  Status LookUp(size_t count);
  Status WriteEntry(const Found& found, bool restart);
  Status WriteReferenced(const Found& found, bool restart);
  Status CopyEntry(bool restart);
  // Writes what is behind the entries: restarts, and footer and trailer.
  bool FinishBlock(bool whole);
  bool WriteValue(const Slice& value);
  bool Room(uint64_t size) const { return size <= static_cast<size_t>(limit_ - next_); }
  // Keys must end where the values begin that stand by themselves, or at the end of it all.
  bool RoomForKey(uint64_t size) const { return size <= static_cast<size_t>(key_limit_ - next_); }
  // Bytes of the internal key that the one before has too.
  size_t SharedWithLast(const Slice& user_key, const Slice& suffix) const;

  const RecipeParts& parts_;
  EntrySource* const entries_;
  BitReader numbers_;
  uint64_t numbers_left_;
  Slice operations_;
  char* const out_;
  char* next_;
  char* const limit_;

  XXH3_state_t hash_;  // of what is before hashed_
  const char* hashed_;

  // The block that is being written:
  char* block_ = nullptr;
  char* key_limit_ = nullptr;
  char* value_ = nullptr;  // the next one that stands by itself
  std::string last_key_;
  std::vector<uint32_t> restarts_;
  std::array<Found, kAhead> found_;
};

Status Rebuilder::Run() {
  Status s;
  while (s.ok() && !operations_.empty()) {
    uint64_t operation = 0;
    if (!GetVarint64(&operations_, &operation)) {
      return Damaged("operation");
    }
    s = RunOne(operation % 4, operation / 4);
    Hash();
  }
  if (s.ok() && (next_ != limit_ || numbers_left_ != 0)) {
    s = Damaged("size");
  }
  if (s.ok() && XXH3_64bits_digest(&hash_) != parts_.summary.checksum) {
    s = Damaged("checksum");
  }
  return s;
}

// What was written is in the processor's caches now.
void Rebuilder::Hash() {
  XXH3_64bits_update(&hash_, hashed_, static_cast<size_t>(next_ - hashed_));
  hashed_ = next_;
}

Status Rebuilder::RunOne(uint64_t operation, uint64_t count) {
  switch (operation) {
    case kLiteral:
      return CopyLiteral(count);
    case kZeros:
      return WriteZeros(count);
    default:
      return WriteBlock(count, operation == kBlock);
  }
}

Status Rebuilder::CopyLiteral(uint64_t size) {
  if (size > operations_.size() || !Room(size)) {
    return Damaged("literal");
  }
  memcpy(next_, operations_.data(), size);
  operations_.remove_prefix(size);
  next_ += size;
  return Status::OK();
}

Status Rebuilder::WriteZeros(uint64_t size) {
  if (!Room(size)) {
    return Damaged("zeros");
  }
  memset(next_, 0, size);
  next_ += size;
  return Status::OK();
}

bool Rebuilder::BeginBlock() {
  block_ = next_;
  key_limit_ = limit_;
  value_ = nullptr;
  last_key_.clear();
  restarts_.clear();
  if (!parts_.encoding.separated) {
    return true;
  }
  uint64_t keys = 0;
  if (!GetVarint64(&operations_, &keys) || !Room(keys) ||
      keys > std::numeric_limits<uint32_t>::max()) {
    return false;
  }
  key_limit_ = value_ = block_ + keys;
  return true;
}

Status Rebuilder::WriteBlock(uint64_t entries, bool whole) {
  if (entries > numbers_left_ || entries > std::numeric_limits<uint32_t>::max() || !BeginBlock()) {
    return Damaged("block");
  }
  numbers_left_ -= entries;
  Status s;
  for (uint32_t i = 0; s.ok() && i < entries; ++i) {
    if (i % kAhead == 0) {
      s = LookUp(static_cast<size_t>(std::min<uint64_t>(kAhead, entries - i)));
    }
    if (s.ok()) {
      s = WriteEntry(found_[i % kAhead], parts_.encoding.IsRestart(i));
    }
  }
  if (s.ok() && !FinishBlock(whole)) {
    s = Damaged("block");
  }
  return s;
}

Status Rebuilder::LookUp(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint64_t number = numbers_.Get();
    Found* const found = &found_[i];
    found->literal = number == parts_.space.literal();
    if (found->literal) {
      continue;
    }
    const Reference reference = parts_.space.ReferenceOf(number);
    if (!entries_->Get(reference, &found->entry)) {
      return Missing(reference);
    }
    found->of_batch = reference.of_batch;
    PREFETCH(found->entry.key.data(), 0, 3);
    PREFETCH(found->entry.value.data(), 0, 3);
  }
  return Status::OK();
}

Status Rebuilder::WriteEntry(const Found& found, bool restart) {
  if (restart) {
    restarts_.push_back(static_cast<uint32_t>(next_ - block_));
  }
  return found.literal ? CopyEntry(restart) : WriteReferenced(found, restart);
}

bool Rebuilder::WriteValue(const Slice& value) {
  char** const place = parts_.encoding.separated ? &value_ : &next_;
  if (value.size() > static_cast<size_t>(limit_ - *place)) {
    return false;
  }
  memcpy(*place, value.data(), value.size());
  *place += value.size();
  return true;
}

size_t Rebuilder::SharedWithLast(const Slice& user_key, const Slice& suffix) const {
  const Slice last(last_key_);
  const size_t shared = user_key.difference_offset(last);
  if (shared < user_key.size()) {
    return shared;
  }
  return shared + suffix.difference_offset(Slice(last.data() + shared, last.size() - shared));
}

Status Rebuilder::WriteReferenced(const Found& found, bool restart) {
  const Entry& entry = found.entry;
  char footer[kNumInternalBytes];
  EncodeFixed64(footer,
                PackSequenceAndType(found.of_batch ? entry.batch : entry.sequence, entry.type));
  const Slice suffix(footer, sizeof(footer));
  const uint64_t size = entry.key.size() + suffix.size();
  if (size > std::numeric_limits<uint32_t>::max() ||
      entry.value.size() > std::numeric_limits<uint32_t>::max()) {
    return Damaged("entry too large");
  }
  EntryHead head;
  if (!restart && parts_.encoding.delta) {
    head.shared = static_cast<uint32_t>(SharedWithLast(entry.key, suffix));
  }
  head.fresh = static_cast<uint32_t>(size - head.shared);
  head.value = static_cast<uint32_t>(entry.value.size());
  HeadForm form;
  form.offset = parts_.encoding.separated && restart;
  if (form.offset) {
    head.offset = static_cast<uint32_t>(value_ - key_limit_);
  }
  char bytes[kMaxHeadSize];
  const size_t head_size = static_cast<size_t>(WriteHead(head, form, bytes) - bytes);
  if (!RoomForKey(head_size + head.fresh)) {
    return Damaged("key");
  }
  last_key_.resize(head.shared);
  if (head.shared < entry.key.size()) {
    last_key_.append(entry.key.data() + head.shared, entry.key.size() - head.shared);
  }
  const size_t known = last_key_.size() - entry.key.size();  // of the footer
  last_key_.append(footer + known, sizeof(footer) - known);
  memcpy(next_, bytes, head_size);
  memcpy(next_ + head_size, last_key_.data() + head.shared, head.fresh);
  next_ += head_size + head.fresh;
  return WriteValue(entry.value) ? Status::OK() : Damaged("value");
}

Status Rebuilder::CopyEntry(bool restart) {
  HeadForm form;
  form.offset = parts_.encoding.separated && restart;
  EntryHead head;
  const char* const begin = operations_.data();
  const char* const key = ReadHead(begin, begin + operations_.size(), form, &head);
  if (key == nullptr || head.shared > last_key_.size()) {
    return Damaged("literal entry");
  }
  const uint64_t left = static_cast<size_t>(begin + operations_.size() - key);
  const size_t size = static_cast<size_t>(key - begin) + head.fresh;
  if (uint64_t{head.fresh} + head.value > left || !RoomForKey(size)) {
    return Damaged("literal entry");
  }
  last_key_.resize(head.shared);
  last_key_.append(key, head.fresh);
  memcpy(next_, begin, size);
  next_ += size;
  operations_.remove_prefix(size + head.value);
  return WriteValue(Slice(key + head.fresh, head.value)) ? Status::OK() : Damaged("literal value");
}

bool Rebuilder::FinishBlock(bool whole) {
  const uint32_t values = static_cast<uint32_t>(next_ - block_);
  if (parts_.encoding.separated) {
    if (next_ != key_limit_) {
      return false;
    }
    next_ = value_;
  }
  if (!Room(4 * restarts_.size())) {
    return false;
  }
  for (const uint32_t restart : restarts_) {
    EncodeFixed32(next_, restart);
    next_ += 4;
  }
  if (!whole) {
    return true;
  }
  if (!Room(kMaxBlockFooter + kBlockTrailerSize)) {
    return false;
  }
  next_ +=
      EncodeBlockFooter(parts_.encoding, static_cast<uint32_t>(restarts_.size()), values, next_);
  EncodeBlockTrailer(Slice(block_, static_cast<size_t>(next_ - block_)),
                     static_cast<uint64_t>(block_ - out_), parts_.checksum, parts_.context, next_);
  next_ += kBlockTrailerSize;
  return true;
}

}  // namespace

Status Rebuild(const Slice& recipe, EntrySource* entries, char* out) {
  RecipeParts parts;
  Status s = DecodeRecipe(recipe, &parts);
  return s.ok() ? Rebuilder(parts, entries, out).Run() : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
