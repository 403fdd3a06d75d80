// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of RawWalFileSystem that reports: properties, statistics files, the LOG. Each database
// has a file of its own, with the figures of the whole device, which nobody counts by database.

#include <utility>
#include <vector>

#include "plugin/raw_wal_fs/fs.h"
#include "plugin/raw_wal_fs/name.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

std::string AbsolutePath(FileSystem* fs, const std::string& path) {
  std::string absolute;
  fs->GetAbsolutePath(path, IOOptions(), &absolute, nullptr).PermitUncheckedError();
  return absolute.empty() ? path : absolute;
}

void LogStatistics(const RawWalFileSystem& fs, Logger* log) {
  MetricsPage page;
  fs.AddMetrics({}, &page);
  Info(log, "raw_wal_fs: statistics of %s\n%s", fs.options().device.c_str(), page.Lines().c_str());
}

}  // namespace

std::shared_ptr<Logger> RawWalFileSystem::InfoLog() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return info_log_.lock();
}

void RawWalFileSystem::AddStats(RawWalStats* stats) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (volume_ != nullptr) {
    volume_->AddStats(stats);
  }
}

void RawWalFileSystem::AddMetrics(const MetricsPage::Labels& owner, MetricsPage* page) const {
  RawWalStats stats;
  AddStats(&stats);
#define X(name, type, unit, description) \
  page->Add({#name, #type, unit, description}, stats.name, owner);
  RAW_WAL_STATS(X)
#undef X
}

void RawWalFileSystem::StartReporting(FileLock* lock, const std::string& directory) {
  // RocksDB begins new ones.
  const auto log = [this, directory] { return info_logs_.Find(target_.get(), directory); };
  const bool together = !in_force().metrics_file.empty();
  const auto warn = [log](const IOStatus& reason) {
    Warn(log(), "raw_wal_fs: cannot write statistics: %s", reason.ToString().c_str());
  };
  const auto report_of = [&](const std::string& path, uint64_t interval,
                             const MetricsPage::Labels& owner) {
    MetricsReport report;
    report.fs = target_;
    report.path = path;
    report.interval = interval;
    report.text = [this, owner] {
      MetricsPage page;
      AddMetrics(owner, &page);
      return page.Text(owner);
    };
    report.warn = warn;
    return report;
  };
  const std::pair<std::string, std::string> device = {"device", in_force().device};
  MetricsReport own =
      report_of(directory + "/" + kMetricsName, together ? 0 : in_force().metrics_interval,
                {{"db", AbsolutePath(target_.get(), directory)}, device});
  own.alone = true;
  own.log = [this, log] { LogStatistics(*this, log().get()); };
  own.log_period = [this] { return log_period_.load(std::memory_order_relaxed); };
  std::lock_guard<std::mutex> guard(reporters_mutex_);
  reporters_[lock] = std::make_unique<MetricsReporter>(std::move(own));
  std::unique_ptr<MetricsReporter>& of_all = reporters_[nullptr];
  if (together && of_all == nullptr) {
    of_all = std::make_unique<MetricsReporter>(
        report_of(in_force().metrics_file, in_force().metrics_interval, {device}));
  }
}

void RawWalFileSystem::StopReporting(FileLock* lock) {
  std::vector<std::unique_ptr<MetricsReporter>> ended;  // go without the lock: files may hang
  std::lock_guard<std::mutex> guard(reporters_mutex_);
  const auto it = reporters_.find(lock);
  if (it == reporters_.end()) {
    return;
  }
  ended.push_back(std::move(it->second));
  reporters_.erase(it);
  if (reporters_.size() == 1) {  // that of all
    ended.push_back(std::move(reporters_.begin()->second));
    reporters_.clear();
  }
}

bool GetRawWalProperty(const FileSystem* fs, const std::string& property, std::string* value) {
  const auto* ours = fs != nullptr ? fs->CheckedCast<RawWalFileSystem>() : nullptr;
  MetricsPage page;
  if (ours != nullptr) {
    ours->AddMetrics({}, &page);
  }
  return page.Find(property, value);
}

std::string RawWalMetricsText(const FileSystem* fs) {
  const auto* ours = fs != nullptr ? fs->CheckedCast<RawWalFileSystem>() : nullptr;
  if (ours == nullptr) {
    return "";
  }
  MetricsPage page;
  ours->AddMetrics({{"device", ours->options().device}}, &page);
  return page.Text({{"device", ours->options().device}});
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
