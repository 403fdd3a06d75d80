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

// Of what blob files have. A log that takes more is merged when there is too little room: values in
// SSTs need less.
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
constexpr size_t kMostJobs = 16;         // of a batch
constexpr double kBatch = 1.0 / 32;      // of the bytes of a family, that a batch costs
constexpr double kMostBatch = 64 << 20;  // bytes
constexpr double kAboutAsMuch = 0.5;     // of what the best SST gains for its cost
constexpr uint64_t kPage = 4096;

// Keys in a sample that is believed.
constexpr uint64_t kLeastSampled = 400;

// With level 0 alone, all of it may hide something.
bool IsUpper(int level, int last_level) { return level < last_level || level == 0; }

bool IsUpper(const Survey& survey, const SstInfo& sst) {
  return IsUpper(sst.level, survey.last_level);
}

// The level that SSTs are pushed to: the last one, but not level 0. With dynamic levels the first
// one that is used lies deep.
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

double Ratio(uint64_t part, uint64_t of) {
  return static_cast<double>(part) / static_cast<double>(std::max<uint64_t>(of, 1));
}

double EntryBytes(const Survey& survey, const Space& space) {
  uint64_t entries = 0;
  for (const SstInfo& sst : survey.ssts) {
    entries += sst.entries;
  }
  return Ratio(space.sst_bytes + space.value_bytes, entries);
}

// Whether its range deletions may hide more than it takes to push it to the last level: what
// overlaps with it is read and written, too.
bool HidesMuch(const Survey& survey, const SstInfo& sst, double entry_bytes) {
  const double hidden = static_cast<double>(sst.covered) * entry_bytes - kJob;
  double cost = 2 * static_cast<double>(sst.bytes);
  for (auto other = survey.ssts.begin(); cost < hidden && other != survey.ssts.end(); ++other) {
    const bool overlaps =
        other->level > sst.level &&
        survey.comparator->Compare(other->keys->largest, sst.keys->smallest) >= 0 &&
        survey.comparator->Compare(other->keys->smallest, sst.keys->largest) <= 0;
    cost += overlaps ? 2 * static_cast<double>(other->bytes) : 0;
  }
  return cost < hidden;
}

// The SST with most entries of the deepest level above the last one; `ranges`: of those whose range
// deletions hide much. Level 0 goes as a whole.
Plan Push(const Survey& survey, const Space& space, bool ranges, const std::set<uint64_t>& busy) {
  const double entry_bytes = EntryBytes(survey, space);
  const SstInfo* best = nullptr;
  for (const SstInfo& sst : survey.ssts) {
    if (!IsUpper(survey, sst) || busy.count(sst.number) > 0 ||
        (ranges && !HidesMuch(survey, sst, entry_bytes))) {
      continue;
    }
    if (best == nullptr || sst.level > best->level ||
        (sst.level == best->level && sst.entries > best->entries)) {
      best = &sst;
    }
  }
  return best == nullptr ? Plan() : To(Bottom(survey), survey, *best);
}

// A blob file that is collected, and what it takes to be rid of it.
struct Victim {
  uint64_t number = 0;
  // SSTs with larger numbers have been rewritten; what they refer to has to stay for a time,
  // because of snapshots.
  uint64_t since = 0;
  uint64_t garbage_bytes = 0;
  uint64_t unsaid = 0;          // bytes that no SST says it refers to
  uint64_t unsaid_entries = 0;  // of the SSTs that do not say: these share them
  uint64_t bytes = 0;           // that have to be moved
  double garbage_by_byte = 0;   // that is freed for each byte that is moved
};

using Victims = std::vector<Victim>;  // by number

Victims::iterator FirstFrom(uint64_t number, Victims* victims) {
  return std::lower_bound(victims->begin(), victims->end(), number,
                          [](const Victim& a, uint64_t b) { return a.number < b; });
}

// Calls each(victim, bytes) for those that an SST refers to, or may refer to if it does not say:
// without bytes then. There may be thousands of both: one pass over the references, with no search
// where most of them are victims.
template <typename Each>
void ForVictimsOf(const SstInfo& sst, Victims* victims, const Each& each) {
  if (sst.references == nullptr) {
    for (auto it = sst.oldest_blob == 0 ? victims->end() : FirstFrom(sst.oldest_blob, victims);
         it != victims->end(); ++it) {
      each(&*it, 0);
    }
    return;
  }
  auto victim = victims->begin();
  const auto size = static_cast<ptrdiff_t>(victims->size());
  const bool sparse = static_cast<ptrdiff_t>(sst.references->size()) * 16 < size;
  for (const auto& [number, bytes] : *sst.references) {
    if (sparse) {
      victim = FirstFrom(number, victims);
    }
    while (victim != victims->end() && victim->number < number) {
      ++victim;
    }
    if (victim == victims->end()) {
      return;
    }
    if (victim->number == number && bytes > 0) {
      each(&*victim, bytes);
    }
  }
}

