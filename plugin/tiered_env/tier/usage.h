// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "plugin/tiered_env/tier/tier.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Usage: what SSTs and blob files of one database take of the budgets of tiers, and of those that
// column families have there. The name of a family is empty as long as it is not known: then the
// file takes of the tier's budget only. Thread-safe; no other lock is taken.
class Usage {
 public:
  // `counted`: the tiers count these files already, as those of the same database that is open for
  // RocksDB. Nothing is taken of their budgets or given back; column families' are apart.
  explicit Usage(bool counted = false) : counted_(counted) {}

  // Takes bytes; false if the budget of the tier has not so many, or that of the family has not, or
  // none at all any more. `left`: bytes that must be left in the tier.
  bool Reserve(Tier* tier, const std::string& family, uint64_t bytes, uint64_t left = 0);
  // The same, whatever the family's budget.
  bool ReserveOfTier(Tier* tier, const std::string& family, uint64_t bytes, uint64_t left = 0);
  // Takes bytes that are used already, whatever the budgets.
  void Take(Tier* tier, const std::string& family, uint64_t bytes);
  // Counts bytes of a tier that were taken before the family was known.
  void Learn(const Tier& tier, const std::string& family, uint64_t bytes);
  void Release(Tier* tier, const std::string& family, uint64_t bytes);

  bool HasRoom(const Tier& tier, const std::string& family, uint64_t bytes) const;
  // Whether the family's budget has, or there is none.
  bool FamilyHasRoom(const Tier& tier, const std::string& family, uint64_t bytes) const;
  // Bytes that a family has in a tier; 0 where it has no budget.
  uint64_t Of(const std::string& family, const Tier& tier) const;

 private:
  using Key = std::pair<int, std::string>;  // index of the tier, family

  // Bytes; requires mutex_.
  uint64_t UsedOf(const Key& key) const;
  bool ReserveIn(Tier* tier, uint64_t bytes, uint64_t left) const {
    return counted_ || tier->Reserve(bytes, left);
  }

  const bool counted_;
  mutable std::mutex mutex_;
  std::map<Key, uint64_t> used_;  // bytes; guarded by mutex_
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
