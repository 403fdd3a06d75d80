// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plugin/hot_promotion/engine/directory.h"
#include "plugin/hot_promotion/engine/state.h"
#include "plugin/hot_promotion/store/store.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Adds copies to the store, with what is known of their SSTs, and tells the PresenceFilter.
// Thread-safe.
class CopyWriter {
 public:
  // Gives one record after the other, in bytewise order of their keys; false at their end. What it
  // gave must stay valid.
  using NextRecord = std::function<bool(Slice* user_key, Slice* value)>;

  // `wake` is called when there is no room. All of these live longer.
  CopyWriter(EngineState* state, HotDirectory* directory, std::function<void()> wake);

  // Adds records of the promotion cache, by key. Leaves out those of SSTs that are gone. Counts
  // what was promoted. Busy: there is no room.
  Status Promote(Store* store, const std::vector<Store::Record>& records);

  // Adds the records of an SST that was written and is in the catalog. May wait for a moment for
  // room. Counts what was retained, and what was lost.
  void Retain(const FileId& file, const NextRecord& next);

 private:
  Status Add(Store* store, const std::vector<Store::Record>& records);
  Status AddInTime(Store* store, const std::vector<Store::Record>& records, uint64_t deadline);

  EngineState* const state_;
  HotDirectory* const directory_;
  const std::function<void()> wake_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
