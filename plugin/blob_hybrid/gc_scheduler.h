// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/blob_hybrid/error_log.h"
#include "plugin/blob_hybrid/gc_family.h"
#include "plugin/blob_hybrid/gc_job.h"
#include "plugin/blob_hybrid/metrics_page.h"
#include "plugin/blob_hybrid/metrics_reporter.h"

namespace ROCKSDB_NAMESPACE {

class DBImpl;

namespace blob_hybrid {

// Runs the jobs of a database's families, in a thread of its own that begins with the first family;
// where none can be had, with a later event.
// Databases makes it at the first event of the database, and stops it before that is closed.
// Thread-safe.
class GcScheduler {
 public:
  explicit GcScheduler(DBImpl* db) : db_(db) {}
  ~GcScheduler() { Stop(); }

  // Takes in a family of which an event tells, and its job with it. Null if the family does not use
  // the plugin. `added`: it is seen for the first time.
  GcFamily* Enter(uint32_t number, bool* added);

  // Finds a family. Null if it has not been taken in.
  GcFamily* Find(uint32_t number);

  // Tells which values that could not be read are worth a line in the LOG.
  const std::shared_ptr<ErrorLog>& errors() const { return errors_; }

  // Has the job look at all families: there may be something to do in any. What nobody tells of is
  // found within a second of the next wake-up.
  void WakeAll();

  // Waits until there is nothing to do, or nothing can be done, or Stop().
  void Settle();

  // Ends the thread, and reports. The database must not be deleted before that.
  void Stop();

  // The figures of all families, in OpenMetrics' text format.
  std::string MetricsText();

 private:
  struct Entry {
    Entry(DBImpl* db, uint32_t number, std::shared_ptr<const Settings> settings, GcMonitor* monitor)
        : family(db, number, std::move(settings), monitor), job(db, &family, monitor) {}

    GcFamily family;
    GcJob job;  // belongs to the thread
  };
  using Jobs = std::vector<std::pair<uint32_t, GcJob*>>;
  // What a round of jobs comes to.
  struct Round {
    bool again = false;
    bool retry = false;
    uint64_t later = 0;           // when to look again; 0: it is not known
    std::set<uint32_t> restless;  // families that have to be looked at again
  };

  // Requires monitor_.mutex.
  void StartThreadIfNone();
  void Run();
  // StartReporting() to AddMetrics(): in report.cc.
  //
  // Begins reports of the database, by the options of its first family.
  void StartReporting(const BlobHybridOptions& options);
  void StopReporting();
  std::string Directory() const;
  void LogStatistics();
  // Adds the figures of all families, with the label `cf`, and `db` if that is not empty.
  void AddMetrics(const std::string& db, MetricsPage* page);
  Jobs TakeWoken(bool all);
  bool Ends();
  Round StepAll(const Jobs& jobs);
  void AwaitNext(const Round& round, bool all, uint64_t wanted, std::unique_lock<std::mutex>* lock);

  DBImpl* const db_;
  const std::shared_ptr<ErrorLog> errors_ = std::make_shared<ErrorLog>();
  GcMonitor monitor_;
  // What follows is guarded by monitor_.mutex. An entry is null if the family does not use the
  // plugin; none is removed, but one of a family that was dropped is passed over.
  std::map<uint32_t, std::unique_ptr<Entry>> entries_;
  std::thread thread_;

  std::mutex reporter_mutex_;
  // Guarded by reporter_mutex_.
  bool reports_ended_ = false;
  std::unique_ptr<MetricsReporter> reporter_;  // goes before what it reports of
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
