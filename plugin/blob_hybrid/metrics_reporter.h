// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Statistics files. Each plugin has a copy of this file, and of metrics_reporter.cc.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// What an object reports, where, and how often. The functions are called by one thread at a time,
// without a lock. They must not take one that is held where the MetricsReporter is destroyed.
struct MetricsReport {
  std::shared_ptr<FileSystem> fs;  // of the file
  std::string path;                // of the file; empty: none
  uint64_t interval = 0;           // seconds after which the file is renewed; 0: there is none
  std::function<std::string()> text;
  // Told once, when the file cannot be written. It is tried again.
  std::function<void(const IOStatus& reason)> warn;

  std::function<void()> log;             // writes the block to the LOG; null: there is none
  std::function<uint64_t()> log_period;  // seconds from one block to the next; 0: none now
};

// Reports as long as it is there. All reporters of the process share a thread, which ends with the
// last of them. Thread-safe.
class MetricsReporter {
 public:
  // Deletes a file that is there, of a process that was killed. The first one is written when the
  // interval is over.
  explicit MetricsReporter(MetricsReport report);
  // Waits until nothing is being written, writes the last block to the LOG, and deletes the file.
  ~MetricsReporter();
  MetricsReporter(const MetricsReporter&) = delete;
  MetricsReporter& operator=(const MetricsReporter&) = delete;

  // Deletes a statistics file, if there is one, and what a crash has left of the next one.
  static void Delete(FileSystem* fs, const std::string& path);

 private:
  using Clock = std::chrono::steady_clock;
  friend class MetricsThread;

  bool HasFile() const { return report_.interval != 0 && !report_.path.empty(); }
  // The next moment at which there may be something to do.
  Clock::time_point NextTime() const;
  // Does what is due.
  void Run();
  IOStatus Write() const;

  const MetricsReport report_;
  // All below: of the thread.
  Clock::time_point logged_ = Clock::now();
  Clock::time_point next_file_ = Clock::now() + std::chrono::seconds(report_.interval);
  bool warned_ = false;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
