// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <vector>

#include "plugin/tiered_env/tier/policy.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Which directory gets a file, of tiers that have several: each gets files in proportion to its
// free space. Files whose numbers follow one another go to different ones, so that the directories
// are read at once. Asks for the free space when it is made; constant afterwards.
class Directories {
 public:
  // `leaving`: gets none. May be null. Unless `budgeted`, it is for files that take of no budget,
  // such as logs: all that their devices have free is for them.
  explicit Directories(const Policy& policy, const Tier* leaving = nullptr, bool budgeted = true);

  // The directory for a file of this number: one of the tier that `tier` is a directory of.
  Tier* For(Tier* tier, uint64_t number) const;
  // The directory for a file that is written now: one where fewer files are being written than its
  // share of them, and of these the one that has the fewest bytes for its share, of those that came
  // and went since the first call. So the directories are written to at once, and read evenly. Of
  // files that take of no budget nobody knows how many bytes they have: each counts `bytes`, for
  // good.
  // `bytes`: what has not so much free gets it only if none has.
  Tier* ForNew(Tier* tier, uint64_t bytes = 0) const;

 private:
  // The directories of the tier: indexes, the last one excluded.
  struct Range {
    size_t first;
    size_t end;
  };
  Range DirectoriesOf(const Tier& tier) const;
  // How much of what the tier gets is for the directory: 0 to 1.
  double ShareOf(const Range& range, size_t index) const;
  Turn* TurnOf(size_t index) const;
  // Brings the directories' turns up to date.
  void Count(const Range& range) const;

  const Policy& policy_;
  const bool budgeted_;
  std::vector<double> free_;  // bytes, by the index of the tier; 0 of a tier's only directory
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
