// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tier/plan.h"

#include <algorithm>
#include <limits>

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr int kNowhere = -1;

uint64_t RoomIn(const PlannedTier& tier) {
  if (tier.budget == 0) {
    return std::numeric_limits<uint64_t>::max();
  }
  return tier.budget - std::min(tier.budget, tier.reserved);
}

// Whether `a` has the better claim to room in the tier.
bool Precedes(const PlannedFile& a, const PlannedFile& b, int tier) {
  if (a.level != b.level) {
    return a.level < b.level;
  }
  if ((a.tier == tier) != (b.tier == tier)) {
    return a.tier == tier;
  }
  return a.number > b.number;
}

class Planner {
 public:
  Planner(const std::vector<PlannedFile>& files, const std::vector<PlannedTier>& tiers)
      : files_(files), tiers_(tiers), chosen_(files.size(), kNowhere) {
    for (const PlannedTier& tier : tiers) {
      room_.push_back(RoomIn(tier));
    }
    for (size_t i = 0; i < files.size(); i++) {
      const auto tier = static_cast<size_t>(files[i].tier);
      if (tiers[tier].closed && tiers[tier].usable) {
        chosen_[i] = files[i].tier;
      }
    }
  }

  std::vector<int> Run() {
    const int last = static_cast<int>(tiers_.size()) - 1;
    for (int tier = 0; tier <= last; tier++) {
      Fill(tier, tier);
    }
    for (int tier = last; tier >= 0; tier--) {
      Fill(tier, last);
    }
    for (size_t i = 0; i < files_.size(); i++) {
      if (chosen_[i] == kNowhere) {
        chosen_[i] = files_[i].tier;
      }
    }
    return chosen_;
  }

 private:
  // Puts into `tier` what has no place yet and belongs to it or to another one up to `up_to`.
  void Fill(int tier, int up_to) {
    const auto t = static_cast<size_t>(tier);
    if (!tiers_[t].usable || tiers_[t].closed) {
      return;
    }
    for (const size_t i : Claims(tier, up_to)) {
      if (files_[i].size <= room_[t]) {
        chosen_[i] = tier;
        if (tiers_[t].budget != 0) {
          room_[t] -= files_[i].size;
        }
      }
    }
  }

  // Indices of files, the best claim first.
  std::vector<size_t> Claims(int tier, int up_to) const {
    std::vector<size_t> claims;
    for (size_t i = 0; i < files_.size(); i++) {
      if (chosen_[i] == kNowhere && files_[i].wanted <= up_to) {
        claims.push_back(i);
      }
    }
    std::stable_sort(claims.begin(), claims.end(),
                     [&](size_t a, size_t b) { return Precedes(files_[a], files_[b], tier); });
    return claims;
  }

  const std::vector<PlannedFile>& files_;
  const std::vector<PlannedTier>& tiers_;
  std::vector<int> chosen_;     // tier of each file
  std::vector<uint64_t> room_;  // bytes left in each tier
};

}  // namespace

// Planning again after the moves changes nothing: the files that a tier took are then there
// already, come first within their level, and so fit again, and leave no more room to the rest than
// before.
std::vector<int> Plan(const std::vector<PlannedFile>& files,
                      const std::vector<PlannedTier>& tiers) {
  return Planner(files, tiers).Run();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
