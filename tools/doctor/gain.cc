// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/doctor/gain.h"

#include <algorithm>
#include <utility>

#include "tools/preset/formula.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

namespace {

// Microseconds that RocksDB itself takes for an operation.
constexpr double kLeastRest = 5;
constexpr double kMostRest = 40;

// One end of the range, by its figures.
struct End {
  std::vector<std::pair<std::string, double>> figures;
  double gain = 0;
};

void Compute(const std::string& formula, End* end) {
  end->gain = preset::Evaluate(formula, [end](const std::string& name) {
    for (const auto& [known, value] : end->figures) {
      if (known == name) {
        return value;
      }
    }
    return 0.0;
  });
}

// The least and the most of what the figures make.
void TakeRange(std::vector<End> ends, Gain* gain) {
  for (End& end : ends) {
    Compute(gain->formula, &end);
  }
  const auto [low, high] =
      std::minmax_element(ends.begin(), ends.end(),
                          [](const End& one, const End& other) { return one.gain < other.gain; });
  gain->low = low->gain;
  gain->high = high->gain;
  for (size_t i = 0; i < low->figures.size(); i++) {
    gain->figures.push_back(
        {low->figures[i].first, low->figures[i].second, high->figures[i].second});
  }
}

// Each quartile of the one goes with the same one of the other: who else uses the disks slows down
// both.
std::vector<std::pair<double, double>> QuartilesOf(const Latency& one, const Latency& other) {
  return {{one.low, other.low}, {one.median, other.median}, {one.high, other.high}};
}

}  // namespace

Gain GainOfWrites(const Latency& sync, const Latency& device_sync) {
  Gain gain;
  gain.of = "writes of one thread that sync each";
  gain.formula = "(sync + rest) / (device_sync + rest)";
  std::vector<End> ends;
  for (const auto& [stock, device] : QuartilesOf(sync, device_sync)) {
    for (const double rest : {kMostRest, kLeastRest}) {
      ends.push_back({{{"sync", stock}, {"device_sync", device}, {"rest", rest}}, 0});
    }
  }
  TakeRange(std::move(ends), &gain);
  return gain;
}

Gain GainOfReads(const Latency& slow, const Latency& fast, double low_share, double high_share) {
  Gain gain;
  gain.of = "random reads past the caches, against all data on the slow device";
  gain.formula = "(slow + rest) / (share * fast + (1 - share) * slow + rest)";
  std::vector<End> ends;
  for (const auto& [of_slow, of_fast] : QuartilesOf(slow, fast)) {
    for (const double share : {low_share, high_share}) {
      for (const double rest : {kMostRest, kLeastRest}) {
        ends.push_back(
            {{{"slow", of_slow}, {"fast", of_fast}, {"share", share}, {"rest", rest}}, 0});
      }
    }
  }
  TakeRange(std::move(ends), &gain);
  return gain;
}

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
