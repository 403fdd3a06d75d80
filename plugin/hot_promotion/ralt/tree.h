// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/hot_promotion/ralt/batch.h"
#include "plugin/hot_promotion/ralt/buffer.h"
#include "plugin/hot_promotion/ralt/current.h"
#include "plugin/hot_promotion/ralt/file_set.h"
#include "plugin/hot_promotion/ralt/merge.h"
#include "plugin/hot_promotion/ralt/options.h"
#include "plugin/hot_promotion/ralt/parameters.h"
#include "plugin/hot_promotion/ralt/space.h"
#include "plugin/hot_promotion/ralt/stats.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// The table without its buffer: sorted runs on the disk, how they are merged, and what is evicted.
//
// IsHot() and Stats() are thread-safe; all else is for one thread. A change is made durable in the
// catalog before readers see it.
class Tree {
 public:
  explicit Tree(const RaltOptions& options);

  Status Open();

  // Writes accesses as the newest run, or as several if they are very many. What fails is lost, and
  // the rest is written.
  Status Add(const std::vector<Chunk>& chunks);

  // Brings the table into its limits and into shape. May take long; calls `between` now and then,
  // which may call Add().
  Status Maintain(const Between& between);

  bool IsHot(Space space, const Slice& key) const;
  // All but what the buffer counts.
  RaltStats Stats() const;

  // Goes through all records, in the order of their keys.
  std::unique_ptr<Merger> TEST_NewMerger() const;
  const Scoring& scoring() const { return scoring_; }
  uint64_t tick() const { return clock_.tick; }

 private:
  // Job: what a merge of some neighbouring runs does to the version.
  struct Job {
    std::vector<uint64_t> inputs;  // ids of runs, as is output
    uint64_t output;
    size_t older;  // so many runs are older
    bool Input(const Run& run) const;
  };

  Status Load(const Catalog& catalog);
  Catalog NewCatalog(const Version& version) const;
  Status Install(Version next);
  void Publish(const Current::Pointer& version);
  void Count(uint64_t RaltStats::*counter, uint64_t amount);
  // Counts a failure, and tells it in the LOG if it is the first one.
  void Tell(const char* operation, const Status& s);

  Status AddRun(const Batch& batch);
  Status WriteRun(const Batch& batch, const Version& version, std::shared_ptr<const RunFile>* file);
  // TryAgain: there may be more to do.
  Status MaintainOnce(const Between& between);
  std::unique_ptr<Merge> NewMerge(size_t count, const Verdict& verdict, Job* job);
  Status MergeNewest(size_t count, const Verdict& verdict, const Between& between, Tally* tally);
  Status MergeAll(const Verdict& verdict, const Between& between, Tally* tally);
  Status Step(Merge* merge, const Job& job, const Between& between);
  Version After(const Merge& merge, const Job& job,
                const std::shared_ptr<const RunFile>& file) const;
  Status Drop(const RunFile& damaged);

  bool Over(const Version& version) const;
  Status Evict(const Between& between);
  Status SetLimits(const Stable& stable);
  // Returns how many of the newest runs are to be merged for the table's shape.
  size_t Unshapely() const;
  // Whether stable records alone may be too many.
  bool ScoresMatter(const Version& version) const;
  Status Survey(const Between& between, Verdict* verdict);
  Stable Targets(const Version& version, const Stable& stable) const;

  const Parameters parameters_;
  const Scoring scoring_;
  FileSet files_;

  Clock clock_;
  uint64_t next_file_ = 1;
  uint64_t next_run_ = 1;
  Limits limits_;
  Stable stable_;
  double hot_rank_ = Verdict::kAll;
  bool failing_ = false;
  bool due_ = true;  // something has changed since Maintain() was through
  Current current_;

  mutable port::Mutex stats_mutex_;
  RaltStats stats_;  // guarded by stats_mutex_; gauges of the version are not kept here
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
