// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/space.h"

#include <algorithm>
#include <cmath>

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// Shares of the way to the bound; the second ones with a log.
constexpr double kSoft[] = {0.82, 0.7};
constexpr double kWait[] = {0.88, 0.8};
constexpr double kRoomy = 0.5;
constexpr double kSoftLog = 0.8;  // of the budget
constexpr double kMuchHidden = 0.05;

// The share of live bytes of files: with less garbage the job would do much for little.
constexpr double kLeastGarbage = 0.1;

// The share of what blob files have. A log that takes more is merged when there is too little room:
// values in SSTs need less.
constexpr double kLeastLog = 0.125;

// Keys in a sample that is believed.
constexpr uint64_t kLeastSampled = 400;

// The shares of the values in blob files that SSTs refer to, and of SSTs.
struct Shares {
  double hidden_values = 0;  // by newer entries, with their headers
  double hidden_ssts = 0;    // likewise, or deletions
  double user_values = 1;    // keys and values that live
  double user_ssts = 1;      // entries whose keys and values live there
};

double Share(uint64_t part, uint64_t of) {
  return of == 0 ? 0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(of));
}

// The entries of all SSTs.
struct Entries {
  uint64_t all = 0;
  uint64_t values = 0;   // but deletions
  uint64_t upper = 0;    // of the SSTs that may hide something
  uint64_t covered = 0;  // by range deletions of these
};

Entries EntriesOf(const Totals& totals) {
  Entries entries;
  for (int level = 0; level < static_cast<int>(totals.levels.size()); level++) {
    const Totals::Level& of_level = totals.levels[static_cast<size_t>(level)];
    entries.all += of_level.entries;
    entries.values += of_level.values;
    if (IsUpperLevel(level, totals.last_level)) {
      entries.upper += of_level.entries;
      entries.covered += of_level.covered;
    }
  }
  return entries;
}

// Takes the most that is possible: each entry above the last level, deletions included, hides a
// value, and a range deletion all that it covers.
Shares MostHidden(const Entries& entries) {
  const uint64_t upper = entries.upper + entries.covered;
  Shares shares;
  shares.hidden_values = Share(upper, entries.values);
  shares.hidden_ssts = Share(upper, entries.all);
  shares.user_values = 1 - shares.hidden_values;
  shares.user_ssts = 1 - shares.hidden_ssts;
  return shares;
}

// Goes by the sketches, if all SSTs have one and the sample is large enough: with a standard
// deviation of the estimate besides.
Shares SharesOf(const Totals& totals) {
  const Entries entries = EntriesOf(totals);
  const Shares most = MostHidden(entries);
  const Sampled& sampled = totals.sampled;
  if (totals.unsampled > 0 || sampled.keys < kLeastSampled) {
    return most;
  }
  const double margin = 1 / std::sqrt(static_cast<double>(sampled.keys));
  const double covered = Share(entries.covered, entries.all);
  const double kept = (1 - margin) * (1 - covered);
  Shares shares;
  shares.hidden_values = std::min(
      most.hidden_values, Share(sampled.hidden_blob_bytes, sampled.blob_bytes) + margin + covered);
  shares.hidden_ssts = std::min(
      most.hidden_ssts, Share(sampled.hidden_sst_bytes, sampled.sst_bytes) + margin + covered);
  shares.user_values = Share(sampled.live_blob_bytes, sampled.blob_bytes) * kept;
  shares.user_ssts = Share(sampled.live_sst_bytes, sampled.sst_bytes) * kept;
  return shares;
}

uint64_t BytesOf(uint64_t bytes, double share) {
  return static_cast<uint64_t>(static_cast<double>(bytes) * share);
}

}  // namespace

Space Estimate(const Totals& totals, uint64_t floor) {
  Space space;
  space.disk_bytes = totals.blob_file_bytes + totals.sst_bytes;
  space.sst_bytes = totals.sst_bytes;
  space.value_bytes = totals.value_bytes;
  space.garbage_bytes = totals.garbage_bytes;
  space.medium_bytes = totals.medium_bytes;
  const Shares shares = SharesOf(totals);
  const uint64_t referred = space.value_bytes - std::min(space.value_bytes, space.garbage_bytes);
  space.hidden_bytes = BytesOf(referred, shares.hidden_values);
  space.hidden_sst_bytes = BytesOf(space.sst_bytes, shares.hidden_ssts);
  space.live_bytes = referred - space.hidden_bytes + space.sst_bytes - space.hidden_sst_bytes;
  space.user_bytes =
      BytesOf(referred, shares.user_values) + BytesOf(totals.sst_user_bytes, shares.user_ssts);
  const uint64_t base = std::max({space.user_bytes, floor, uint64_t{1}});
  space.amplification = static_cast<double>(space.disk_bytes) / static_cast<double>(base);
  space.log_share = static_cast<double>(space.medium_bytes) / static_cast<double>(base);
  return space;
}

bool HasLog(const Space& space) {
  return space.medium_bytes > BytesOf(space.value_bytes, kLeastLog);
}

double SoftBound(double bound, bool log) { return 1 + (bound - 1) * kSoft[log ? 1 : 0]; }

double WaitBound(double bound, bool log) { return 1 + (bound - 1) * kWait[log ? 1 : 0]; }

bool IsAbove(const Space& space, const BlobHybridOptions& options) {
  return options.max_space_amplification > 0 &&
         space.amplification > options.max_space_amplification;
}

bool IsLogAbove(const Space& space, const BlobHybridOptions& options) {
  return options.transient_log_budget > 0 && space.log_share > options.transient_log_budget;
}

bool IsCrowded(const Space& space, double bound, bool crowded) {
  if (bound == 0 || space.amplification < 1 + (bound - 1) * kRoomy) {
    return false;
  }
  const uint64_t known =
      space.value_bytes - std::min(space.value_bytes, space.garbage_bytes) + space.sst_bytes;
  const uint64_t hidden = known - std::min(known, space.live_bytes);
  return crowded || (space.amplification > SoftBound(bound, HasLog(space)) &&
                     hidden > BytesOf(known, kMuchHidden));
}

Needs NeedsOf(const Space& space, bool ours, const BlobHybridOptions& options) {
  Needs needs;
  const double bound = options.max_space_amplification;
  const double budget = options.transient_log_budget;
  const bool log = HasLog(space);
  if (ours && bound > 0 && space.amplification > SoftBound(bound, log)) {
    const uint64_t garbage = space.disk_bytes - std::min(space.disk_bytes, space.live_bytes);
    needs.space = garbage > BytesOf(space.live_bytes, kLeastGarbage);
    needs.log = log;
    needs.above = needs.any() && space.amplification > WaitBound(bound, log);
  }
  if (ours && budget > 0) {
    needs.log = needs.log || space.log_share > budget * kSoftLog;
    needs.above = needs.above || space.log_share > budget;
  }
  return needs;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
