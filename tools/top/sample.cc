// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/top/sample.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace top {

namespace {

using State = StatisticsFile::State;

constexpr char kPrefix[] = "rocktier_";
constexpr char kInfo[] = "_info";
constexpr char kUpdated[] = "_updated_seconds";
// A file is stale after so many intervals, and not before so many seconds: while a disk is busy,
// writing it takes long, and plugins pause for some seconds then.
constexpr double kIntervals = 3;
constexpr double kSeconds = 60;

double Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string KeyOf(const MetricSample& metric) {
  std::string key = metric.name;
  for (const auto& [name, value] : metric.labels) {
    key.append(1, '\0').append(name).append(1, '\0').append(value);
  }
  return key;
}

// The plugin of the metric rocktier_PLUGIN_info, empty if it is another one.
std::string PluginOf(const std::string& name) {
  const size_t begin = sizeof(kPrefix) - 1;
  const size_t end = name.size() - std::min(name.size(), sizeof(kInfo) - 1);
  return end > begin && name.compare(0, begin, kPrefix) == 0 && name.compare(end, end, kInfo) == 0
             ? name.substr(begin, end - begin)
             : "";
}

std::string ValueOf(const MetricSample& metric, const std::string& label) {
  const std::string* value = metric.Label(label);
  return value == nullptr ? "" : *value;
}

// Takes what a file says of itself out of its samples. False: it says nothing.
bool TakeHead(std::vector<MetricSample>* metrics, StatisticsFile* file) {
  const auto info = std::find_if(metrics->begin(), metrics->end(), [](const MetricSample& metric) {
    return !PluginOf(metric.name).empty();
  });
  if (info == metrics->end()) {
    return false;
  }
  file->plugin = PluginOf(info->name);
  file->version = ValueOf(*info, "version");
  file->rocksdb = ValueOf(*info, "rocksdb");
  file->process = strtoll(ValueOf(*info, "pid").c_str(), nullptr, 10);
  metrics->erase(info);
  const auto updated = std::find_if(
      metrics->begin(), metrics->end(),
      [&](const MetricSample& metric) { return metric.name == kPrefix + file->plugin + kUpdated; });
  if (updated == metrics->end()) {
    return false;
  }
  file->updated = updated->value;
  metrics->erase(updated);
  return file->process > 0;
}

// A file of several databases: leaves what is of this one, and of none. False: there is nothing of
// this one, and everything is left.
bool TakeDatabase(const std::string& db, std::vector<MetricSample>* metrics) {
  std::map<std::string, bool> ours;
  const auto is_other = [&](const MetricSample& metric) {
    const std::string* label = metric.Label("db");
    return label != nullptr && !ours[*label];
  };
  for (const MetricSample& metric : *metrics) {
    const std::string* label = metric.Label("db");
    if (label != nullptr && ours.count(*label) == 0) {
      ours[*label] = Canonical(*label) == db;
    }
  }
  if (!ours.empty() && std::all_of(metrics->begin(), metrics->end(), is_other)) {
    return false;
  }
  metrics->erase(std::remove_if(metrics->begin(), metrics->end(), is_other), metrics->end());
  return true;
}

// The order in which plugins are shown: from the tiers down, then what is for reads and values.
size_t RankOf(const std::string& plugin) {
  static const char* const kOrder[] = {"tiered_env", "raw_wal_fs", "secondary_cache_2q",
                                       "hot_promotion", "blob_hybrid"};
  return static_cast<size_t>(std::find(std::begin(kOrder), std::end(kOrder), plugin) -
                             std::begin(kOrder));
}

std::string Seconds(double seconds) {
  return std::to_string(static_cast<long long>(std::min(seconds, 1e15))) + " s";
}

// What is wrong, of a message that is about a path.
std::string WithoutPath(const std::string& message, const std::string& path) {
  const size_t at = message.find(path + ": ");
  return at == std::string::npos ? message : message.substr(at + path.size() + 2);
}

Json NumberOf(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  return std::floor(value) == value && std::fabs(value) < kExact ? Json(static_cast<int64_t>(value))
                                                                 : Json(value);
}

Json JsonOf(const Figure& figure, double seconds) {
  Json json;
  json["name"] = figure.metric.name;
  json["labels"] = Json::object();
  for (const auto& [name, value] : figure.metric.labels) {
    json["labels"][name] = value;
  }
  json["value"] = NumberOf(figure.metric.value);
  if (figure.metric.IsCounter()) {
    json["rate"] = figure.grown < 0 ? Json() : NumberOf(figure.grown / seconds);
  }
  return json;
}

Json JsonOf(const StatisticsFile& file) {
  static const char* const kStates[] = {"live", "stale", "damaged"};
  Json json;
  json["path"] = file.path;
  json["state"] = kStates[static_cast<size_t>(file.state)];
  if (!file.reason.empty()) {
    json["reason"] = file.reason;
  }
  if (file.state == State::kDamaged) {
    return json;
  }
  json["plugin"] = file.plugin;
  json["version"] = file.version;
  json["rocksdb"] = file.rocksdb;
  json["process"] = file.process;
  json["updated"] = file.updated;
  json["age"] = file.age;
  json["seconds"] = file.seconds > 0 ? Json(file.seconds) : Json();
  json["metrics"] = Json::array();
  for (const Figure& figure : file.figures) {
    json["metrics"].push_back(JsonOf(figure, file.seconds));
  }
  return json;
}

}  // namespace

