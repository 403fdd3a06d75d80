// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What space a family takes, and which SSTs to compact for less. Pure functions.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/survey.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// RocksDB knows only the garbage that compactions have come across. A value that was overwritten or deleted in a level above is
// hidden garbage: at most, each entry above the last level hides one value of mean size.
struct Space {
  uint64_t disk_bytes = 0;     // SSTs and blob files
  uint64_t value_bytes = 0;    // in blob files
  uint64_t garbage_bytes = 0;  // of these, what no SST refers to
  uint64_t hidden_bytes = 0;   // of these, what may be hidden garbage
  uint64_t live_bytes = 0;     // SSTs and values that are live, if so
  double amplification = 0;    // disk_bytes for each live byte, but for `floor` of these at least
};

Space Estimate(const Survey& survey, uint64_t floor);

// From this amplification on the job works, up to the bound at its rate.
double SoftBound(double bound);

// The garbage ratio from which files are collected when the bound is near. If none has more, known garbage is within half of
// what the bound allows.
double UrgentRatio(const BlobHybridOptions& options);

// What a job does next.
struct Plan {
  std::vector<SstInfo> inputs;  // none: nothing to do
  int output_level = 0;
};

// For each blob file that is collected: SSTs with larger numbers were made when that had begun, and do not refer to it.
using Since = std::map<uint64_t, uint64_t>;

// `busy`: numbers of SSTs that cannot be compacted now.
Plan Pick(const Survey& survey, const Space& space, double urgent_ratio, const Since& since,
          const std::set<uint64_t>& busy);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
