// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/gc_picker.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// See PickCompactions().
constexpr double kJob = 16 << 10;
constexpr double kUncovered = 0.5;
constexpr size_t kMostJobs = 16;         // of a batch
constexpr double kBatch = 1.0 / 32;      // of the bytes of a family, that a batch costs
constexpr double kMostBatch = 64 << 20;  // bytes
constexpr double kAboutAsMuch = 0.5;     // of what the best SST gains for its cost
constexpr uint64_t kPage = 4096;

// The level that SSTs are pushed to: the last one, but not level 0. With dynamic levels the first
// one that is used lies deep.
int Bottom(const Survey& survey) { return std::max(survey.last_level, survey.base_level); }

// Plans to compact an SST, or all of level 0, to another level.
Plan PlanTo(int output_level, const Survey& survey, const SstInfo& input) {
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

// Tells whether its range deletions may hide more than it takes to push it to the last level: what
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

// Tells whether level 0, which goes as a whole, cannot be compacted now.
bool IsTopBusy(const Survey& survey, const std::set<uint64_t>& busy) {
  return std::any_of(survey.ssts.begin(), survey.ssts.end(), [&](const SstInfo& sst) {
    return sst.level == 0 && busy.count(sst.number) > 0;
  });
}

// The SST with most entries of the deepest level above the last one; `ranges`: of those whose range
// deletions hide much. Level 0 goes as a whole.
Plan Push(const Survey& survey, const Space& space, bool ranges, const std::set<uint64_t>& busy) {
  const double entry_bytes = EntryBytes(survey, space);
  const bool top_busy = IsTopBusy(survey, busy);
  const SstInfo* best = nullptr;
  for (const SstInfo& sst : survey.ssts) {
    if (!survey.IsUpper(sst) || busy.count(sst.number) > 0 || (sst.level == 0 && top_busy) ||
        (ranges && !HidesMuch(survey, sst, entry_bytes))) {
      continue;
    }
    if (best == nullptr || sst.level > best->level ||
        (sst.level == best->level && sst.entries > best->entries)) {
      best = &sst;
    }
  }
  return best == nullptr ? Plan() : PlanTo(Bottom(survey), survey, *best);
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

Victims VictimsOf(const Survey& survey, const Since& since, double ratio) {
  Victims victims;
  const std::vector<double> shares = SharesOfGarbage(survey.blobs, ratio);
  for (size_t i = 0; i < survey.blobs.size(); i++) {
    const BlobInfo& blob = survey.blobs[i];
    const auto it = since.find(blob.number);
    if (it != since.end()) {
      const auto common = static_cast<uint64_t>(shares[i] * static_cast<double>(blob.bytes));
      Victim victim;
      victim.number = blob.number;
      victim.since = it->second;
      victim.garbage_bytes = blob.corrected ? common : std::max(blob.garbage_bytes, common);
      victim.unsaid = blob.live_bytes();
      victims.push_back(victim);
    }
  }
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

// The gain and cost of a compaction, or of what an SST has in it. Bytes.
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
  // `ratio`: LeastRatio().
  Picker(const Survey& survey, const Space& space, const Since& since,
         const std::set<uint64_t>& busy, double ratio)
      : survey_(survey), victims_(VictimsOf(survey, since, ratio)) {
    uint64_t upper = 0;
    for (const SstInfo& sst : survey.ssts) {
      upper += survey.IsUpper(sst) ? sst.entries + sst.covered : 0;
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
    Plan plan = PlanTo(to, survey_, sst);
    parts[candidate.index].score.busy = true;
    if (survey_.IsUpper(sst)) {
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
    return survey_.IsUpper(sst) ? levels_.upper_bound(sst.level)->first : sst.level;
  }

  // RocksDB takes those that overlap with it in the output level besides.
  Score JobOf(const Part& part) {
    const SstInfo& sst = *part.sst;
    Score job = part.score;
    job.cost += kJob;
    if (!survey_.IsUpper(sst)) {
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

// Tells whether what is too much is in files that wait for older ones: pushes of SSTs do not free
// these, but where level 0 refers to an older file.
bool OnlyWaits(const Survey& survey, const Space& space, const BlobHybridOptions& options) {
  uint64_t level0 = UINT64_MAX;
  for (const SstInfo& sst : survey.ssts) {
    level0 = sst.level == 0 && sst.oldest_blob != 0 ? std::min(level0, sst.oldest_blob) : level0;
  }
  uint64_t waiting = 0;
  for (const BlobInfo& blob : survey.blobs) {
    waiting += blob.IsWaiting() && blob.number < level0 ? blob.file_bytes : 0;
  }
  Space rest = space;
  rest.disk_bytes -= std::min(waiting, space.disk_bytes);
  rest.amplification *= Ratio(rest.disk_bytes, space.disk_bytes);
  return waiting > 0 && !NeedsOf(rest, /*ours=*/true, options).space;
}

// Orders what is merged early.
bool ComesBefore(const SstInfo& a, const SstInfo& b) {
  return std::make_tuple(a.level == 0, a.oldest_blob, b.medium_bytes) <
         std::make_tuple(b.level == 0, b.oldest_blob, a.medium_bytes);
}

}  // namespace

int MergeLevelOf(MergeLevel option, int last_level) {
  return std::max(1, option == MergeLevel::kLast ? last_level : last_level - 1);
}

Plan PickMerge(const Survey& survey, MergeLevel merge_level, const std::set<uint64_t>& merged,
               const std::set<uint64_t>& busy) {
  const int to = MergeLevelOf(merge_level, survey.last_level);
  const bool top_busy = IsTopBusy(survey, busy);
  const SstInfo* best = nullptr;
  bool to_has_files = false;
  for (const SstInfo& sst : survey.ssts) {
    to_has_files = to_has_files || sst.level == to;
    if (sst.medium_bytes > 0 && busy.count(sst.number) == 0 && !(sst.level == 0 && top_busy) &&
        (sst.level < to || merged.count(sst.number) == 0) &&
        (best == nullptr || ComesBefore(sst, *best))) {
      best = &sst;
    }
  }
  if (best == nullptr) {
    return Plan();
  }
  if (best->level >= to) {
    return PlanTo(best->level, survey, *best);
  }
  // RocksDB may not use the last level but one yet.
  return PlanTo(to_has_files ? to : Bottom(survey), survey, *best);
}

Collected FindCollected(const Survey& survey, const Since& since, const std::set<uint64_t>& bad) {
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
    if (bad.count(sst.number) > 0) {
      continue;
    }
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

std::vector<Plan> PickCompactions(const Survey& survey, const Space& space, const Since& since,
                                  const std::set<uint64_t>& busy,
                                  const BlobHybridOptions& options) {
  Plan plan = Push(survey, space, /*ranges=*/true, busy);
  if (!plan.inputs.empty()) {
    return {plan};
  }
  const double most = std::min(kMostBatch, static_cast<double>(space.disk_bytes) * kBatch);
  Space known = space;
  if (OnlyWaits(survey, space, options)) {
    known.hidden_bytes = 0;
    known.hidden_sst_bytes = 0;
  }
  std::vector<Plan> plans = Picker(survey, known, since, busy, LeastRatio(options)).Best(most);
  if (plans.empty() && known.hidden_bytes + known.hidden_sst_bytes > 0) {
    plan = Push(survey, known, /*ranges=*/false, busy);
    if (!plan.inputs.empty()) {
      plans.push_back(plan);
    }
  }
  return plans;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
