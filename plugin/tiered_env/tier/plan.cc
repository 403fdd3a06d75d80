// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tier/plan.h"

#include <algorithm>

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr int kNowhere = -1;

// Bytes of a budget.
class Room {
 public:
  Room(uint64_t budget, uint64_t reserved)
      : limited_(budget != 0), left_(budget - std::min(budget, reserved)) {}

  bool Has(uint64_t bytes) const { return !limited_ || bytes <= left_; }
  void Take(uint64_t bytes) { left_ -= limited_ ? bytes : 0; }

 private:
  const bool limited_;
  uint64_t left_;
};

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
      room_.emplace_back(tier.budget, tier.reserved);
      family_room_.emplace_back();
      for (const PlannedFamily& family : tier.families) {
        family_room_.back().emplace_back(family.budget, family.reserved);
      }
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
      Room* const of_family = RoomOf(files_[i], t);
      if (room_[t].Has(files_[i].size) &&
          (of_family == nullptr || of_family->Has(files_[i].size))) {
        chosen_[i] = tier;
        room_[t].Take(files_[i].size);
        if (of_family != nullptr) {
          of_family->Take(files_[i].size);
        }
      }
    }
  }

  // Returns that of the file's column family in a tier; null: it has no budgets.
  Room* RoomOf(const PlannedFile& file, size_t tier) {
    return file.family < 0 ? nullptr : &family_room_[tier][static_cast<size_t>(file.family)];
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
  std::vector<int> chosen_;                     // tier of each file
  std::vector<Room> room_;                      // in each tier
  std::vector<std::vector<Room>> family_room_;  // of each family in it
};

}  // namespace

// Planning again after the moves changes nothing: the files that a tier took are then there
// already, come first within their level, and so fit again, and leave no more room to the rest than
// before, of the tier and of each family.
std::vector<int> Plan(const std::vector<PlannedFile>& files,
                      const std::vector<PlannedTier>& tiers) {
  return Planner(files, tiers).Run();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