// Level 0 is not compacted alone.
bool MayBeRewritten(const SstInfo& sst, const Victim& victim) {
  return sst.level > 0 && sst.number <= victim.since;
}

Victims VictimsOf(const Survey& survey, const Since& since) {
  Victims victims;
  for (const BlobInfo& blob : survey.blobs) {
    const auto it = since.find(blob.number);
    if (it != since.end()) {
      Victim victim;
      victim.number = blob.number;
      victim.since = it->second;
      victim.garbage_bytes = blob.garbage_bytes;
      victim.unsaid = blob.live_bytes();
      victims.push_back(victim);
    }
  }
  std::sort(victims.begin(), victims.end(),
            [](const Victim& a, const Victim& b) { return a.number < b.number; });
  for (const SstInfo& sst : survey.ssts) {
    const bool says = sst.references != nullptr;
    ForVictimsOf(sst, &victims, [&](Victim* victim, uint64_t bytes) {
      const bool old = MayBeRewritten(sst, *victim);
      victim->unsaid -= std::min(victim->unsaid, bytes);
      victim->bytes += old || sst.level == 0 ? bytes : 0;
      victim->unsaid_entries += !says && old ? sst.entries : 0;
    });
  }
  for (Victim& victim : victims) {
    victim.bytes += victim.unsaid_entries > 0 ? victim.unsaid : 0;
    victim.garbage_by_byte = Ratio(victim.garbage_bytes, std::max(victim.bytes, kPage));
  }
  return victims;
}

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
      : survey_(survey), victims_(VictimsOf(survey, since)) {
    uint64_t upper = 0;
    for (const SstInfo& sst : survey.ssts) {
      upper += IsUpper(survey, sst) ? sst.entries + sst.covered : 0;
      if (sst.level > 0) {  // which is not compacted alone
        levels_[sst.level].push_back({&sst, ScoreOf(sst, busy.count(sst.number) > 0)});
      }
    }
    uncovered_by_entry_ = kUncovered * Ratio(space.hidden_bytes, upper);
  }

  // The best jobs, which have no SST in common, as far as they cost no more than `most`; one at
  // least.
  std::vector<Plan> Best(double most) {
    std::vector<Candidate> candidates;
    for (const auto& [level, parts] : levels_) {
      for (size_t i = 0; i < parts.size(); i++) {
        const Score job = JobOf(parts[i]);
        if (!job.busy && job.gain > 0) {
          candidates.push_back({job.gain / job.cost, level, i});
        }
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.worth > b.worth; });
    std::vector<Plan> plans;
    double cost = 0;
    for (const Candidate& candidate : candidates) {
      const Score job = JobOf(levels_.at(candidate.level)[candidate.index]);
      cost += job.cost;
      if (plans.size() == kMostJobs || (!plans.empty() && cost > most)) {
        break;
      }
      if (!job.busy) {  // with those that were picked before
        plans.push_back(Take(candidate, most / kMostJobs));
      }
    }
    return plans;
  }

 private:
  struct Part {
    const SstInfo* sst;
    Score score;
  };
  struct Candidate {
    double worth;  // gain for its cost
    int level;
    size_t index;
  };

  Score ScoreOf(const SstInfo& sst, bool busy) {
    Score score{0, 2 * static_cast<double>(sst.bytes), busy};
    ForVictimsOf(sst, &victims_, [&](Victim* victim, uint64_t said) {
      if (!MayBeRewritten(sst, *victim)) {
        return;
      }
      // Where nobody says how much it is, it has to be rewritten all the same.
      const double bytes = sst.references != nullptr
                               ? static_cast<double>(said)
                               : 1 + static_cast<double>(victim->unsaid) *
                                         Ratio(sst.entries, victim->unsaid_entries);
      score.gain += bytes * victim->garbage_by_byte;
      score.cost += 2 * bytes;
    });
    return score;
  }

  // The plan of a candidate, whose SSTs are busy from now on. An SST of the last level together
  // with its neighbours that gain about as much, up to a cost: tiny ones become one.
  Plan Take(const Candidate& candidate, double most) {
    std::vector<Part>& parts = levels_.at(candidate.level);
    const SstInfo& sst = *parts[candidate.index].sst;
    const int to = OutputLevelOf(sst);
    Plan plan = To(to, survey_, sst);
    parts[candidate.index].score.busy = true;
    if (IsUpper(survey_, sst)) {
      ForOverlapping(sst, to, [](Part* part) { part->score.busy = true; });
      return plan;
    }
    double cost = parts[candidate.index].score.cost + kJob;
    for (size_t i = candidate.index + 1; i < parts.size(); i++) {
      Score& next = parts[i].score;
      cost += next.cost;
      if (next.busy || cost > most || next.gain < next.cost * candidate.worth * kAboutAsMuch) {
        break;
      }
      next.busy = true;
      plan.inputs.push_back(*parts[i].sst);
    }
    return plan;
  }

  // The next one that has SSTs; of the last level: itself.
  int OutputLevelOf(const SstInfo& sst) const {
    return IsUpper(survey_, sst) ? levels_.upper_bound(sst.level)->first : sst.level;
  }

  // RocksDB takes those that overlap with it in the output level besides.
  Score JobOf(const Part& part) {
    const SstInfo& sst = *part.sst;
    Score job = part.score;
    job.cost += kJob;
    if (!IsUpper(survey_, sst)) {
      return job;
    }
    const int to = OutputLevelOf(sst);
    ForOverlapping(sst, to, [&job](Part* other) { job.Add(other->score); });
    job.gain += to == survey_.last_level
                    ? uncovered_by_entry_ * static_cast<double>(sst.entries + sst.covered)
                    : 0;
    return job;
  }

  template <typename Each>
  void ForOverlapping(const SstInfo& sst, int level, const Each& each) {
    const Comparator& comparator = *survey_.comparator;
    std::vector<Part>& others = levels_.at(level);
    auto other = std::partition_point(others.begin(), others.end(), [&](const Part& candidate) {
      return comparator.Compare(candidate.sst->keys->largest, sst.keys->smallest) < 0;
    });
    for (; other != others.end() &&
           comparator.Compare(other->sst->keys->smallest, sst.keys->largest) <= 0;
         ++other) {
      each(&*other);
    }
  }

  const Survey& survey_;
  Victims victims_;
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

