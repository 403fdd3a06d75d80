// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Which blob files are collected: compactions move values out of these. Pure functions.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/files.h"
#include "plugin/blob_hybrid/space.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// The garbage ratio that files are collected from: gc_garbage_ratio, or what it is by default.
double RestingRatio(const BlobHybridOptions& options);

// The garbage ratio while the job is at work for space. Requires a bound. If no file has more than
// this, known garbage is within half of what the bound allows.
double LeastRatio(const BlobHybridOptions& options);

// Blob files that are being collected, and whether that is done: no SST below level 0 that is old
// enough refers to them any more. These are still there because of snapshots, of level 0, or of
// compactions that began too early.
using Collected = std::map<uint64_t, bool>;

// The room for files that are collected. Until such a file has gone, what was moved takes space
// twice; but the more are collected at a time, the fewer times SSTs are rewritten for it.
struct Room {
  double share = 0;  // of the space that the bound allows besides live data
  // Bytes that may be there twice: up to a little more than the bound. Above it, as much as it is
  // exceeded by: then it matters more that there is an end of it.
  uint64_t twice = 0;
};

Room RoomFor(const Space& space, double bound);

// The share of garbage that each file is collected for. It is its own, but for files up to one that
// is corrected: they have it in common, as it is freed when all of them are rid of references. No
// part of that is a file with more garbage than `ratio` that is not corrected. `blobs`: all, by
// number.
std::vector<double> SharesOfGarbage(const std::vector<BlobInfo>& blobs, double ratio);

// Picks the files that compactions move values out of: those that are being collected, and of
// others with more garbage than `ratio`, by SharesOfGarbage(), the ones with the most, and the
// oldest ones of these. As many as there is room for, one at least; those that are done are not
// counted, but for corrected ones, which stay until older ones are done. All, without a bound (0).
// `blobs`: all, by number.
std::set<uint64_t> PickVictims(const std::vector<BlobInfo>& blobs, double ratio, double bound,
                               const Room& room, const Collected& collected);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
