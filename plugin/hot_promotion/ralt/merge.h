// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "plugin/hot_promotion/ralt/cursor.h"
#include "plugin/hot_promotion/ralt/file_set.h"
#include "plugin/hot_promotion/ralt/parameters.h"
#include "plugin/hot_promotion/ralt/run_file_builder.h"
#include "plugin/hot_promotion/ralt/version.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Called now and then in the course of a merge, for what cannot wait. False: the merge is to end
// soon.
using Between = std::function<bool()>;

// Verdict: which records a merge keeps, and which of these are hot.
struct Verdict {
  static constexpr double kAll = -std::numeric_limits<double>::infinity();

  double keep_rank = kAll;  // records of a lower rank go
  double hot_rank = kAll;   // records of a lower rank are not hot
  bool stable_only = false;
  uint64_t now = 0;  // the tick by which a record is stable

  bool ByRank() const { return keep_rank != kAll || hot_rank != kAll; }
};

// Tally: what a merge has met.
struct Tally {
  Stable stable;          // of the records that were kept
  uint64_t unstable = 0;  // records that went
  uint64_t cold = 0;      // stable records that went
};

// Merges runs into new run files, one at a time. Does not touch the runs. Not thread-safe.
class Merge {
 public:
  // `older`: the runs that are older than `inputs`, which are side by side.
  Merge(FileSet* files, const Scoring* scoring, const Runs& inputs, Runs older, Verdict verdict);

  // Writes the next run file, of about so many bytes of access records; null if none was kept.
  // Aborted: by `between`. Corruption with damaged() not null: of an input.
  Status Next(uint64_t number, uint64_t bytes, const Between& between,
              std::shared_ptr<const RunFile>* file);

  // All records were seen.
  bool Done() const { return !merger_.Valid(); }
  // The last key seen.
  const std::string& upto() const { return upto_; }
  const RunFile* damaged() const;
  const Tally& tally() const { return tally_; }

 private:
  Status Fill(uint64_t number, uint64_t bytes, const Between& between,
              std::unique_ptr<RunFileBuilder>* builder);
  Status Keep(uint64_t number, uint64_t hash, double rank,
              std::unique_ptr<RunFileBuilder>* builder);
  // Counts a record, and whether it stays.
  bool Judge(double rank);

  FileSet* const files_;
  const Scoring* const scoring_;
  const Runs older_;
  const Verdict verdict_;
  Merger merger_;
  std::string upto_;
  Tally tally_;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
