// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/policy.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr double kSoft = 0.8;

// Of live bytes of files: with less garbage the job would do much for little.
constexpr double kLeastGarbage = 0.1;

// Of what blob files have. A log that takes more is merged when there is too little room: values in SSTs need less.
constexpr double kLeastLog = 0.125;

// See VictimsShare().
constexpr double kLeastVictims = 0.15;
constexpr double kMostVictims = 0.6;

// Keys in a sample that is believed.
constexpr uint64_t kLeastSampled = 400;

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

// Whether an SST refers to a blob file, or may do so if it does not say. `since`: those with larger numbers have been rewritten; what
// they refer to has to stay for a time, because of snapshots for example. Level 0 is not compacted alone.
bool MayRefer(const SstInfo& sst, uint64_t blob, uint64_t since) {
  if (sst.level == 0 || sst.number > since) {
    return false;
  }
  return sst.references != nullptr ? sst.references->count(blob) > 0
                                   : sst.oldest_blob != 0 && sst.oldest_blob <= blob;
}

// What it takes to be rid of a blob file.
struct Cost {
  const BlobInfo* blob;
  std::vector<const SstInfo*> ssts;  // that may refer to it
  uint64_t bytes = 0;                // of these

  double garbage_per_byte() const {
    return static_cast<double>(blob->garbage_bytes) / static_cast<double>(bytes);
  }
};

std::vector<Cost> CostsOf(const Survey& survey, double ratio, const Since& since) {
  std::vector<Cost> costs;
  for (const BlobInfo& blob : survey.blobs) {
    const auto it = since.find(blob.number);
    if (it == since.end() || blob.garbage_ratio() <= ratio) {
      continue;
    }
    Cost cost{&blob, {}, 1 + blob.bytes - std::min(blob.bytes, blob.garbage_bytes)};
    for (const SstInfo& sst : survey.ssts) {
      if (MayRefer(sst, blob.number, it->second)) {
        cost.ssts.push_back(&sst);
        cost.bytes += sst.bytes;
      }
    }
    costs.push_back(std::move(cost));
  }
  std::sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) {
    return std::make_pair(a.garbage_per_byte(), b.blob->number) >
           std::make_pair(b.garbage_per_byte(), a.blob->number);
  });
  return costs;
}

// Bytes that an SST is known to refer to.
uint64_t BytesIn(const SstInfo& sst, uint64_t blob) {
  if (sst.references == nullptr) {
    return sst.oldest_blob == blob ? 1 : 0;  // RocksDB links it to that
  }
  const auto it = sst.references->find(blob);
  return it == sst.references->end() ? 0 : it->second;
}

