// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/sst_index.h"

#include <algorithm>

#include "plugin/secondary_cache_2q/block_form.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// Behind each block of an SST: the type of its compression, and a checksum.
constexpr uint64_t kBlockTrailer = 5;

// Goes over the entries of an index block. An entry has the bytes of the key that it shares with
// the entry before, its own bytes of the key, without `delta_values` the bytes of the value, then
// its own bytes of the key and the value. A value is a place. With `delta_values` it is only the
// difference of the sizes, if the key shares bytes: the block follows the one before.
class IndexEntries {
 public:
  IndexEntries(const Slice& bytes, const SstIndex::Form& form) : form_(form) {
    Restarts restarts;
    sound_ = FindRestarts(bytes, &restarts);
    if (sound_) {
      left_ = Slice(bytes.data(), restarts.entries);
    }
  }

  bool Next() {
    if (sound_ && !left_.empty()) {
      sound_ = Parse();
      return sound_;
    }
    return false;
  }
  // Whether there was nothing but entries so far.
  bool sound() const { return sound_; }
  Slice UserKey() const {
    return Slice(key_.data(), key_.size() - (form_.user_keys ? 0 : kKeyTrailer));
  }
  const SstIndex::Place& place() const { return place_; }

 private:
  bool Parse() {
    uint32_t shared;
    uint32_t own;
    uint32_t value = 0;
    if (!TakeLength(&left_, &shared) || !TakeLength(&left_, &own) ||
        (!form_.delta_values && !TakeLength(&left_, &value)) || shared > key_.size() ||
        uint64_t{own} + value > left_.size()) {
      return false;
    }
    key_.resize(shared);
    key_.append(left_.data(), own);
    left_.remove_prefix(own);
    if (key_.size() < (form_.user_keys ? 0 : kKeyTrailer)) {
      return false;
    }
    if (form_.delta_values) {
      return TakePlace(&left_, shared != 0) && (!form_.first_keys || SkipFirstKey());
    }
    Slice bytes(left_.data(), value);
    left_.remove_prefix(value);
    return TakePlace(&bytes, /*delta=*/false);
  }

  bool TakePlace(Slice* bytes, bool delta) {
    if (!delta) {
      return TakeNumber(bytes, &place_.offset) && TakeNumber(bytes, &place_.size);
    }
    uint64_t zigzag;
    if (!TakeNumber(bytes, &zigzag)) {
      return false;
    }
    place_.offset += place_.size + kBlockTrailer;
    place_.size += zigzag >> 1 ^ (0 - (zigzag & 1));
    return true;
  }

  bool SkipFirstKey() {
    uint32_t length;
    if (!TakeLength(&left_, &length) || length > left_.size()) {
      return false;
    }
    left_.remove_prefix(length);
    return true;
  }

  const SstIndex::Form form_;
  bool sound_;
  Slice left_;
  std::string key_;
  SstIndex::Place place_;
};

}  // namespace

bool SstIndex::Add(const Slice& index_block, const Form& form) {
  IndexEntries entries(index_block, form);
  while (entries.Next()) {
    const Place& place = entries.place();
    if (!blocks_.empty() && place.offset < blocks_.back().place.offset + kBlockTrailer) {
      return false;
    }
    if (ExpectedMemory(keys_.size(), blocks_.size()) > kMostMemory) {
      return false;
    }
    keys_.append(entries.UserKey().data(), entries.UserKey().size());
    blocks_.push_back({place, keys_.size()});
  }
  return entries.sound();
}

bool SstIndex::ReadTopLevel(const Slice& index_block, const Form& form,
                            std::vector<Place>* places) {
  IndexEntries entries(index_block, form);
  while (entries.Next()) {
    places->push_back(entries.place());
  }
  return entries.sound();
}

Slice SstIndex::Separator(size_t block) const {
  const uint64_t begin = block == 0 ? 0 : blocks_[block - 1].key_end;
  return Slice(keys_.data() + begin, blocks_[block].key_end - begin);
}

size_t SstIndex::Find(uint64_t quarter) const {
  const auto it = std::lower_bound(
      blocks_.begin(), blocks_.end(), quarter,
      [](const Entry& entry, uint64_t wanted) { return entry.place.offset >> 2 < wanted; });
  const bool found = it != blocks_.end() && it->place.offset >> 2 == quarter;
  return found ? static_cast<size_t>(it - blocks_.begin()) : size();
}

void SstIndex::ShrinkToFit() {
  keys_.shrink_to_fit();
  blocks_.shrink_to_fit();
}

size_t SstIndex::MemoryUsage() const {
  return keys_.capacity() + blocks_.capacity() * sizeof(Entry) + first_key_.capacity();
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
