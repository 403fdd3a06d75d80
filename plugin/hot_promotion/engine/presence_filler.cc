// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/presence_filler.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kToldAtOnce = 32 << 20;  // bytes of the store
constexpr uint64_t kOutdatedShare = 4;      // of the budget, written since all copies were told of

}  // namespace

bool PresenceFiller::IsOutdated(Store* store) const {
  const PresenceFilter& presence = state_->presence;
  return presence.Crowded() && store->Records() < presence.Capacity() &&
         store->WrittenBytes() - written_when_told_ > state_->options.budget / kOutdatedShare;
}

Status PresenceFiller::Continue(Store* store) {
  PresenceFilter* const presence = &state_->presence;
  if (presence->IsComplete() && IsOutdated(store)) {
    presence->SetComplete(false);
  }
  if (presence->IsComplete() || failed_) {
    return Status::OK();
  }
  if (!telling_) {
    Begin(store);
  }
  const Status s = store->ForEachRecord(
      kToldAtOnce,
      [&](const Slice& key) {
        const uint64_t hash = HashOfKey(key);
        presence->Add(hash);
        if (!told_once_) {
          state_->policy.MarkUsed(hash);  // it is not known which ones did before the store closed
        }
      },
      &next_);
  if (!s.ok()) {
    failed_ = true;
  } else if (next_.empty()) {
    telling_ = false;
    told_once_ = true;
    presence->SetComplete(true);
  }
  return s;
}

void PresenceFiller::Begin(Store* store) {
  telling_ = true;
  written_when_told_ = store->WrittenBytes();
  next_.clear();
  state_->presence.Clear();
  state_->cache.ForEach([this](uint64_t hash) { state_->presence.Add(hash); });
}

void PresenceFiller::Forget() {
  state_->presence.SetComplete(false);
  telling_ = false;
  failed_ = false;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
