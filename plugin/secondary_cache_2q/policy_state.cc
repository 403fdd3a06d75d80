// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What of a policy is in the cache file between a clean close and the next opening: see FORMAT.md.

#include <algorithm>

#include "plugin/secondary_cache_2q/coding.h"
#include "plugin/secondary_cache_2q/policy.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

constexpr size_t kHead = 20;
constexpr double kFactorUnit = 1024;

}  // namespace

void TwoQ::Save(size_t most, std::string* to) const {
  PutFixed32(to, hand_);
  PutFixed32(to, index_.ids());
  PutFixed64(to, residency_.blocks());
  PutFixed32(to, static_cast<uint32_t>(window_.factor() * kFactorUnit));
  const size_t bits = to->size();
  to->resize(bits + (index_.ids() + 7) / 8, '\0');
  for (BlockId id = 0; id < index_.ids(); id++) {
    if (index_.Is(id, Index::kUsed)) {
      (*to)[bits + id / 8] = static_cast<char>((*to)[bits + id / 8] | 1 << id % 8);
    }
  }
  ghosts_.Save(most, to);
  marked_.Save(most, to);
}

bool TwoQ::Restore(size_t most, Slice from) {
  if (from.size() < kHead) {
    return false;
  }
  const BlockId hand = DecodeFixed32(from.data());
  const BlockId ids = DecodeFixed32(from.data() + 4);
  const uint64_t resident = DecodeFixed64(from.data() + 8);
  const double factor = DecodeFixed32(from.data() + 16) / kFactorUnit;
  from.remove_prefix(kHead);
  const size_t bytes = (size_t{ids} + 7) / 8;
  if (ids > kMostBlocks || hand > ids || from.size() < bytes) {
    return false;
  }
  const Slice bits(from.data(), bytes);
  from.remove_prefix(bytes);
  References ghosts;
  References marked;
  if (!ghosts.Restore(most, &from) || !marked.Restore(most, &from) || !from.empty()) {
    return false;
  }
  for (BlockId id = 0; id < std::min(ids, index_.ids()); id++) {
    if (Has(id)) {
      index_.Set(id, Index::kUsed, (bits[id / 8] >> id % 8 & 1) != 0);
    }
  }
  hand_ = hand < index_.ids() ? hand : 0;  // the last ids may be of blocks that are not there again
  residency_.Restore(std::min<uint64_t>(resident, kMostBlocks));
  window_.Restore(factor);
  if (policy_ != Policy::kLru) {
    ghosts_ = std::move(ghosts);
    marked_ = std::move(marked);
  }
  return true;
}

void TwoQ::SetNewest(BlockId id) {
  hand_ = id + 1 < index_.ids() ? id + 1 : 0;
  for (BlockId other = 0; other < index_.ids(); other++) {
    if (Has(other)) {
      index_.Set(other, Index::kUsed, false);
    }
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
