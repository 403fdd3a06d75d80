// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Which values of a database are worth separating.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plugin/blob_hybrid/model.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// What a family has, from a sample of its SSTs.
struct Profile {
  uint64_t sampled = 0;  // records of SSTs that were read
  double records = 0;    // of the family; an estimate
  double key_bytes = 0;  // of a key, on average
  std::vector<SizeClass>
      classes;          // by size of the value; those of the sample, scaled to the family
  Tree tree;            // as the family is configured
  uint64_t cutoff = 0;  // min_blob_size of the family; 0: no blob files
};

struct Advice {
  Profile profile;
  double overwrites = 0;  // share of the writes; an estimate for the database as a whole
  Thresholds thresholds;
  double small_share = 0;  // of the bytes of records
  double medium_share = 0;
  double large_share = 0;
  Cost in_place;   // all values in SSTs
  Cost separated;  // all values in blob files, collected by garbage
  Cost large;      // large values in blob files, all others in SSTs
  Cost hybrid;     // medium ones, too, until they come to the last level
  // The settings for large values. 0: blob files are of no use, or take too much space.
  uint64_t min_blob_size = 0;
  double gc_garbage_ratio = 0;
  bool space_kept = false;  // the settings lead to no more space than they may

  std::string ToString() const;  // a line "name: value" each
  std::string ToJson() const;
};

// Advises from what is known: pure. `max_space`: the most space amplification that the settings may
// lead to. If no settings keep to it they are those for least garbage.
Advice Advise(Profile profile, double overwrites, double max_space);

// Samples the SSTs of a database, which may be open. Overwrites are told by sequence numbers: there
// have been so many writes, and there are so many keys. Families by name. Errors: those of
// LookAtFamilies(), and of reading SSTs.
Status AdviseDatabase(const std::string& path, double max_space,
                      std::map<std::string, Advice>* families);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
