// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/policy.h"

#include <algorithm>
#include <cmath>

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// With level 0 alone, all of it may hide something.
bool IsUpper(const Survey& survey, const SstInfo& sst) {
  return sst.level < survey.last_level || sst.level == 0;
}

// The last level that SSTs can be pushed to: the lowest one that has any, but not level 0.
int Bottom(const Survey& survey) { return std::max(survey.last_level, 1); }

// SSTs of the deepest level above the last one: of those with range deletions, if there are any, the one with most entries.
// Level 0 goes as a whole.
Plan Push(const Survey& survey, const std::set<uint64_t>& busy) {
  const SstInfo* best = nullptr;
  for (const SstInfo& sst : survey.ssts) {
    if (!IsUpper(survey, sst) || busy.count(sst.number) > 0) {
      continue;
    }
    const bool range = sst.range_deletions > 0;
    const bool best_range = best != nullptr && best->range_deletions > 0;
    if (best == nullptr || range > best_range ||
        (range == best_range &&
         (sst.level > best->level || (sst.level == best->level && sst.entries > best->entries)))) {
      best = &sst;
    }
  }
  Plan plan;
  if (best == nullptr) {
    return plan;
  }
  plan.output_level = Bottom(survey);
  for (const SstInfo& sst : survey.ssts) {
    if (&sst == best || (best->level == 0 && sst.level == 0)) {
      plan.inputs.push_back(sst);
    }
  }
  return plan;
}

// An SST that may refer to the blob file with most garbage: one that RocksDB has linked to it, else the one that refers to the
// oldest files.
Plan Collect(const Survey& survey, double ratio, const Since& since,
             const std::set<uint64_t>& busy) {
  std::vector<BlobInfo> worst;
  for (const BlobInfo& blob : survey.blobs) {
    if (blob.garbage_ratio() > ratio && since.count(blob.number) > 0) {
      worst.push_back(blob);
    }
  }
  std::sort(worst.begin(), worst.end(),
            [](const BlobInfo& a, const BlobInfo& b) { return a.garbage_bytes > b.garbage_bytes; });
  Plan plan;
  for (const BlobInfo& blob : worst) {
    const SstInfo* best = nullptr;
    for (const SstInfo& sst : survey.ssts) {
      if (sst.level == 0 || sst.oldest_blob == 0 || sst.oldest_blob > blob.number ||
          sst.number > since.at(blob.number) || busy.count(sst.number) > 0) {
        continue;
      }
      const bool linked = sst.oldest_blob == blob.number;
      const bool best_linked = best != nullptr && best->oldest_blob == blob.number;
      if (best == nullptr || linked > best_linked ||
          (linked == best_linked && sst.oldest_blob < best->oldest_blob)) {
        best = &sst;
      }
    }
    if (best != nullptr) {
      plan.inputs.push_back(*best);
      plan.output_level = best->level;
      return plan;
    }
  }
  return plan;
}

}  // namespace

Space Estimate(const Survey& survey, uint64_t floor) {
  Space space;
  for (const BlobInfo& blob : survey.blobs) {
    space.disk_bytes += blob.file_bytes;
    space.value_bytes += blob.bytes;
    space.garbage_bytes += blob.garbage_bytes;
  }
  uint64_t sst_bytes = 0;
  uint64_t entries = 0;
  uint64_t values = 0;
  uint64_t upper = 0;
  bool upper_range = false;
  for (const SstInfo& sst : survey.ssts) {
    sst_bytes += sst.bytes;
    entries += sst.entries;
    values += sst.entries - std::min(sst.entries, sst.deletions);
    if (IsUpper(survey, sst)) {
      upper += sst.entries;
      upper_range = upper_range || sst.range_deletions > 0;
    }
  }
  space.disk_bytes += sst_bytes;
  space.sst_bytes = sst_bytes;
  const uint64_t referred = space.value_bytes - std::min(space.value_bytes, space.garbage_bytes);
  // A range deletion may cover everything.
  const double hidden =
      upper_range   ? 1
      : values == 0 ? 0
                    : std::min(1.0, static_cast<double>(upper) / static_cast<double>(values));
  space.hidden_bytes = static_cast<uint64_t>(static_cast<double>(referred) * hidden);
  const uint64_t hidden_sst = entries == 0 ? 0
                                           : static_cast<uint64_t>(static_cast<double>(sst_bytes) *
                                                                   static_cast<double>(upper) /
                                                                   static_cast<double>(entries));
  space.live_bytes = referred - space.hidden_bytes + sst_bytes - std::min(sst_bytes, hidden_sst);
  const uint64_t base = std::max({space.live_bytes, floor, uint64_t{1}});
  space.amplification = static_cast<double>(space.disk_bytes) / static_cast<double>(base);
  return space;
}

double SoftBound(double bound) { return 1 + (bound - 1) * 0.8; }

double LeastRatio(const BlobHybridOptions& options) {
  if (options.max_space_amplification == 0) {
    return options.gc_garbage_ratio;
  }
  return std::min(options.gc_garbage_ratio, (1 - 1 / options.max_space_amplification) / 2);
}

uint64_t AllowedHidden(const Space& space, double bound) {
  if (space.value_bytes == 0) {
    return 0;
  }
  const auto values = static_cast<double>(space.value_bytes);
  const double root = std::sqrt(static_cast<double>(space.sst_bytes) / values);
  return static_cast<uint64_t>(values * (1 - 1 / bound) * root / (1 + root));
}

Plan Pick(const Survey& survey, const Space& space, uint64_t allowed_hidden, double ratio,
          const Since& since, const std::set<uint64_t>& busy) {
  const bool push_first = space.hidden_bytes > allowed_hidden;
  Plan plan = push_first ? Push(survey, busy) : Collect(survey, ratio, since, busy);
  if (plan.inputs.empty()) {
    plan = push_first ? Collect(survey, ratio, since, busy) : Push(survey, busy);
  }
  return plan;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
