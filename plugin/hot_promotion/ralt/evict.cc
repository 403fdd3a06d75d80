// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tree: what is evicted, and its statistics.

#include <algorithm>
#include <utility>

#include "plugin/hot_promotion/ralt/key.h"
#include "plugin/hot_promotion/ralt/sample.h"
#include "plugin/hot_promotion/ralt/tree.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

constexpr uint64_t kSamplePoints = 4096;
constexpr uint64_t kRecordsBetween = 1 << 14;

uint64_t Scale(uint64_t bytes, double ratio) {
  return static_cast<uint64_t>(static_cast<double>(bytes) * ratio);
}

double Ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 1 : static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace

bool Tree::Over(const Version& version) const {
  const Amounts total = version.Total();
  return total.hot_bytes > limits_.hot || total.table_bytes > limits_.table ||
         version.FileBytes() > parameters_.max_bytes;
}

// Returns what an eviction may leave: a limit less the part that it is to make free. The files take
// more or less than the bytes of their records.
Stable Tree::Targets(const Version& version, const Stable& stable) const {
  const Limits limits = NextLimits(parameters_, stable);
  const double in_file = Ratio(version.Total().raw_bytes, version.FileBytes());
  const double left = 1 - parameters_.evict_ratio;
  Stable targets;
  targets.hot_bytes = Scale(limits.hot, left);
  targets.table_bytes = Scale(std::min(limits.table, Scale(parameters_.max_bytes, in_file)), left);
  return targets;
}

bool Tree::ScoresMatter(const Version& version) const {
  const Amounts total = version.Total();
  const Stable most = {hot_rank_ == Verdict::kAll ? total.hot_bytes : total.sizes,
                       total.table_bytes};
  const Stable targets = Targets(version, most);
  return most.hot_bytes > targets.hot_bytes || most.table_bytes > targets.table_bytes;
}

// Finds the ranks from which on stable records meet the targets.
Status Tree::Survey(const Between& between, Verdict* verdict) {
  const Current::Pointer version = current_.Get();
  Sample hot(kSamplePoints, clock_.tick + 1);
  Sample table(kSamplePoints, clock_.tick + 2);
  uint64_t seen = 0;
  Merger merger(version->runs, &scoring_);
  for (; merger.Valid(); merger.Next()) {
    const Record& record = merger.record();
    if (scoring_.Stable(record, verdict->now)) {
      const double rank = scoring_.Rank(record, HashOf(merger.key()));
      hot.Add(rank, record.size);
      table.Add(rank, merger.key().size() + record.EncodedSize());
    }
    if (++seen % kRecordsBetween == 0 && !between()) {
      return Status::Aborted("the table is being closed");
    }
  }
  Count(&RaltStats::read_bytes, version->FileBytes());
  if (merger.status().IsCorruption()) {
    const Status s = Drop(*merger.damaged());
    return s.ok() ? Status::TryAgain() : s;
  }
  const Stable targets = Targets(*version, {hot.size(), table.size()});
  verdict->hot_rank = hot.Threshold(targets.hot_bytes);
  verdict->keep_rank = table.Threshold(targets.table_bytes);
  return merger.status();
}

// Algorithm 1, lines 14 to 21.
Status Tree::Evict(const Between& between) {
  Verdict verdict;
  verdict.stable_only = true;
  verdict.now = clock_.tick;
  const bool surveyed = ScoresMatter(*current_.Get());
  if (surveyed) {
    const Status s = Survey(between, &verdict);
    if (!s.ok()) {
      return s;
    }
  }
  hot_rank_ = verdict.hot_rank;
  Tally tally;
  Status s = MergeAll(verdict, between, &tally);
  if (!s.ok()) {
    return s;
  }
  Count(&RaltStats::evictions, 1);
  Count(&RaltStats::evicted_unstable, tally.unstable);
  Count(&RaltStats::evicted_cold, tally.cold);
  s = SetLimits(tally.stable);
  // Record sizes that have changed since may make the table exceed its limits. A survey that makes
  // nothing go is not tried again.
  due_ |= (!surveyed || tally.unstable + tally.cold > 0) && Over(*current_.Get());
  return s;
}

Status Tree::SetLimits(const Stable& stable) {
  stable_ = stable;
  limits_ = NextLimits(parameters_, stable);
  return Install(*current_.Get());
}

RaltStats Tree::Stats() const {
  const Current::Pointer version = current_.Get();
  const Amounts total = version->Total();
  MutexLock lock(&stats_mutex_);
  RaltStats stats = stats_;
  stats.records = total.records;
  stats.runs = version->runs.size();
  stats.file_bytes = version->FileBytes();
  stats.hot_keys = total.hot_keys;
  stats.hot_bytes = total.hot_bytes;
  stats.table_bytes = total.table_bytes;
  for (const RunPtr& run : version->runs) {
    stats.files += run->parts().size();
    for (const Part& part : run->parts()) {
      stats.memory_bytes += part.file->MemoryUsage();
    }
  }
  return stats;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
