// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/hot/stages.h"

#include <algorithm>

namespace rocktier_bench {

namespace {

constexpr double kTheta = 0.99;
constexpr double kHotShare = 0.95;  // of the operations

uint64_t Part(uint64_t records, double share) {
  return static_cast<uint64_t>(static_cast<double>(records) * share);
}

}  // namespace

std::vector<Stage> StagesOf(const std::string& name) {
  if (name == "hotspot") return {{"hotspot", 0, 0.05}};
  if (name == "shift") return {{"before", 0, 0.05}, {"after", 0.05, 0.05}};
  if (name == "dynamic") {
    return {{"uniform", 0, 0},  {"1", 0, 0.01},    {"3", 0, 0.03},   {"5", 0, 0.05},
            {"5b", 0.05, 0.05}, {"4", 0.05, 0.04}, {"2", 0.05, 0.02}};
  }
  if (name == "uniform" || name == "zipf") return {{"all", 0, 0}};
  return {};
}

RecordChooser::RecordChooser(const std::string& name, uint64_t records)
    : records_(records),
      is_zipf_(name == "zipf"),
      popular_(records, 2),
      zipf_(is_zipf_ ? records : 2, kTheta) {}

uint64_t RecordChooser::Next(const Stage& stage, Random* random) const {
  if (is_zipf_) return popular_(zipf_.Next(random));
  if (stage.size == 0 || random->NextDouble() >= kHotShare) return random->Uniform(records_);
  const uint64_t hot = std::max<uint64_t>(1, Part(records_, stage.size));
  return popular_((Part(records_, stage.first) + random->Uniform(hot)) % records_);
}

}  // namespace rocktier_bench
