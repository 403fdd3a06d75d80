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

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
