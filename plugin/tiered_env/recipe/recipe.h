// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The recipe of an SST: its exact bytes, as literal bytes and references to entries of logs.
// FORMAT.md has the format. Pure functions, without I/O and thread-safe, as far as the sources
// given are.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "plugin/tiered_env/recipe/entry.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Knows the entries of logs that an SST may have come from.
class ReferenceSource {
 public:
  virtual ~ReferenceSource() = default;

  // Soon asked for, perhaps.
  virtual void Expect(SequenceNumber /*sequence*/) {}
  // Finds an entry with type, key and value of `entry`, an entry of an SST, and with its sequence
  // number: its own, or, `of_batch`, its batch's. Takes a reference to it. MakeRecipe() calls it at
  // most once for each entry, and the recipe has every reference that was taken.
  virtual bool Take(const Entry& entry, Reference* reference) = 0;
};

struct RecipeSummary {
  uint64_t size = 0;      // of the SST, bytes
  uint64_t checksum = 0;  // XXH3, 64 bits, of the SST
  uint64_t entries = 0;   // in data blocks that are not compressed
  uint64_t references = 0;
  uint64_t literal_bytes = 0;  // keys and values of entries without a reference
  uint64_t blocks = 0;         // of data
  uint64_t compressed_blocks = 0;
};

// Makes the recipe of `sst`, a whole file. Never fails: what it does not understand is literal.
void MakeRecipe(const Slice& sst, ReferenceSource* source, std::string* recipe,
                RecipeSummary* summary);

// Corruption: damaged. NotSupported: a recipe of a later version. So do the functions below.
Status DecodeSummary(const Slice& recipe, RecipeSummary* summary);

// Visits each reference, in the order of Take(), and as often as it is in the recipe. The whole
// recipe is checked before the first visit.
Status ForEachReference(const Slice& recipe, const std::function<void(const Reference&)>& visit);

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
// checksum; `out` is then of no use.
Status Rebuild(const Slice& recipe, EntrySource* entries, char* out);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