// An SST of those that refer to the blob file that takes least for its garbage: the one that refers to most of it; of those that
// do not say, the one that refers to the oldest files.
Plan Collect(const Survey& survey, double ratio, const Since& since,
             const std::set<uint64_t>& busy) {
  Plan plan;
  for (const Cost& cost : CostsOf(survey, ratio, since)) {
    const SstInfo* best = nullptr;
    for (const SstInfo* sst : cost.ssts) {
      if (busy.count(sst->number) > 0) {
        continue;
      }
      const uint64_t bytes = BytesIn(*sst, cost.blob->number);
      const uint64_t most = best == nullptr ? 0 : BytesIn(*best, cost.blob->number);
      if (best == nullptr || bytes > most ||
          (bytes == most && sst->oldest_blob < best->oldest_blob)) {
        best = sst;
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

// Shares of the values in blob files that SSTs refer to, and of SSTs.
struct Shares {
  double hidden_values = 0;  // by newer entries, with their headers
  double hidden_ssts = 0;    // likewise, or deletions
  double user_values = 1;    // keys and values that live
  double user_ssts = 1;      // entries whose keys and values live there
};

double Share(uint64_t part, uint64_t of) {
  return of == 0 ? 0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(of));
}

// At most: each entry above the last level, deletions included, hides a value, and a range deletion may hide all.
Shares MostHidden(const Survey& survey) {
  uint64_t entries = 0;
  uint64_t values = 0;
  uint64_t upper = 0;
  bool upper_range = false;
  for (const SstInfo& sst : survey.ssts) {
    entries += sst.entries;
    values += sst.entries - std::min(sst.entries, sst.deletions);
    if (IsUpper(survey, sst)) {
      upper += sst.entries;
      upper_range = upper_range || sst.range_deletions > 0;
    }
  }
  Shares shares;
  shares.hidden_values = upper_range ? 1 : Share(upper, values);
  shares.hidden_ssts = Share(upper, entries);
  shares.user_values = 1 - shares.hidden_values;
  shares.user_ssts = 1 - shares.hidden_ssts;
  return shares;
}

// By the sketches, if all SSTs have one and the sample is large enough: with a standard deviation of the estimate besides.
Shares SharesOf(const Survey& survey) {
  const Shares most = MostHidden(survey);
  std::vector<const Sketch*> sketches;
  for (const SstInfo& sst : survey.ssts) {
    if (sst.sketch == nullptr || sst.range_deletions > 0) {
      return most;
    }
    sketches.push_back(sst.sketch.get());
  }
  const Sampled sampled = Combine(sketches);
  if (sampled.keys < kLeastSampled) {
    return most;
  }
  const double margin = 1 / std::sqrt(static_cast<double>(sampled.keys));
  Shares shares;
  shares.hidden_values =
      std::min(most.hidden_values, Share(sampled.hidden_blob_bytes, sampled.blob_bytes) + margin);
  shares.hidden_ssts =
      std::min(most.hidden_ssts, Share(sampled.hidden_sst_bytes, sampled.sst_bytes) + margin);
  shares.user_values = Share(sampled.live_blob_bytes, sampled.blob_bytes) * (1 - margin);
  shares.user_ssts = Share(sampled.live_sst_bytes, sampled.sst_bytes) * (1 - margin);
  return shares;
}

uint64_t Of(uint64_t bytes, double share) {
  return static_cast<uint64_t>(static_cast<double>(bytes) * share);
}

// Of SSTs for each byte of values, the square root: by it what to merge and what to move is shared so that least is written.
double RootOfSsts(const Space& space) {
  return space.value_bytes == 0 ? 0
                                : std::sqrt(static_cast<double>(space.sst_bytes) /
                                            static_cast<double>(space.value_bytes));
}

}  // namespace

Space Estimate(const Survey& survey, uint64_t floor) {
  Space space;
  for (const BlobInfo& blob : survey.blobs) {
    space.disk_bytes += blob.file_bytes;
    space.value_bytes += blob.bytes;
    space.garbage_bytes += blob.garbage_bytes;
  }
  for (const SstInfo& sst : survey.ssts) {
    space.sst_bytes += sst.bytes;
    space.medium_bytes += sst.medium_bytes;
  }
  space.disk_bytes += space.sst_bytes;
  const Shares shares = SharesOf(survey);
  const uint64_t referred = space.value_bytes - std::min(space.value_bytes, space.garbage_bytes);
  space.hidden_bytes = Of(referred, shares.hidden_values);
  space.live_bytes =
      referred - space.hidden_bytes + space.sst_bytes - Of(space.sst_bytes, shares.hidden_ssts);
  space.user_bytes = Of(referred, shares.user_values) + Of(space.sst_bytes, shares.user_ssts);
  const uint64_t base = std::max({space.user_bytes, floor, uint64_t{1}});
  space.amplification = static_cast<double>(space.disk_bytes) / static_cast<double>(base);
  space.log_share = static_cast<double>(space.medium_bytes) / static_cast<double>(base);
  return space;
}

Needs NeedsOf(const Space& space, bool has_blobs, const BlobHybridOptions& options) {
  Needs needs;
  const double bound = options.max_space_amplification;
  const double budget = options.transient_log_budget;
  if (has_blobs && bound > 0 && space.amplification > SoftBound(bound)) {
    const uint64_t garbage = space.disk_bytes - std::min(space.disk_bytes, space.live_bytes);
    needs.space = garbage > Of(space.live_bytes, kLeastGarbage);
    needs.log = space.medium_bytes > Of(space.value_bytes, kLeastLog);
    needs.above = needs.any() && space.amplification > WaitBound(bound);
  }
  if (has_blobs && budget > 0) {
    needs.log = needs.log || space.log_share > budget * kSoft;
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

double WaitBound(double bound) { return 1 + (bound - 1) * 0.92; }

double LeastRatio(const BlobHybridOptions& options) {
  if (options.max_space_amplification == 0) {
    return options.gc_garbage_ratio;
  }
  return std::min(options.gc_garbage_ratio, (1 - 1 / options.max_space_amplification) / 2);
}

uint64_t AllowedHidden(const Space& space, double bound) {
  const double allowed = std::max(
      bound * static_cast<double>(space.user_bytes) - static_cast<double>(space.live_bytes),
      kLeastGarbage * static_cast<double>(space.live_bytes));
  const double root = RootOfSsts(space);
  return static_cast<uint64_t>(allowed * root / (1 + root));
}

double VictimsShare(const Space& space) {
  return std::clamp(RootOfSsts(space), kLeastVictims, kMostVictims);
}

std::set<uint64_t> PickVictims(const std::vector<BlobInfo>& blobs, double ratio, double bound,
                               double share, const Collected& collected) {
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
  const double room = static_cast<double>(live) * (bound - 1) * share;
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
