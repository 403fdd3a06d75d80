// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/policy.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr double kSoft = 0.8;

// Of the bytes that the bound allows besides live ones: the files that are collected at a time.
constexpr double kVictims = 0.15;

// With level 0 alone, all of it may hide something.
bool IsUpper(const Survey& survey, const SstInfo& sst) {
  return sst.level < survey.last_level || sst.level == 0;
}

// The level that SSTs are pushed to: the last one, but not level 0. With dynamic levels the first one that is used lies deep.
int Bottom(const Survey& survey) { return std::max(survey.last_level, survey.base_level); }

// An SST, or all of level 0, to another level.
Plan To(int output_level, const Survey& survey, const SstInfo& input) {
  Plan plan;
  plan.output_level = output_level;
  for (const SstInfo& sst : survey.ssts) {
    if (sst.number == input.number || (input.level == 0 && sst.level == 0)) {
      plan.inputs.push_back(sst);
    }
  }
  return plan;
}

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
  return best == nullptr ? Plan() : To(Bottom(survey), survey, *best);
}

// Whether an SST may refer to a blob file. `since`: SSTs with larger numbers do not.
bool MayRefer(const SstInfo& sst, uint64_t blob, uint64_t since) {
  return sst.level > 0 && sst.oldest_blob != 0 && sst.oldest_blob <= blob && sst.number <= since;
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
      if (!MayRefer(sst, blob.number, since.at(blob.number)) || busy.count(sst.number) > 0) {
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
    space.medium_bytes += sst.medium_bytes;
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
  space.log_share = static_cast<double>(space.medium_bytes) / static_cast<double>(base);
  return space;
}

Needs NeedsOf(const Space& space, bool has_blobs, const BlobHybridOptions& options) {
  Needs needs;
  const double bound = options.max_space_amplification;
  const double budget = options.transient_log_budget;
  if (has_blobs && bound > 0) {
    needs.space = space.amplification > SoftBound(bound);
    needs.above = space.amplification > WaitBound(bound);
  }
  if (has_blobs && budget > 0) {
    needs.log = space.log_share > budget * kSoft;
    needs.above = needs.above || space.log_share > budget;
  }
  return needs;
}

int MergeLevelOf(MergeLevel option, int last_level) {
  return std::max(1, option == MergeLevel::kLast ? last_level : last_level - 1);
}

Plan PickMerge(const Survey& survey, MergeLevel merge_level, uint64_t since,
               const std::set<uint64_t>& busy) {
  const int to = MergeLevelOf(merge_level, survey.last_level);
  const SstInfo* best = nullptr;
  bool to_has_files = false;
  for (const SstInfo& sst : survey.ssts) {
    to_has_files = to_has_files || sst.level == to;
    const bool there = sst.level >= to;
    if (sst.medium_bytes == 0 || busy.count(sst.number) > 0 || (there && sst.number > since)) {
      continue;
    }
    const bool best_there = best != nullptr && best->level >= to;
    if (best == nullptr || there > best_there ||
        (there == best_there &&
         (there || sst.level == best->level ? sst.medium_bytes > best->medium_bytes
                                            : sst.level > best->level))) {
      best = &sst;
    }
  }
  if (best == nullptr) {
    return Plan();
  }
  if (best->level >= to) {
    return To(best->level, survey, *best);
  }
  // RocksDB may not use the last level but one yet.
  return To(to_has_files ? to : Bottom(survey), survey, *best);
}

double SoftBound(double bound) { return 1 + (bound - 1) * kSoft; }

double WaitBound(double bound) { return 1 + (bound - 1) * 0.9; }

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

std::set<uint64_t> PickVictims(const std::vector<BlobInfo>& blobs, double ratio, double bound,
                               const Collected& collected) {
  std::set<uint64_t> victims;
  std::vector<BlobInfo> candidates;
  uint64_t live = 0;
  uint64_t moving = 0;  // bytes of the victims
  for (const BlobInfo& blob : blobs) {
    live += blob.bytes - std::min(blob.bytes, blob.garbage_bytes);
    const auto it = collected.find(blob.number);
    if (it != collected.end()) {
      victims.insert(blob.number);
      moving += it->second ? 0 : blob.bytes;
    } else if (blob.garbage_ratio() > ratio) {
      candidates.push_back(blob);
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const BlobInfo& a, const BlobInfo& b) {
    return std::make_pair(a.garbage_ratio(), b.number) >
           std::make_pair(b.garbage_ratio(), a.number);
  });
  const double room = static_cast<double>(live) * (bound - 1) * kVictims;
  for (const BlobInfo& blob : candidates) {
    const bool first = moving == 0;
    moving += blob.bytes;
    if (bound != 0 && !first && static_cast<double>(moving) > room) {
      break;
    }
    victims.insert(blob.number);
  }
  return victims;
}

Collected FindCollected(const Survey& survey, const Since& since) {
  Collected collected;
  for (const auto& [blob, number] : since) {
    bool referred = false;
    for (const SstInfo& sst : survey.ssts) {
      referred = referred || MayRefer(sst, blob, number);
    }
    collected[blob] = !referred;
  }
  return collected;
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