bool Sample::HasProblems() const {
  return files.empty() || std::any_of(files.begin(), files.end(), [](const StatisticsFile& file) {
           return file.state != State::kLive;
         });
}

bool Sample::IsSilent() const {
  return process != 0 &&
         std::none_of(files.begin(), files.end(), [this](const StatisticsFile& file) {
           return file.state == State::kLive && file.process == process;
         });
}

Json Sample::AsJson() const {
  Json json;
  json["time"] = time;
  json["db"] = db;
  json["process"] = process != 0 ? Json(process) : Json();
  json["files"] = Json::array();
  for (const StatisticsFile& file : files) {
    json["files"].push_back(JsonOf(file));
  }
  return json;
}

Sampler::Sampler(const std::string& db, std::vector<std::string> given, double interval)
    : db_(Canonical(db)), given_(std::move(given)), interval_(interval) {}

Sample Sampler::Take() {
  Sample sample;
  sample.time = Now();
  sample.db = db_;
  sample.process = ProcessOf(db_);
  std::map<std::string, History> before;
  before.swap(histories_);
  for (const Candidate& candidate : FindCandidates(db_, given_)) {
    StatisticsFile file;
    if (!Read(candidate, sample, &file)) {
      continue;
    }
    if (file.reason.empty()) {
      History& history = histories_[file.path] = std::move(before[file.path]);
      Compare(&history, &file);
      Judge(&history, &file);
    }
    sample.files.push_back(std::move(file));
  }
  std::stable_sort(sample.files.begin(), sample.files.end(),
                   [](const StatisticsFile& a, const StatisticsFile& b) {
                     return RankOf(a.plugin) < RankOf(b.plugin);
                   });
  return sample;
}

bool Sampler::Read(const Candidate& candidate, const Sample& sample, StatisticsFile* file) {
  const bool shown = candidate.place == Candidate::kGiven || candidate.place == Candidate::kOwn;
  std::vector<MetricSample> metrics;
  Status s = ReadMetrics(candidate.path, &metrics);
  if (s.IsNotFound() && candidate.place != Candidate::kGiven) {
    return false;  // it was closed
  }
  if (s.ok() && !TakeHead(&metrics, file)) {
    s = Status::Corruption(candidate.path, "is no statistics file of a plugin");
  }
  file->path = candidate.path;
  if (!s.ok()) {
    file->plugin.clear();
    file->reason = WithoutPath(s.ToString(), candidate.path);
    return shown || candidate.place == Candidate::kNamed;
  }
  const bool inside = candidate.place == Candidate::kOwn || candidate.place == Candidate::kInside;
  if (!inside && !TakeDatabase(db_, &metrics) && !shown) {
    return false;
  }
  for (MetricSample& metric : metrics) {
    file->figures.push_back({std::move(metric)});
  }
  return candidate.place != Candidate::kBeside || file->process == sample.process ||
         std::any_of(sample.files.begin(), sample.files.end(),
                     [&](const StatisticsFile& other) { return other.process == file->process; });
}

void Sampler::Compare(History* history, StatisticsFile* file) {
  if (history->last.process != file->process || history->last.updated > file->updated) {
    *history = History();
  }
  if (history->last.updated != file->updated) {
    history->before = std::move(history->last);
    history->last = {file->process, file->updated, {}};
    for (const Figure& figure : file->figures) {
      if (figure.metric.IsCounter()) {
        history->last.counters[KeyOf(figure.metric)] = figure.metric.value;
      }
    }
  }
  if (history->before.process == 0) {
    return;
  }
  file->seconds = file->updated - history->before.updated;
  for (Figure& figure : file->figures) {
    const auto before = history->before.counters.find(KeyOf(figure.metric));
    if (figure.metric.IsCounter() && before != history->before.counters.end()) {
      figure.grown = figure.metric.value - before->second;
    }
  }
}

// A process of another container cannot be seen. What it writes can.
void Sampler::Judge(History* history, StatisticsFile* file) const {
  const double limit = std::max(kIntervals * interval_, kSeconds);
  const double age = Now() - file->updated;
  const std::string gone = WhyNotWriter(file->process, file->updated);
  history->visible |= gone.empty();
  file->age = std::max(age, 0.0);
  if (!gone.empty() && (history->visible || history->before.process == 0)) {
    file->reason = gone;
  } else if (age > limit) {
    file->reason = "not renewed for " + Seconds(age);
  } else if (age < -limit) {
    file->reason = "its time is " + Seconds(-age) + " ahead";
  }
  file->state = file->reason.empty() ? State::kLive : State::kStale;
}

double ShareOf(const StatisticsFile& file, const std::vector<std::string>& hits,
               const std::vector<std::string>& misses) {
  const auto sum = [&](const std::vector<std::string>& names) {
    double result = 0;
    for (const std::string& name : names) {
      for (const Figure& figure : file.figures) {
        if (figure.metric.name == kPrefix + file.plugin + "_" + name) {
          result += file.seconds > 0 ? std::max(figure.grown, 0.0) : figure.metric.value;
        }
      }
    }
    return result;
  };
  const double all = sum(hits) + sum(misses);
  return all > 0 ? sum(hits) / all : -1;
}

}  // namespace top
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
