// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/metrics_page.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "rocksdb/version.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr char kPrefix[] = "rocktier_blob_hybrid_";
constexpr char kProperty[] = "rocktier.blob_hybrid.";
constexpr char kEnd[] = "# EOF\n";
constexpr char kCounter[] = "counter";

// A unit of ours, and what becomes of it.
struct Unit {
  const char* name;
  const char* end;   // of a name of ours, without the underscore
  const char* base;  // OpenMetrics' unit, the end of the name there
  int digits;        // decimal places that the value gets
};

constexpr Unit kUnits[] = {
    {"bytes", "bytes", "bytes", 0}, {"microseconds", "micros", "seconds", 6},
    {"us", "us", "seconds", 6},     {"percent", "percent", "ratio", 2},
    {"ratio", "ratio", "ratio", 0}, {"seconds", "seconds", "seconds", 0},
};

// Null: a count.
const Unit* UnitOf(const std::string& name) {
  const auto* it = std::find_if(std::begin(kUnits), std::end(kUnits),
                                [&](const Unit& unit) { return name == unit.name; });
  return it == std::end(kUnits) ? nullptr : it;
}

bool EndsWithWord(const std::string& name, const std::string& word) {
  const std::string end = "_" + word;
  return name == word ||
         (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0);
}

// The metric in base units, its name without prefix.
Metric InBaseUnits(Metric metric) {
  const Unit* unit = UnitOf(metric.unit);
  metric.unit = unit == nullptr ? "" : unit->base;
  if (unit != nullptr && EndsWithWord(metric.name, unit->end)) {
    metric.name.resize(metric.name.size() -
                       std::min(metric.name.size(), std::string(unit->end).size() + 1));
  }
  if (unit != nullptr) {
    metric.name += (metric.name.empty() ? "" : "_") + metric.unit;
  }
  return metric;
}

std::string Decimal(uint64_t value, int digits) {
  std::string text = std::to_string(value);
  if (digits == 0) {
    return text;
  }
  const auto places = static_cast<size_t>(digits);
  text.insert(0, text.size() <= places ? places + 1 - text.size() : 0, '0');
  return text.insert(text.size() - places, ".");
}

std::string Escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"') {
      result += '\\';
    }
    result += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return result;
}

std::string InBraces(const MetricsPage::Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += (text.empty() ? "{" : ",") + name + "=\"" + Escaped(value) + "\"";
  }
  return text.empty() ? text : text + "}";
}

// Seconds since 1970, with milliseconds.
std::string Now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Decimal(
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()), 3);
}

std::string RocksDbVersion() {
  return std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
         std::to_string(ROCKSDB_PATCH);
}

std::string Head(const Metric& metric) {
  const std::string name = kPrefix + metric.name;
  return "# HELP " + name + " " + Escaped(metric.help) + "\n# TYPE " + name + " " + metric.type +
         "\n" + (metric.unit.empty() ? "" : "# UNIT " + name + " " + metric.unit + "\n");
}

// Who writes the page, and when.
std::string AboutItself(const MetricsPage::Labels& owner) {
  const Metric info = {"info", "gauge", "", "version of the plugin and of RocksDB, and process"};
  const Metric updated = {"updated_seconds", "gauge", "seconds", "time of writing, since 1970"};
  MetricsPage::Labels labels = owner;
  labels.emplace_back("version", kMetricsVersion);
  labels.emplace_back("rocksdb", RocksDbVersion());
  labels.emplace_back("pid", std::to_string(getpid()));
  return Head(info) + MetricsPage::NameInText(info) + InBraces(labels) + " 1\n" + Head(updated) +
         MetricsPage::NameInText(updated) + InBraces(owner) + " " + Now() + "\n";
}

}  // namespace

void MetricsPage::Add(const Metric& metric, uint64_t value, const Labels& labels) {
  const Unit* unit = UnitOf(metric.unit);
  AddText(metric, Decimal(value, unit == nullptr ? 0 : unit->digits), labels);
}

void MetricsPage::Add(const Metric& metric, double value, const Labels& labels) {
  char text[32];
  snprintf(text, sizeof(text), "%.12g", value);
  AddText(metric, text, labels);
}

void MetricsPage::AddText(const Metric& metric, const std::string& value, const Labels& labels) {
  const Metric base = InBaseUnits(metric);
  auto it = std::find_if(families_.begin(), families_.end(),
                         [&](const Family& family) { return family.metric.name == base.name; });
  if (it == families_.end()) {
    it = families_.insert(it, Family{base, NameInText(metric), {}});
  }
  it->samples.push_back({labels, value});
}

std::string MetricsPage::Text(const Labels& owner) const {
  std::string text = AboutItself(owner);
  for (const Family& family : families_) {
    text += Head(family.metric);
    for (const Sample& sample : family.samples) {
      text += family.name_in_text + InBraces(sample.labels) + " " + sample.value + "\n";
    }
  }
  return text + kEnd;
}

template <typename Use>
bool MetricsPage::ForEach(const Use& use) const {
  for (const Family& family : families_) {
    for (const Sample& sample : family.samples) {
      std::string name = family.metric.name;
      for (const auto& label : sample.labels) {
        name += "." + label.second;
      }
      if (use(name, sample.value)) {
        return true;
      }
    }
  }
  return false;
}

std::string MetricsPage::Lines() const {
  std::string lines;
  ForEach([&](const std::string& name, const std::string& value) {
    lines.append("  ").append(name).append(" ").append(value).append("\n");
    return false;
  });
  return lines;
}

bool MetricsPage::Find(const std::string& property, std::string* value) const {
  return ForEach([&](const std::string& name, const std::string& known) {
    if (property != kProperty + name) {
      return false;
    }
    *value = known;
    return true;
  });
}

std::string MetricsPage::NameInText(const Metric& metric) {
  return kPrefix + InBaseUnits(metric).name + (metric.type == kCounter ? "_total" : "");
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
