// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What space a family takes, and which SSTs to compact for less. Pure functions.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/files.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// RocksDB knows only the garbage that compactions have come across. A value that was overwritten or
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

Space Estimate(const Totals& totals, uint64_t floor);

// Whether much of what blob files have is a log of medium values. When it is merged it is there
// twice until the last SST that refers to it has been merged, so that the job begins sooner.
bool HasLog(const Space& space);

// From this amplification on the job works, up to the bound at its rate. `log`: HasLog().
double SoftBound(double bound, bool log);

// From this one on flushes wait for it. It leaves room for values that are there twice, see Room.
double WaitBound(double bound, bool log);

// Whether a family's flushes should put medium values into SSTs at once, for which there is no room
// otherwise: so many entries are overwritten or deleted that the log would mostly keep garbage.
// `crowded`: it was so before; it goes on until there is room again.
bool IsCrowded(const Space& space, double bound, bool crowded);

// What a family needs; `ours`: if the bounds are to be kept for it. `above`: a bound is exceeded.
struct Needs {
  bool space = false;
  bool log = false;  // merges, for transient_log_budget or for room
  bool above = false;

  bool any() const { return space || log; }
};

Needs NeedsOf(const Space& space, bool ours, const BlobHybridOptions& options);

// Compactions to this level and below merge. `last_level`: the deepest one that has files.
int MergeLevelOf(MergeLevel option, int last_level);

// The garbage ratio that files are collected from: gc_garbage_ratio, or what it is by default.
double RestingRatio(const BlobHybridOptions& options);

// The same while the job is at work for space, so there is a bound. If no file has more than this,
// known garbage is within half of what the bound allows.
double LeastRatio(const BlobHybridOptions& options);

// What a job does next.
struct Plan {
  std::vector<SstInfo> inputs;  // none: nothing to do
  int output_level = 0;
};

// For each blob file that is collected: SSTs with larger numbers were made when that had begun, and
// do not refer to it.
using Since = std::map<uint64_t, uint64_t>;

// Blob files that are being collected, and whether that is done: no SST below level 0 that is old
// enough refers to them any more. These are still there because of snapshots, of level 0, or of
// compactions that began too early.
using Collected = std::map<uint64_t, bool>;

// What is for files that are collected. Until such a file has gone, what was moved takes space
// twice; but the more are collected at a time, the fewer times SSTs are rewritten for it.
struct Room {
  double share = 0;  // of the space that the bound allows besides live data
  // Bytes that may be there twice: up to a little more than the bound. Above it, as much as it is
  // exceeded by: then it matters more that there is an end of it.
  uint64_t twice = 0;
};

Room RoomFor(const Space& space, double bound);

// The files that compactions move values out of: those that are being collected, and of others with
// more garbage than `ratio` the ones with the largest shares of it. As many as there is room for,
// those that are done not counted; one at least. Without a bound (0): all.
std::set<uint64_t> PickVictims(const std::vector<BlobInfo>& blobs, double ratio, double bound,
                               const Room& room, const Collected& collected);

// Those that are tracked.
Collected FindCollected(const Survey& survey, const Since& since);

// The jobs that gain most for their cost, in bytes: an SST of the last level is rewritten where it
// is, or one of a level above, but level 0, is pushed to the next level that has SSTs, together
// with those that overlap with it there.
// - Gain: what the SSTs refer to in blob files that are collected, times the garbage there for each
//   byte that has to be moved. In pushes to the last level half of the hidden bytes besides, by
//   entries: uncovered garbage must still be collected.
// - Cost: the SSTs and what is moved, read and written, and 16 KiB for the job itself. SSTs above
//   the last level whose range deletions hide more than the push costs are pushed to it first. If
//   there is nothing to gain and still something is hidden, SSTs are pushed to the last level;
//   level 0 as a whole. `busy`: numbers of SSTs that cannot be compacted now. As many jobs as cost
//   up to a thirty-second of the family's bytes (64 MB at most), which have no SST in common, so
//   that one survey serves them all. SSTs of the last level go together with neighbours that gain
//   at least half as much for their cost.
std::vector<Plan> Pick(const Survey& survey, const Space& space, const Since& since,
                       const std::set<uint64_t>& busy);

// What to merge early: the SST that refers to the oldest file, for the oldest ones are the first to
// be rid of all their references; of those that refer to the same one, the SST that refers to most.
// Level 0 comes last. SSTs that got to the merge level by being moved are compacted where they are,
// once: `merged` are what merges have made, which refer to the log for snapshots alone.
Plan PickMerge(const Survey& survey, MergeLevel merge_level, const std::set<uint64_t>& merged,
               const std::set<uint64_t>& busy);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
