// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of TieredFileSystem that reports: statistics, properties, statistics files, the LOG.

#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/file_system.h"
#include "plugin/tiered_env/metrics.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

void WarnOfFile(Logger* log, const std::string& path, const IOStatus& reason) {
  ROCKS_LOG_WARN(log, "tiered_env: cannot write statistics to %s: %s", path.c_str(),
                 reason.ToString().c_str());
}

}  // namespace

void TieredFileSystem::AddStats(const OpenDatabase* of, TieredStats* stats) {
  const Use use(&uses_);
  if (names_ == nullptr) {  // PrepareOptions() was not called
    return;
  }
  readers_->AddStats(/*fresh=*/of == nullptr);
  const std::vector<std::shared_ptr<OpenDatabase>> all = databases_.All();
  stats->tiers.resize(names_->policy().tiers.size());
  for (const auto& tier : names_->policy().tiers) {
    TieredTierStats& to = stats->tiers[static_cast<size_t>(tier->index())];
    to.name = tier->name();
    to.bytes = tier->used_by_files();
    to.held_bytes = tier->held();
    to.budget = tier->options().budget;
#define ADD(name) to.name = tier->name.load(std::memory_order_relaxed)
    ADD(reads);
    ADD(read_bytes);
    ADD(written_bytes);
    ADD(spills);
    ADD(moves);
    ADD(moved_bytes);
    ADD(errors);
#undef ADD
  }
  for (const auto& database : all) {
    if (of != nullptr && of != database.get()) {
      continue;
    }
    database->AddStats(names_->policy(), stats);
    if (database->recovery_manager() != nullptr) {
      database->recovery_manager()->AddStats(&stats->in_memory);
    }
  }
}

bool TieredFileSystem::GetProperty(const std::string& property, std::string* value) {
  const Use use(&uses_);
  TieredStats stats;
  AddStats(nullptr, &stats);
  MetricsPage page;
  tiered_env::AddMetrics(stats, names_ != nullptr && HasVolatileTier(), {}, &page);
  return page.Find(property, value);
}

MetricsPage::Labels TieredFileSystem::OwnerOf(const OpenDatabase& database) const {
  std::string path;
  target_->GetAbsolutePath(database.directory(), IOOptions(), &path, nullptr)
      .PermitUncheckedError();
  return {{"db", path.empty() ? database.directory() : path}};
}

void TieredFileSystem::AddMetrics(const OpenDatabase& database, MetricsPage* page) {
  TieredStats stats;
  AddStats(&database, &stats);
  tiered_env::AddMetrics(stats, HasVolatileTier(), OwnerOf(database), page);
}

std::string TieredFileSystem::MetricsText() {
  const Use use(&uses_);
  MetricsPage page;
  if (readers_ != nullptr) {
    readers_->AddStats(/*fresh=*/true);
  }
  for (const auto& database : databases_.All()) {
    AddMetrics(*database, &page);
  }
  return page.Text();
}

void TieredFileSystem::LogStatistics(const OpenDatabase& database) {
  TieredStats stats;
  AddStats(&database, &stats);
  MetricsPage page;
  tiered_env::AddMetrics(stats, HasVolatileTier(), {}, &page);
  ROCKS_LOG_INFO(names_->InfoLog(database.directory()), "tiered_env: statistics\n%s",
                 page.Lines().c_str());
}

// The reporter goes before the database, and before the FileSystem.
void TieredFileSystem::StartReporting(const std::shared_ptr<OpenDatabase>& database) {
  OpenDatabase* const reported = database.get();
  const bool together = !in_force_.metrics_file.empty();
  MetricsReport report;
  report.fs = target_;
  report.path = reported->directory() + "/" + kMetricsName;
  report.alone = true;
  report.interval = together ? 0 : in_force_.metrics_interval;
  report.text = [this, reported] {
    MetricsPage page;
    AddMetrics(*reported, &page);
    return page.Text(OwnerOf(*reported));
  };
  report.warn = [this, reported, path = report.path](const IOStatus& reason) {
    WarnOfFile(names_->InfoLog(reported->directory()).get(), path, reason);
  };
  report.log = [this, reported] { LogStatistics(*reported); };
  report.log_period = [reported] { return reported->log_period.load(); };
  database->SetReporter(std::make_unique<MetricsReporter>(std::move(report)));
  std::lock_guard<std::mutex> lock(reporter_mutex_);
  if (!together || reporter_ != nullptr) {
    return;
  }
  MetricsReport all;
  all.fs = target_;
  all.path = in_force_.metrics_file;
  all.interval = in_force_.metrics_interval;
  all.text = [this] { return MetricsText(); };
  all.warn = [this, path = all.path](const IOStatus& reason) {
    for (const auto& open : databases_.All()) {
      WarnOfFile(names_->InfoLog(open->directory()).get(), path, reason);
    }
  };
  reporter_ = std::make_unique<MetricsReporter>(std::move(all));
}

void TieredFileSystem::StopReporting(bool unless_used) {
  const std::vector<std::shared_ptr<OpenDatabase>> all = databases_.All();
  std::unique_ptr<MetricsReporter> reporter;  // goes without the lock: its file may hang
  {
    std::lock_guard<std::mutex> lock(reporter_mutex_);
    if (unless_used && !databases_.empty()) {
      return;
    }
    reporter = std::move(reporter_);
  }
  reporter.reset();
  for (const auto& database : all) {
    database->SetReporter(nullptr);
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
