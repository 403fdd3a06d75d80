// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/common/workload.h"

#include <cmath>

namespace rocktier_bench {

namespace {

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

constexpr double kZipfTheta = 0.99;
// Operations after which the popularity has moved on by a kilobyte of data.
constexpr double kSlowDrift = 100;
constexpr double kFastDrift = 5;
constexpr int kFeistelRounds = 4;

}  // namespace

uint64_t Random::Next() { return Mix(state_ += 0x9e3779b97f4a7c15ull); }

uint64_t Random::Uniform(uint64_t n) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * n) >> 64);
}

double Random::NextDouble() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

Permutation::Permutation(uint64_t n, uint64_t seed) : n_(n), seed_(Mix(seed + 1)) {
  while ((uint64_t{1} << (2 * half_bits_)) < n) ++half_bits_;
}

// A Feistel network permutes 0..2^(2 * half_bits_) - 1.
uint64_t Permutation::Round(uint64_t i) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = i >> half_bits_;
  uint64_t right = i & mask;
  for (int round = 0; round < kFeistelRounds; ++round) {
    const uint64_t next = left ^ (Mix(right + seed_ + static_cast<uint64_t>(round)) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

// Following the cycle until it is back below n_ makes it a permutation of 0..n_-1.
uint64_t Permutation::operator()(uint64_t i) const {
  do {
    i = Round(i);
  } while (i >= n_);
  return i;
}

Zipf::Zipf(uint64_t n, double theta) : n_(n), theta_(theta) {
  for (uint64_t i = 1; i <= n; ++i) zeta_ += 1.0 / std::pow(static_cast<double>(i), theta);
  const double zeta_of_two = 1.0 + std::pow(0.5, theta);
  alpha_ = 1.0 / (1.0 - theta);
  eta_ = (1.0 - std::pow(2.0 / static_cast<double>(n), 1.0 - theta)) / (1.0 - zeta_of_two / zeta_);
}

uint64_t Zipf::Next(Random* random) const {
  const double u = random->NextDouble();
  const double uz = u * zeta_;
  if (uz < 1.0) return 0;
  if (uz < 1.0 + std::pow(0.5, theta_)) return 1;
  const auto rank =
      static_cast<uint64_t>(static_cast<double>(n_) * std::pow(eta_ * u - eta_ + 1.0, alpha_));
  return rank < n_ ? rank : n_ - 1;
}

uint64_t ChooseInFamilies(uint64_t records, uint64_t families, double hot_share, Random* random) {
  const bool is_hot = families == 1 || random->NextDouble() < hot_share;
  const uint64_t family = is_hot ? 0 : 1 + random->Uniform(families - 1);
  return random->Uniform(records / families) * families + family;
}

bool FindWorkload(const std::string& name, uint64_t num_keys, uint64_t kilobytes,
                  Workload* workload) {
  *workload = Workload();
  if (name == "zipf") return true;
  if (name == "zipf_scan") {
    workload->scan_period = kilobytes * 3 / 10;
    workload->scan_length = workload->scan_period / 5;
    return true;
  }
  if (name == "drift_slow" || name == "drift_fast") {
    const double ops_per_kilobyte = name == "drift_slow" ? kSlowDrift : kFastDrift;
    workload->ops_per_drift_step =
        ops_per_kilobyte * static_cast<double>(kilobytes) / static_cast<double>(num_keys);
    return true;
  }
  if (name == "overwrite" || name == "overwrite_30" || name == "overwrite_30_reads") {
    workload->overwrite_share = name == "overwrite" ? 0.05 : 0.3;
    workload->writes = name != "overwrite_30_reads";
    return true;
  }
  if (name == "80_20") {
    workload->keys = Workload::Keys::kEightyTwenty;
    return true;
  }
  if (name == "uniform") {
    workload->keys = Workload::Keys::kUniform;
    return true;
  }
  return false;
}

KeyChooser::KeyChooser(const Workload& workload, uint64_t num_keys, uint64_t seed)
    : workload_(workload), num_keys_(num_keys), permutation_(num_keys, seed) {
  if (workload.keys == Workload::Keys::kZipf) zipf_ = std::make_unique<Zipf>(num_keys, kZipfTheta);
}

uint64_t KeyChooser::NextRank(Random* random) const {
  switch (workload_.keys) {
    case Workload::Keys::kZipf:
      return zipf_->Next(random);
    case Workload::Keys::kEightyTwenty: {
      const uint64_t hot = num_keys_ / 5;
      return random->NextDouble() < 0.8 ? random->Uniform(hot)
                                        : hot + random->Uniform(num_keys_ - hot);
    }
    case Workload::Keys::kUniform:
      break;
  }
  return random->Uniform(num_keys_);
}

uint64_t KeyChooser::Next(uint64_t op, Random* random) const {
  uint64_t rank = NextRank(random);
  if (workload_.ops_per_drift_step > 0) {
    rank += static_cast<uint64_t>(static_cast<double>(op) / workload_.ops_per_drift_step);
  }
  return permutation_(rank % num_keys_);
}

}  // namespace rocktier_bench
