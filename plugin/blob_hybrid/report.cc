// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of GcScheduler that reports: the statistics file of the database, the block in its LOG.

#include <utility>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "logging/logging.h"
#include "plugin/blob_hybrid/family.h"
#include "plugin/blob_hybrid/gc_scheduler.h"
#include "plugin/blob_hybrid/metrics.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr char kMetricsName[] = "rocktier_blob_hybrid.prom";

}  // namespace

std::string GcScheduler::Directory() const {
  std::string path;
  const Status s = db_->GetEnv()->GetAbsolutePath(db_->GetName(), &path);
  return s.ok() ? path : db_->GetName();
}

// No family is removed as long as the database is open.
void GcScheduler::AddMetrics(const std::string& db, MetricsPage* page) {
  std::vector<GcFamily*> families;
  {
    std::lock_guard<std::mutex> lock(monitor_.mutex);
    for (const auto& [number, entry] : entries_) {
      if (entry != nullptr && !entry->family.is_dropped()) {
        families.push_back(&entry->family);
      }
    }
  }
  for (GcFamily* const family : families) {
    const HeldFamily held = family->Hold();
    BlobHybridStats stats;
    if (!held || !StatsOf(db_, held.data(), &family->surveyor(), &stats).ok()) {
      continue;  // it was dropped, or is being read for the first time
    }
    MetricsPage::Labels labels;
    if (!db.empty()) {
      labels.emplace_back("db", db);
    }
    labels.emplace_back("cf", held.name());
    blob_hybrid::AddMetrics(stats, labels, page);
  }
}

std::string GcScheduler::MetricsText() {
  const std::string directory = Directory();
  MetricsPage page;
  AddMetrics(directory, &page);
  return page.Text({{"db", directory}});
}

void GcScheduler::LogStatistics() {
  MetricsPage page;
  AddMetrics("", &page);
  ROCKS_LOG_INFO(db_->immutable_db_options().logger, "BlobHybrid: statistics\n%s",
                 page.Lines().c_str());
}

void GcScheduler::StartReporting(const BlobHybridOptions& options) {
  std::lock_guard<std::mutex> lock(reporter_mutex_);
  if (reporter_ != nullptr || reports_ended_) {
    return;
  }
  MetricsReport report;
  report.fs = db_->GetEnv()->GetFileSystem();
  report.path =
      options.metrics_file.empty() ? db_->GetName() + "/" + kMetricsName : options.metrics_file;
  report.alone = options.metrics_file.empty();
  report.interval = options.metrics_interval;
  report.text = [this] { return MetricsText(); };
  report.warn = [this, path = report.path](const IOStatus& reason) {
    ROCKS_LOG_WARN(db_->immutable_db_options().logger,
                   "BlobHybrid: cannot write statistics to %s: %s", path.c_str(),
                   reason.ToString().c_str());
  };
  report.log = [this] { LogStatistics(); };
  report.log_period = [this] { return db_->GetDBOptions().stats_dump_period_sec; };
  reporter_ = std::make_unique<MetricsReporter>(std::move(report));
}

void GcScheduler::StopReporting() {
  std::unique_ptr<MetricsReporter> reporter;  // goes without the lock: its file may hang
  std::lock_guard<std::mutex> lock(reporter_mutex_);
  reports_ended_ = true;
  reporter = std::move(reporter_);
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
