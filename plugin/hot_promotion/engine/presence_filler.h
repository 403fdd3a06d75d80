// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>

#include "plugin/hot_promotion/engine/state.h"
#include "plugin/hot_promotion/store/store.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Tells the PresenceFilter of all copies, a part of the store at a time: after the store was
// opened, and when there are too many marks of copies that are gone. Those who add copies meanwhile
// tell of them themselves. Not thread-safe.
class PresenceFiller {
 public:
  explicit PresenceFiller(EngineState* state) : state_(state) {}

  // Reads the next part of the store, if there is something to tell. After an error copies are
  // looked for in the store until Forget().
  Status Continue(Store* store);

  // Starts anew with the next Continue(): the store is another one.
  void Forget();

  // Whether Continue() should be called soon.
  bool IsUnderWay() const { return telling_ && !failed_; }

 private:
  void Begin(Store* store);
  bool IsOutdated(Store* store) const;

  EngineState* const state_;
  bool telling_ = false;
  bool told_once_ = false;
  bool failed_ = false;
  std::string next_;  // key of the store from which to go on
  uint64_t written_when_told_ = 0;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
