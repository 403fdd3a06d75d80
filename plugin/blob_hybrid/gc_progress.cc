// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/gc_progress.h"

#include <algorithm>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// Tracks the victims: with what SSTs there were when their collection began.
void KeepVictims(const Survey& survey, const std::set<uint64_t>& victims, Since* since) {
  Since now;
  for (const uint64_t victim : victims) {
    const auto it = since->find(victim);
    now[victim] = it == since->end() ? survey.max_sst_number() : it->second;
  }
  *since = std::move(now);
}

}  // namespace

GcProgress::Aim GcProgress::AimOf(const std::vector<BlobInfo>& blobs) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<BlobInfo> known = blobs;
  for (BlobInfo& blob : known) {
    const auto surveyed = garbage_.find(blob.number);
    if (surveyed != garbage_.end()) {
      blob.garbage_bytes = std::max(blob.garbage_bytes, surveyed->second);
      blob.corrected = true;
    }
  }
  return {PickVictims(known, near_ ? LeastRatio(options_) : RestingRatio(options_),
                      options_.max_space_amplification, room_, collected_),
          near_};
}

void GcProgress::SetRoom(const Room& room, std::map<uint64_t, uint64_t> garbage) {
  std::lock_guard<std::mutex> lock(mutex_);
  room_ = room;
  garbage_ = std::move(garbage);
}

Since GcProgress::Track(const Survey& survey, const std::set<uint64_t>& bad) {
  Since since;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    near_ = true;
    since = since_;
  }
  SetCollected(FindCollected(survey, since, bad));
  KeepVictims(survey, AimOf(survey.blobs).victims, &since);
  SetCollected(FindCollected(survey, since, bad));
  std::lock_guard<std::mutex> lock(mutex_);
  since_ = since;
  return since;
}

void GcProgress::Rest() {
  std::lock_guard<std::mutex> lock(mutex_);
  near_ = false;
  since_.clear();
  collected_.clear();
}

bool GcProgress::Restart() {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool tracked = !since_.empty();
  since_.clear();
  return tracked;
}

void GcProgress::SetCollected(Collected collected) {
  std::lock_guard<std::mutex> lock(mutex_);
  collected_ = std::move(collected);
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
