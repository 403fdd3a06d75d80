// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Rebuilds an SST from its recipe, byte for byte. Recovery calls it when a database is opened, for
// each SST that memory has lost. After "WAL-assisted tiering", section 3.3: there all entries of
// the logs are inserted anew; here the SSTs are what they were, so that the MANIFEST holds.

#pragma once

#include "plugin/tiered_env/recipe/entry.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Has the entries that recipes refer to.
class EntrySource {
 public:
  virtual ~EntrySource() = default;

  // `entry->sequence` and `batch` as in the log. The slices stay valid until Rebuild() is over,
  // which looks up some entries ahead of their use. False: not there.
  virtual bool Get(const Reference& reference, Entry* entry) = 0;
};

// Writes exactly `size` bytes, as of the recipe's summary, to `out`. Corruption: the recipe is
// damaged, an entry is not there (the message names segment and ordinal), or the SST has another
// checksum; `out` is then of no use. Thread-safe, as far as `entries` is.
Status Rebuild(const Slice& recipe, EntrySource* entries, char* out);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
