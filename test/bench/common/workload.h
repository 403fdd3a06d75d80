// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Which key comes next. Pure functions of a seed: the same seed gives the same operations.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace rocktier_bench {

// A small, fast generator (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  // In [0, n).
  uint64_t Uniform(uint64_t n);
  // In [0, 1).
  double NextDouble();

 private:
  uint64_t state_;
};

// A fixed random order of the numbers 0..n-1, in constant space: neighbours in rank are no
// neighbours in the key space, so a popular key does not make its neighbours' blocks popular.
class Permutation {
 public:
  Permutation(uint64_t n, uint64_t seed);
  uint64_t operator()(uint64_t i) const;

 private:
  uint64_t Round(uint64_t i) const;

  const uint64_t n_;
  const uint64_t seed_;
  int half_bits_ = 0;
};

// Ranks 0..n-1 with probability proportional to 1 / (rank + 1)^theta (Gray et al., "Quickly
// generating billion-record synthetic databases", as in YCSB). Constant after construction.
class Zipf {
 public:
  Zipf(uint64_t n, double theta);
  uint64_t Next(Random* random) const;

 private:
  const uint64_t n_;
  const double theta_;
  double zeta_ = 0;
  double alpha_ = 0;
  double eta_ = 0;
};

// Chooses one of the records of several families of equal size: record n is in family
// n % families. `hot_share` of the choices are in family 0, and the others share the rest. The
// records of a family are alike.
uint64_t ChooseInFamilies(uint64_t records, uint64_t families, double hot_share, Random* random);

// How a workload chooses keys and what it does with them.
struct Workload {
  enum class Keys { kZipf, kEightyTwenty, kUniform };

  Keys keys = Keys::kZipf;
  // Operations after which the whole order of popularity moves on by one key; 0 = it stays.
  double ops_per_drift_step = 0;
  // Share of the operations that overwrite the key instead of reading it.
  double overwrite_share = 0;
  // False: what would overwrite does nothing.
  bool writes = true;
  // A full scan starts every `scan_period` operations and is spread over `scan_length` of them;
  // 0 = no scans.
  uint64_t scan_period = 0;
  uint64_t scan_length = 0;
};

// False if there is no workload of this name. Names: zipf, zipf_scan, 80_20, drift_slow,
// drift_fast, uniform, overwrite (5% of the operations), overwrite_30, overwrite_30_reads (the same
// without its writes). Periods and speeds are relative to the size of the data, `kilobytes` in
// `num_keys` keys, so that a cache of a given share of the data sees the same pattern at every
// size.
bool FindWorkload(const std::string& name, uint64_t num_keys, uint64_t kilobytes,
                  Workload* workload);

// The keys of a workload. Thread-safe: constant after construction.
class KeyChooser {
 public:
  KeyChooser(const Workload& workload, uint64_t num_keys, uint64_t seed);
  // The key of the operation number `op` (counted over all threads).
  uint64_t Next(uint64_t op, Random* random) const;

 private:
  uint64_t NextRank(Random* random) const;

  const Workload workload_;
  const uint64_t num_keys_;
  const Permutation permutation_;
  std::unique_ptr<Zipf> zipf_;
};

}  // namespace rocktier_bench
