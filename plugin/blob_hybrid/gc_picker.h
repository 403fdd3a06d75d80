// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Which SSTs to compact for less space. Pure functions.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/files.h"
#include "plugin/blob_hybrid/space.h"
#include "plugin/blob_hybrid/victims.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// The merge level: compactions to it and below put medium values into SSTs. `last_level`: the
// deepest one that has files.
int MergeLevelOf(MergeLevel option, int last_level);

// A compaction that the job runs next.
struct Plan {
  std::vector<SstInfo> inputs;  // none: nothing to do
  int output_level = 0;
};

// The blob files that are collected, each with the largest number of an SST when that began: those
// with larger numbers do not refer to it.
using Since = std::map<uint64_t, uint64_t>;

// Tells of the blob files in `since` which ones are done, but for what the SSTs in `bad` refer to,
// which cannot be compacted for a time. The job asks before it picks victims and after, as what is
// done leaves room for others.
Collected FindCollected(const Survey& survey, const Since& since, const std::set<uint64_t>& bad);

// Picks the compactions that gain most for their cost, in bytes: an SST of the last level is
// rewritten where it is, or one of a level above, but level 0, is pushed to the next level that has
// SSTs, together with those that overlap with it there.
// - Gain: what the SSTs refer to in blob files that are collected, times the garbage there for each
//   byte that has to be moved, by SharesOfGarbage(). In pushes to the last level half of the hidden
//   bytes besides, by entries: uncovered garbage must still be collected.
// - Cost: the SSTs and what is moved, read and written, and 16 KiB for the compaction itself. SSTs
//   above the last level whose range deletions hide more than the push costs are pushed to it
//   first. If there is nothing to gain and still something is hidden, SSTs are pushed to the last
//   level; level 0 as a whole. What is hidden does not count while all that is too much only waits
//   for older blob files to go. As many compactions as cost up to a thirty-second of the family's
//   bytes (64 MB at most), which have no SST in common, so that one survey serves them all. SSTs of
//   the last level go together with neighbours that gain at least half as much for their cost.
//   `busy`: numbers of SSTs that cannot be compacted now. Requires a bound.
std::vector<Plan> PickCompactions(const Survey& survey, const Space& space, const Since& since,
                                  const std::set<uint64_t>& busy, const BlobHybridOptions& options);

// Picks what to merge early: the SST that refers to the oldest file, for the oldest ones are the
// first to be rid of all their references; of those that refer to the same one, the SST that refers
// to most.
// Level 0 comes last. SSTs that got to the merge level by being moved are compacted where they are,
// once: `merged` are what merges have made, which refer to the log for snapshots alone.
Plan PickMerge(const Survey& survey, MergeLevel merge_level, const std::set<uint64_t>& merged,
               const std::set<uint64_t>& busy);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
