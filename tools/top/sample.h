// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the statistics files of a database say at a moment, and how counters have grown since the
// moment before.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/command.h"
#include "tools/openmetrics.h"
#include "tools/top/find.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace top {

struct Figure {
  MetricSample metric;
  double grown = -1;  // a counter, since the sample before; below 0: it is not known
};

// A statistics file at a moment.
struct StatisticsFile {
  enum class State { kLive, kStale, kDamaged };

  std::string path;
  State state = State::kDamaged;
  std::string reason;  // why it is not live
  // All below: empty if it is damaged.
  std::string plugin;
  std::string version;
  std::string rocksdb;
  int64_t process = 0;  // that wrote it
  double updated = 0;   // when, in seconds since 1970
  double age = 0;       // seconds
  double seconds = 0;   // in which counters have grown; 0: it is not known
  std::vector<Figure> figures;
};

struct Sample {
  double time = 0;  // seconds since 1970
  std::string db;
  int64_t process = 0;  // that has it open for writing; 0: none, or it is not known
  std::vector<StatisticsFile> files;

  // Whether something is stale or damaged, or there is nothing at all.
  bool HasProblems() const;
  // Whether a process has the database open, and has written nothing yet.
  bool IsSilent() const;
  Json AsJson() const;
};

// Takes one sample after the other. Not thread-safe.
class Sampler {
 public:
  // `given`: files besides those that are found. `interval`: seconds between two samples.
  Sampler(const std::string& db, std::vector<std::string> given, double interval);

  Sample Take();

 private:
  // The counters of a file at a moment.
  struct Snapshot {
    int64_t process = 0;  // 0: there is none
    double updated = 0;
    std::unordered_map<std::string, double> counters;
  };
  // Of the last two moments at which a file was written, by one process.
  struct History {
    Snapshot before;
    Snapshot last;
    bool visible = false;  // whether the process is one that can be seen from here
  };

  // False: there is nothing of the database.
  bool Read(const Candidate& candidate, const Sample& sample, StatisticsFile* file);
  // Compares with what was there, and adds this moment.
  static void Compare(History* history, StatisticsFile* file);
  void Judge(History* history, StatisticsFile* file) const;

  const std::string db_;
  const std::vector<std::string> given_;
  const double interval_;
  std::map<std::string, History> histories_;  // by path
};

// hits / (hits + misses) in the time between two samples, or since the beginning if it is not
// known; below 0: there were none. Names are without the plugin.
double ShareOf(const StatisticsFile& file, const std::vector<std::string>& hits,
               const std::vector<std::string>& misses);

}  // namespace top
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
