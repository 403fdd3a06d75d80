// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/policy.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// Of the way to the bound; the second ones with a log.
constexpr double kSoft[] = {0.82, 0.7};
constexpr double kWait[] = {0.88, 0.8};
constexpr double kRoomy = 0.5;
constexpr double kSoftLog = 0.8;  // of the budget
constexpr double kMuchHidden = 0.05;

// Of live bytes of files: with less garbage the job would do much for little.
constexpr double kLeastGarbage = 0.1;

// Of what blob files have. A log that takes more is merged when there is too little room: values in SSTs need less.
constexpr double kLeastLog = 0.125;

// gc_garbage_ratio without a bound.
constexpr double kUnboundedRatio = 0.5;

// See Room.
constexpr double kLeastVictims = 0.15;
constexpr double kMostVictims = 0.75;
constexpr double kPeak = 1.03;  // of the bound

// See Pick().
constexpr double kJob = 16 << 10;
constexpr double kUncovered = 0.5;
constexpr uint64_t kPage = 4096;

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

// The SST with most entries of the deepest level above the last one; `ranges`: of those with range deletions. Level 0 goes as a
// whole.
Plan Push(const Survey& survey, bool ranges, const std::set<uint64_t>& busy) {
  const SstInfo* best = nullptr;
  for (const SstInfo& sst : survey.ssts) {
    if (!IsUpper(survey, sst) || busy.count(sst.number) > 0 ||
        (ranges && sst.range_deletions == 0)) {
      continue;
    }
    if (best == nullptr || sst.level > best->level ||
        (sst.level == best->level && sst.entries > best->entries)) {
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
  return sst.references != nullptr ? BytesIn(*sst.references, blob) > 0
                                   : sst.oldest_blob != 0 && sst.oldest_blob <= blob;
}

double Ratio(uint64_t part, uint64_t of) {
  return static_cast<double>(part) / static_cast<double>(std::max<uint64_t>(of, 1));
}

// A blob file that is collected, and what it takes to be rid of it.
class Victim {
 public:
  Victim(const BlobInfo& blob, uint64_t since, const Survey& survey)
      : number_(blob.number), since_(since), unsaid_(blob.live_bytes()) {
    uint64_t bytes = 0;  // that have to be moved
    for (const SstInfo& sst : survey.ssts) {
      if (sst.references == nullptr) {
        unsaid_entries_ += MayRefer(sst, number_, since_) ? sst.entries : 0;
        continue;
      }
      const uint64_t said = BytesIn(*sst.references, number_);
      unsaid_ -= std::min(unsaid_, said);
      bytes += sst.level > 0 && sst.number > since_ ? 0 : said;
    }
    bytes += unsaid_entries_ > 0 ? unsaid_ : 0;
    garbage_by_byte_ = Ratio(blob.garbage_bytes, std::max(bytes, kPage));
  }

  // That are moved when the SST is rewritten.
  double BytesOf(const SstInfo& sst) const {
    if (!MayRefer(sst, number_, since_)) {
      return 0;
    }
    // Nobody says how much it is, but it has to be rewritten.
    return sst.references != nullptr
               ? static_cast<double>(BytesIn(*sst.references, number_))
               : 1 + static_cast<double>(unsaid_) * Ratio(sst.entries, unsaid_entries_);
  }

  double garbage_by_byte() const { return garbage_by_byte_; }

 private:
  const uint64_t number_;
  const uint64_t since_;
  uint64_t unsaid_;              // bytes that no SST says it refers to
  uint64_t unsaid_entries_ = 0;  // of the SSTs that do not say: these share them
  double garbage_by_byte_ = 0;   // that is freed for each byte that is moved
};

// Of a job, or of what an SST has in it. Bytes.
struct Score {
  double gain = 0;  // garbage that is freed, or uncovered
  double cost = 0;  // what is read and written
  bool busy = false;

  void Add(const Score& other) {
    gain += other.gain;
    cost += other.cost;
    busy = busy || other.busy;
  }
};

// Looks for the job that gains most for its cost.
class Picker {
 public:
  Picker(const Survey& survey, const Space& space, const Since& since,
         const std::set<uint64_t>& busy)
      : survey_(survey) {
    for (const BlobInfo& blob : survey.blobs) {
      const auto it = since.find(blob.number);
      if (it != since.end()) {
        victims_.emplace_back(blob, it->second, survey);
      }
    }
    uint64_t upper = 0;
    for (const SstInfo& sst : survey.ssts) {
      upper += IsUpper(survey, sst) ? sst.entries : 0;
      if (sst.level > 0) {  // which is not compacted alone
        levels_[sst.level].push_back({&sst, ScoreOf(sst, busy.count(sst.number) > 0)});
      }
    }
    uncovered_by_entry_ = kUncovered * Ratio(space.hidden_bytes, upper);
  }

  Plan Best() const {
    const SstInfo* best = nullptr;
    double most = 0;
    for (const auto& level : levels_) {
      for (const Part& part : level.second) {
        const Score job = JobOf(part);
        if (!job.busy && job.gain > most * job.cost) {
          most = job.gain / job.cost;
          best = part.sst;
        }
      }
    }
    return best == nullptr ? Plan() : To(OutputLevelOf(*best), survey_, *best);
  }

 private:
  struct Part {
    const SstInfo* sst;
    Score score;
  };

  Score ScoreOf(const SstInfo& sst, bool busy) const {
    Score score{0, 2 * static_cast<double>(sst.bytes), busy};
    for (const Victim& victim : victims_) {
      const double bytes = victim.BytesOf(sst);
      score.gain += bytes * victim.garbage_by_byte();
      score.cost += 2 * bytes;
    }
    return score;
  }

  // The next one that has SSTs; of the last level: itself.
  int OutputLevelOf(const SstInfo& sst) const {
    return IsUpper(survey_, sst) ? levels_.upper_bound(sst.level)->first : sst.level;
  }

  // RocksDB takes those that overlap with it in the output level besides.
  Score JobOf(const Part& part) const {
    const SstInfo& sst = *part.sst;
    Score job = part.score;
    job.cost += kJob;
    if (!IsUpper(survey_, sst)) {
      return job;
    }
    const int to = OutputLevelOf(sst);
    const Comparator& comparator = *survey_.comparator;
    const std::vector<Part>& others = levels_.at(to);
    auto other = std::partition_point(others.begin(), others.end(), [&](const Part& candidate) {
      return comparator.Compare(candidate.sst->keys->largest, sst.keys->smallest) < 0;
    });
    for (; other != others.end() &&
           comparator.Compare(other->sst->keys->smallest, sst.keys->largest) <= 0;
         ++other) {
      job.Add(other->score);
    }
    job.gain +=
        to == survey_.last_level ? uncovered_by_entry_ * static_cast<double>(sst.entries) : 0;
    return job;
  }

  const Survey& survey_;
  std::vector<Victim> victims_;
  std::map<int, std::vector<Part>> levels_;
  double uncovered_by_entry_ = 0;  // of an SST that is pushed to the last level
};

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

// Of what is merged early.
bool ComesBefore(const SstInfo& a, const SstInfo& b) {
  return std::make_tuple(a.level == 0, a.oldest_blob, b.medium_bytes) <
         std::make_tuple(b.level == 0, b.oldest_blob, a.medium_bytes);
}

uint64_t Of(uint64_t bytes, double share) {
  return static_cast<uint64_t>(static_cast<double>(bytes) * share);
}

}  // namespace

Space Estimate(const Survey& survey, uint64_t floor) {
  Space space;
  for (const BlobInfo& blob : survey.blobs) {
    space.disk_bytes += blob.file_bytes;
    space.value_bytes += blob.bytes;
    space.garbage_bytes += blob.garbage_bytes;
  }
  uint64_t sst_user_bytes = 0;
  for (const SstInfo& sst : survey.ssts) {
    space.sst_bytes += sst.bytes;
    sst_user_bytes += sst.user_bytes;
    space.medium_bytes += sst.medium_bytes;
  }
  space.disk_bytes += space.sst_bytes;
  const Shares shares = SharesOf(survey);
  const uint64_t referred = space.value_bytes - std::min(space.value_bytes, space.garbage_bytes);
  space.hidden_bytes = Of(referred, shares.hidden_values);
  space.hidden_sst_bytes = Of(space.sst_bytes, shares.hidden_ssts);
  space.live_bytes = referred - space.hidden_bytes + space.sst_bytes - space.hidden_sst_bytes;
  space.user_bytes = Of(referred, shares.user_values) + Of(sst_user_bytes, shares.user_ssts);
  const uint64_t base = std::max({space.user_bytes, floor, uint64_t{1}});
  space.amplification = static_cast<double>(space.disk_bytes) / static_cast<double>(base);
  space.log_share = static_cast<double>(space.medium_bytes) / static_cast<double>(base);
  return space;
}

Needs NeedsOf(const Space& space, bool ours, const BlobHybridOptions& options) {
  Needs needs;
  const double bound = options.max_space_amplification;
  const double budget = options.transient_log_budget;
  const bool log = HasLog(space);
  if (ours && bound > 0 && space.amplification > SoftBound(bound, log)) {
    const uint64_t garbage = space.disk_bytes - std::min(space.disk_bytes, space.live_bytes);
    needs.space = garbage > Of(space.live_bytes, kLeastGarbage);
    needs.log = log;
    needs.above = needs.any() && space.amplification > WaitBound(bound, log);
  }
  if (ours && budget > 0) {
    needs.log = needs.log || space.log_share > budget * kSoftLog;
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
    if (sst.medium_bytes > 0 && busy.count(sst.number) == 0 &&
        (sst.level < to || sst.number <= since) && (best == nullptr || ComesBefore(sst, *best))) {
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

bool HasLog(const Space& space) { return space.medium_bytes > Of(space.value_bytes, kLeastLog); }

double SoftBound(double bound, bool log) { return 1 + (bound - 1) * kSoft[log ? 1 : 0]; }

double WaitBound(double bound, bool log) { return 1 + (bound - 1) * kWait[log ? 1 : 0]; }

bool IsCrowded(const Space& space, double bound, bool crowded) {
  if (bound == 0 || space.amplification < 1 + (bound - 1) * kRoomy) {
    return false;
  }
  const uint64_t known =
      space.value_bytes - std::min(space.value_bytes, space.garbage_bytes) + space.sst_bytes;
  const uint64_t hidden = known - std::min(known, space.live_bytes);
  return crowded ||
         (space.amplification > SoftBound(bound, HasLog(space)) && hidden > Of(known, kMuchHidden));
}

double RestingRatio(const BlobHybridOptions& options) {
  if (options.gc_garbage_ratio > 0) {
    return options.gc_garbage_ratio;
  }
  return options.max_space_amplification > 0 ? 1 : kUnboundedRatio;
}

double LeastRatio(const BlobHybridOptions& options) {
  return std::min(RestingRatio(options), (1 - 1 / options.max_space_amplification) / 2);
}

Room RoomFor(const Space& space, double bound) {
  const double root = space.value_bytes == 0 ? 0
                                             : std::sqrt(static_cast<double>(space.sst_bytes) /
                                                         static_cast<double>(space.value_bytes));
  Room room;
  room.share = std::clamp(root, kLeastVictims, kMostVictims);
  if (space.amplification > 0) {
    room.twice = Of(space.disk_bytes, std::abs(bound * kPeak / space.amplification - 1));
  }
  return room;
}

std::set<uint64_t> PickVictims(const std::vector<BlobInfo>& blobs, double ratio, double bound,
                               const Room& room, const Collected& collected) {
  std::set<uint64_t> victims;
  std::vector<BlobInfo> candidates;
  uint64_t live = 0;
  uint64_t moving = 0;  // bytes of the victims
  uint64_t twice = 0;   // of these, what lives
  for (const BlobInfo& blob : blobs) {
    live += blob.live_bytes();
    const auto it = collected.find(blob.number);
    if (it != collected.end()) {
      victims.insert(blob.number);
      moving += it->second ? 0 : blob.bytes;
      twice += it->second ? 0 : blob.live_bytes();
    } else if (blob.garbage_ratio() > ratio) {
      candidates.push_back(blob);
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const BlobInfo& a, const BlobInfo& b) {
    return std::make_pair(a.garbage_ratio(), b.number) >
           std::make_pair(b.garbage_ratio(), a.number);
  });
  const double most = static_cast<double>(live) * (bound - 1) * room.share;
  for (const BlobInfo& blob : candidates) {
    const bool first = moving == 0;
    moving += blob.bytes;
    twice += blob.live_bytes();
    if (bound != 0 && !first && (static_cast<double>(moving) > most || twice > room.twice)) {
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

Plan Pick(const Survey& survey, const Space& space, const Since& since,
          const std::set<uint64_t>& busy) {
  Plan plan = Push(survey, /*ranges=*/true, busy);
  if (plan.inputs.empty()) {
    plan = Picker(survey, space, since, busy).Best();
  }
  if (plan.inputs.empty() && space.hidden_bytes + space.hidden_sst_bytes > 0) {
    plan = Push(survey, /*ranges=*/false, busy);
  }
  return plan;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
