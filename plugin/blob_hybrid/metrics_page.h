// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Statistics as OpenMetrics' text, as properties, and as a block of the LOG. Each plugin has a copy
// of this file, and of metrics_page.cc.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// The version of rocktier, which a statistics file tells.
constexpr char kMetricsVersion[] = "0.2.0";

// A figure, as the lists of counters in the public header have it.
struct Metric {
  std::string name;
  std::string type;  // counter or gauge
  std::string unit;  // of the value that is added
  std::string help;
};

// MetricsPage: samples of metrics, by metric, in the order in which these came. In names and values
// OpenMetrics' base units take the place of microseconds and percent: flush_wait_micros becomes
// flush_wait_seconds. Bytes, seconds and ratios are the end of a name. Not thread-safe.
class MetricsPage {
 public:
  // Names and values of labels.
  using Labels = std::vector<std::pair<std::string, std::string>>;

  void Add(const Metric& metric, uint64_t value, const Labels& labels = {});
  // A value that is in base units.
  void Add(const Metric& metric, double value, const Labels& labels = {});

  // The page in OpenMetrics' text format. `owner`: labels of what the page says of itself.
  std::string Text(const Labels& owner = {}) const;
  // A line "name value" for each sample, indented; labels are behind the name, as in properties.
  std::string Lines() const;
  // Finds a sample by the name of its property: "rocktier.blob_hybrid.NAME".
  // Values of labels follow, each behind a point.
  bool Find(const std::string& property, std::string* value) const;

  // What samples of a metric are called in the text.
  static std::string NameInText(const Metric& metric);

 private:
  struct Sample {
    Labels labels;
    std::string value;
  };
  struct Family {
    Metric metric;  // in base units, its name without prefix
    std::string name_in_text;
    std::vector<Sample> samples;
  };

  void AddText(const Metric& metric, const std::string& value, const Labels& labels);
  // Calls use(what a property and the LOG call a sample, its value) until that returns true.
  template <typename Use>
  bool ForEach(const Use& use) const;

  std::vector<Family> families_;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
