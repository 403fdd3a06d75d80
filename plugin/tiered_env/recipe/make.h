// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Makes the recipe of an SST, which is written to a disk in the place of the SST. RecoveryManager
// calls it when an SST in memory is synced. After "WAL-assisted tiering", section 3.1: there the
// write-ahead log alone stands for what is in memory; here a recipe says which of its entries an
// SST has.

#pragma once

#include <string>

#include "plugin/tiered_env/recipe/entry.h"
#include "plugin/tiered_env/recipe/format.h"
#include "rocksdb/slice.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Knows the entries of logs that an SST may have come from.
class ReferenceSource {
 public:
  virtual ~ReferenceSource() = default;

  // Take() may soon be called for an entry with this number.
  virtual void Expect(SequenceNumber /*sequence*/) {}
  // Finds an entry with type, key and value of `entry`, an entry of an SST, and with its sequence
  // number: its own, or, `of_batch`, its batch's. Takes a reference to it. MakeRecipe() calls it at
  // most once for each entry, and the recipe has every reference that was taken.
  virtual bool Take(const Entry& entry, Reference* reference) = 0;
};

// Makes the recipe of `sst`, a whole file. Never fails: what it does not understand is literal.
// Thread-safe, as far as `source` is.
void MakeRecipe(const Slice& sst, ReferenceSource* source, std::string* recipe,
                RecipeSummary* summary);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
