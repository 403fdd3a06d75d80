// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/metrics_reporter.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr char kBeingWritten[] = ".tmp";
// Statistics that take long to make are made less often: they take a hundredth of the time.
constexpr int kPause = 100;
constexpr auto kLookAtPeriod = std::chrono::seconds(1);

}  // namespace

// The thread of all reporters. Thread-safe.
class MetricsThread {
 public:
  // Is never destroyed: reporters may be gone after static objects.
  static MetricsThread* Instance() {
    static auto* const instance = new MetricsThread;
    return instance;
  }

  void Add(MetricsReporter* reporter) {
    std::lock_guard<std::mutex> change(change_mutex_);
    std::lock_guard<std::mutex> lock(mutex_);
    reporters_.insert(reporter);
    if (!thread_.joinable()) {
      thread_ = std::thread(&MetricsThread::Run, this);
    }
    changed_.notify_all();
  }

  // Afterwards it is not used any more.
  void Remove(MetricsReporter* reporter) {
    std::lock_guard<std::mutex> change(change_mutex_);
    std::unique_lock<std::mutex> lock(mutex_);
    reporters_.erase(reporter);
    changed_.notify_all();
    changed_.wait(lock, [&] { return busy_ != reporter; });
    if (reporters_.empty()) {
      lock.unlock();
      thread_.join();
    }
  }

 private:
  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!reporters_.empty()) {
      auto next = MetricsReporter::Clock::now() + std::chrono::hours(1);
      for (const MetricsReporter* reporter : reporters_) {
        next = std::min(next, reporter->NextTime());
      }
      changed_.wait_until(lock, next);
      const std::vector<MetricsReporter*> all(reporters_.begin(), reporters_.end());
      for (MetricsReporter* const reporter : all) {
        if (reporters_.count(reporter) > 0) {
          busy_ = reporter;
          lock.unlock();
          reporter->Run();
          lock.lock();
          busy_ = nullptr;
          changed_.notify_all();
        }
      }
    }
  }

  std::mutex change_mutex_;  // held by Add() and Remove(), also while a thread ends
  std::mutex mutex_;
  std::condition_variable changed_;
  // All below: guarded by mutex_; thread_ by change_mutex_, too.
  std::set<MetricsReporter*> reporters_;
  MetricsReporter* busy_ = nullptr;
  std::thread thread_;
};

MetricsReporter::MetricsReporter(MetricsReport report) : report_(std::move(report)) {
  Delete(report_.fs.get(), report_.path);
  if (HasFile() || report_.log) {
    MetricsThread::Instance()->Add(this);
  }
}

MetricsReporter::~MetricsReporter() {
  if (HasFile() || report_.log) {
    MetricsThread::Instance()->Remove(this);
  }
  if (report_.log) {
    report_.log();
  }
  Delete(report_.fs.get(), report_.path);
}

void MetricsReporter::Delete(FileSystem* fs, const std::string& path) {
  if (path.empty()) {
    return;
  }
  for (const std::string& name : {path, path + kBeingWritten}) {
    fs->DeleteFile(name, IOOptions(), nullptr).PermitUncheckedError();  // it may not be there
  }
}

MetricsReporter::Clock::time_point MetricsReporter::NextTime() const {
  const auto look = report_.log ? Clock::now() + kLookAtPeriod : Clock::time_point::max();
  return HasFile() ? std::min(next_file_, look) : look;
}

void MetricsReporter::Run() {
  const auto now = Clock::now();
  if (report_.log) {
    const auto period = std::chrono::seconds(report_.log_period());
    if (period.count() != 0 && now - logged_ >= period) {
      logged_ = now;
      report_.log();
    }
  }
  if (!HasFile() || now < next_file_) {
    return;
  }
  const IOStatus s = Write();
  if (!s.ok() && !warned_) {
    warned_ = true;
    report_.warn(s);
  }
  const auto took = Clock::now() - now;
  next_file_ =
      now + std::max<Clock::duration>(std::chrono::seconds(report_.interval), kPause * took);
}

IOStatus MetricsReporter::Write() const {
  const std::string temporary = report_.path + kBeingWritten;
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = report_.fs->NewWritableFile(temporary, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Append(report_.text(), IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Close(IOOptions(), nullptr);
  }
  return s.ok() ? report_.fs->RenameFile(temporary, report_.path, IOOptions(), nullptr) : s;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
