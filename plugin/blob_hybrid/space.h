// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What space a family takes, and what it needs for its bounds. Pure functions.

#pragma once

#include <cstdint>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/files.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// The bytes that a family takes, and what of them is live. RocksDB knows only the garbage that
// compactions have come across. A value that was overwritten or
// deleted in a level above is hidden garbage: how much there is is estimated by the sketches of
// SSTs. Without these it is taken to be the most that is possible: each entry above the last level
// hides one value of mean size. Range deletions hide what SstInfo::covered says.
struct Space {
  uint64_t disk_bytes = 0;  // SSTs and blob files
  uint64_t sst_bytes = 0;
  uint64_t value_bytes = 0;       // in blob files
  uint64_t garbage_bytes = 0;     // of these, what no SST refers to
  uint64_t hidden_bytes = 0;      // of these, what may be hidden garbage
  uint64_t hidden_sst_bytes = 0;  // of sst_bytes, likewise
  uint64_t live_bytes = 0;        // of files: SSTs and values that are live, if so
  uint64_t user_bytes = 0;        // of these, keys and values
  uint64_t medium_bytes = 0;      // of value_bytes, those of medium values that SSTs refer to
  double amplification = 0;  // disk_bytes for each of user_bytes, but for `floor` of these at least
  double log_share = 0;      // medium_bytes for each of them, likewise
};

// Estimates the space of a family from the sums over its files. `floor`: space_floor.
Space Estimate(const Totals& totals, uint64_t floor);

// Tells whether much of what blob files have is a log of medium values. When it is merged it is
// there twice until the last SST that refers to it has been merged, so that the job begins sooner.
bool HasLog(const Space& space);

// The amplification from which on the job works, up to the bound at its rate. `log`: HasLog().
double SoftBound(double bound, bool log);

// The amplification from which on flushes wait for the job. Leaves room for values that are there
// twice, see Room.
double WaitBound(double bound, bool log);

// Whether the bound of space is exceeded, or that of the log.
bool IsAbove(const Space& space, const BlobHybridOptions& options);
bool IsLogAbove(const Space& space, const BlobHybridOptions& options);

// Tells whether a family's flushes should put medium values into SSTs at once, for which there is
// no room otherwise: so many entries are overwritten or deleted that the log would mostly keep
// garbage. `crowded`: it was so before; it goes on until there is room again.
bool IsCrowded(const Space& space, double bound, bool crowded);

// What a family needs the job for.
struct Needs {
  bool space = false;  // blob files are to be collected
  bool log = false;    // merges, for transient_log_budget or for room
  bool above = false;  // a bound is exceeded: flushes wait

  bool any() const { return space || log; }
};

// `ours`: the bounds are to be kept for the family.
Needs NeedsOf(const Space& space, bool ours, const BlobHybridOptions& options);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
