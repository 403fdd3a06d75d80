// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <memory>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/counters.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// The options of the families that share a BlobHybridFactory, and what is counted for them. The
// factory owns it. The options are constant once the factory has been configured: it refuses others
// as long as an open family has these.
struct Settings {
  static const char* kName() { return "BlobHybridSettings"; }

  BlobHybridOptions options;
  const std::shared_ptr<Counters> counters = std::make_shared<Counters>();
  mutable std::atomic<int> families{0};  // open ones that the listener has heard of
};

// Finds the settings of a family by its filter factory, which they keep alive. Null if the family
// does not use the plugin.
std::shared_ptr<const Settings> SettingsOf(const std::shared_ptr<CompactionFilterFactory>& factory);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