// Entries of all SSTs.
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
    if (IsUpper(level, totals.last_level)) {
      entries.upper += of_level.entries;
      entries.covered += of_level.covered;
    }
  }
  return entries;
}

// At most: each entry above the last level, deletions included, hides a value, and a range deletion
// all that it covers.
Shares MostHidden(const Entries& entries) {
  const uint64_t upper = entries.upper + entries.covered;
  Shares shares;
  shares.hidden_values = Share(upper, entries.values);
  shares.hidden_ssts = Share(upper, entries.all);
  shares.user_values = 1 - shares.hidden_values;
  shares.user_ssts = 1 - shares.hidden_ssts;
  return shares;
}

// By the sketches, if all SSTs have one and the sample is large enough: with a standard deviation
// of the estimate besides.
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

// Of what is merged early.
bool ComesBefore(const SstInfo& a, const SstInfo& b) {
  return std::make_tuple(a.level == 0, a.oldest_blob, b.medium_bytes) <
         std::make_tuple(b.level == 0, b.oldest_blob, a.medium_bytes);
}

uint64_t Of(uint64_t bytes, double share) {
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
  space.hidden_bytes = Of(referred, shares.hidden_values);
  space.hidden_sst_bytes = Of(space.sst_bytes, shares.hidden_ssts);
  space.live_bytes = referred - space.hidden_bytes + space.sst_bytes - space.hidden_sst_bytes;
  space.user_bytes = Of(referred, shares.user_values) + Of(totals.sst_user_bytes, shares.user_ssts);
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

Plan PickMerge(const Survey& survey, MergeLevel merge_level, const std::set<uint64_t>& merged,
               const std::set<uint64_t>& busy) {
  const int to = MergeLevelOf(merge_level, survey.last_level);
  const SstInfo* best = nullptr;
  bool to_has_files = false;
  for (const SstInfo& sst : survey.ssts) {
    to_has_files = to_has_files || sst.level == to;
    if (sst.medium_bytes > 0 && busy.count(sst.number) == 0 &&
        (sst.level < to || merged.count(sst.number) == 0) &&
        (best == nullptr || ComesBefore(sst, *best))) {
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
  Victims victims;
  Collected collected;
  for (const auto& [blob, number] : since) {
    Victim victim;
    victim.number = blob;
    victim.since = number;
    victims.push_back(victim);
    collected[blob] = true;
  }
  for (const SstInfo& sst : survey.ssts) {
    ForVictimsOf(sst, &victims, [&](Victim* victim, uint64_t) {
      // Counts SSTs here.
      victim->bytes += MayBeRewritten(sst, *victim) ? 1 : 0;
    });
  }
  for (const Victim& victim : victims) {
    collected[victim.number] = victim.bytes == 0;
  }
  return collected;
}

std::vector<Plan> Pick(const Survey& survey, const Space& space, const Since& since,
                       const std::set<uint64_t>& busy) {
  Plan plan = Push(survey, space, /*ranges=*/true, busy);
  if (!plan.inputs.empty()) {
    return {plan};
  }
  const double most = std::min(kMostBatch, static_cast<double>(space.disk_bytes) * kBatch);
  std::vector<Plan> plans = Picker(survey, space, since, busy).Best(most);
  if (plans.empty() && space.hidden_bytes + space.hidden_sst_bytes > 0) {
    plan = Push(survey, space, /*ranges=*/false, busy);
    if (!plan.inputs.empty()) {
      plans.push_back(plan);
    }
  }
  return plans;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
