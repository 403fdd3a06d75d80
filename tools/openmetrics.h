// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Reads OpenMetrics' text, as far as statistics files of the plugins have it: no timestamps, no
// exemplars, nothing but counters and gauges.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

struct MetricSample {
  // Whether it is a counter: its name ends in _total.
  bool IsCounter() const;
  // The value of a label; null if there is no such label.
  const std::string* Label(const std::string& label) const;

  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;  // finite
};

// The largest text that is read, and the most samples that one may have.
constexpr uint64_t kMaxMetricsBytes = 16 << 20;
constexpr size_t kMaxMetricSamples = 100000;

// Reads a whole text, up to its "# EOF". Corruption, with the line, if it is anything else.
Status ParseMetrics(const std::string& text, std::vector<MetricSample>* samples);

// Reads a file and parses it. Waits for nothing that is no regular file, and reads no more than
// kMaxMetricsBytes.
Status ReadMetrics(const std::string& path, std::vector<MetricSample>* samples);

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
