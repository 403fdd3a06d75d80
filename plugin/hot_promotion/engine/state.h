// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <utility>

#include "plugin/hot_promotion/engine/cache.h"
#include "plugin/hot_promotion/engine/counters.h"
#include "plugin/hot_promotion/engine/presence_filter.h"
#include "plugin/hot_promotion/engine/sampling.h"
#include "plugin/hot_promotion/engine/sst_catalog.h"
#include "plugin/hot_promotion/hot_promotion.h"
#include "plugin/hot_promotion/policy/copy_policy.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Holds what the parts of an engine share. Each member is thread-safe.
struct EngineState {
  EngineState(const HotPromotionOptions& engine_options, CopyPolicy::HotFunction is_hot)
      : options(engine_options),
        cache(options.promotion_cache),
        presence((options.budget + options.promotion_cache) / kPresenceShare),
        policy(options.budget, std::move(is_hot)) {}

  const HotPromotionOptions options;
  Counters counters;
  SstCatalog catalog;
  PromotionCache cache;
  PresenceFilter presence;  // which copies are in cache and store
  CopyPolicy policy;
  ReadSampling sampling;

 private:
  static constexpr uint64_t kPresenceShare = 128;  // memory
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
