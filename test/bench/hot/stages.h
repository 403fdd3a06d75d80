// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Which records the operations of hot_driver go to, and how that changes with time.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/bench/common/workload.h"

namespace rocktier_bench {

// A part of a run: all parts take the same time. Of the records in the order of their popularity,
// 95% of the operations go to those from `first` on; these and `size` are shares of all. The rest,
// or all if size is 0, go to any record.
struct Stage {
  const char* name;
  double first;
  double size;
};

// hotspot: 5%. shift: then another 5%. dynamic: section 4.6 of the HotRAP paper. uniform, zipf
// (0.99): one stage. Empty: no such name.
std::vector<Stage> StagesOf(const std::string& name);

// Thread-safe: constant after construction.
class RecordChooser {
 public:
  RecordChooser(const std::string& name, uint64_t records);

  // The number of a record.
  uint64_t Next(const Stage& stage, Random* random) const;

 private:
  const uint64_t records_;
  const bool is_zipf_;
  const Permutation popular_;
  const Zipf zipf_;
};

}  // namespace rocktier_bench
