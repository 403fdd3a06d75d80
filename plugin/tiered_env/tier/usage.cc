// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tier/usage.h"

#include <algorithm>

#include "plugin/tiered_env/options/tier_options.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Whether so many fit. What has used up its budget has no room for a file that is still empty.
bool Fits(uint64_t bytes, uint64_t used, uint64_t budget) {
  return used < budget && bytes <= budget - used;
}

}  // namespace

uint64_t Usage::UsedOf(const Key& key) const {
  const auto it = used_.find(key);
  return it == used_.end() ? 0 : it->second;
}

uint64_t Usage::Of(const std::string& family, const Tier& tier) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return UsedOf({tier.index(), family});
}

bool Usage::Reserve(Tier* tier, const std::string& family, uint64_t bytes, uint64_t left) {
  const uint64_t budget = FamilyBudgetOf(tier->options(), family);
  if (budget == 0) {
    return ReserveIn(tier, bytes, left);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t& used = used_[{tier->index(), family}];
  if (!Fits(bytes, used, budget) || !ReserveIn(tier, bytes, left)) {
    return false;
  }
  used += bytes;
  return true;
}

bool Usage::ReserveOfTier(Tier* tier, const std::string& family, uint64_t bytes, uint64_t left) {
  if (!ReserveIn(tier, bytes, left)) {
    return false;
  }
  Learn(*tier, family, bytes);
  return true;
}

void Usage::Take(Tier* tier, const std::string& family, uint64_t bytes) {
  if (!counted_) {
    tier->Take(bytes);
  }
  Learn(*tier, family, bytes);
}

void Usage::Learn(const Tier& tier, const std::string& family, uint64_t bytes) {
  if (FamilyBudgetOf(tier.options(), family) != 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    used_[{tier.index(), family}] += bytes;
  }
}

void Usage::Release(Tier* tier, const std::string& family, uint64_t bytes) {
  if (!counted_) {
    tier->Release(bytes);
  }
  if (FamilyBudgetOf(tier->options(), family) != 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    uint64_t& used = used_[{tier->index(), family}];
    used -= std::min(used, bytes);
  }
}

bool Usage::HasRoom(const Tier& tier, const std::string& family, uint64_t bytes) const {
  return tier.HasRoom(bytes) && FamilyHasRoom(tier, family, bytes);
}

bool Usage::FamilyHasRoom(const Tier& tier, const std::string& family, uint64_t bytes) const {
  const uint64_t budget = FamilyBudgetOf(tier.options(), family);
  return budget == 0 || Fits(bytes, Of(family, tier), budget);
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
