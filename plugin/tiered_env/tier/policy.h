// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <vector>

#include "plugin/tiered_env/tier/placement.h"
#include "plugin/tiered_env/tier/tier.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

using Tiers = std::vector<std::shared_ptr<Tier>>;

// The tiers, the fastest first, and what belongs to which.
struct Policy {
  Tiers tiers;
  Placement placement;
  int home = 0;

  Tier* tier(int index) const { return tiers[static_cast<size_t>(index)].get(); }
  Tier* home_tier() const { return tier(home); }
};

// The tiers for a file that belongs to `first`: that one, the tier's other directories, the tiers
// after it, home.
inline std::vector<Tier*> SpillOrder(const Policy& policy, Tier* first) {
  std::vector<Tier*> result = {first};
  for (size_t i = static_cast<size_t>(first->first()); i < policy.tiers.size(); i++) {
    if (policy.tiers[i].get() != first) {
      result.push_back(policy.tiers[i].get());
    }
  }
  if (policy.home < first->index()) {
    result.push_back(policy.home_tier());
  }
  return result;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
