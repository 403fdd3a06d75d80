// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/backoff.h"

#include <algorithm>
#include <iterator>

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

uint64_t Backoff::Fail(uint64_t sst, uint64_t now) {
  Pause& pause = ssts_[sst];
  pause.length = pause.length == 0 ? kFirst : std::min(2 * pause.length, kLongest);
  pause.end = now + pause.length;
  return pause.length;
}

void Backoff::Keep(const std::set<uint64_t>& ssts) {
  for (auto it = ssts_.begin(); it != ssts_.end();) {
    it = ssts.count(it->first) > 0 ? std::next(it) : ssts_.erase(it);
  }
}

std::set<uint64_t> Backoff::Resting(uint64_t now) const {
  std::set<uint64_t> resting;
  for (const auto& [sst, pause] : ssts_) {
    if (now < pause.end) {
      resting.insert(sst);
    }
  }
  return resting;
}

std::set<uint64_t> Backoff::Due(uint64_t now) const {
  std::set<uint64_t> due;
  for (const auto& [sst, pause] : ssts_) {
    if (now >= pause.end) {
      due.insert(sst);
    }
  }
  return due;
}

uint64_t Backoff::next() const {
  uint64_t next = kNever;
  for (const auto& [sst, pause] : ssts_) {
    next = std::min(next, pause.end);
  }
  return next;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
