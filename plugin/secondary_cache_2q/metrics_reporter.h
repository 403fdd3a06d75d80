// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Statistics files. Each plugin has a copy of this file, and of metrics_reporter.cc.

#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// What an object reports, where, and how often. The functions are called by one thread at a time,
// without a lock. They must not take one that is held where the MetricsReporter is destroyed.
struct MetricsReport {
  std::shared_ptr<FileSystem> fs;  // of the file
  std::string path;                // of the file; empty: none
  // The path is this object's alone: what it has locked keeps others away. A page that is there is
  // of a process that was killed.
  bool alone = false;
  // Other objects of this process have the same page. One of them writes it.
  bool shared = false;
  uint64_t interval = 0;  // seconds after which the file is renewed; 0: there is none
  std::function<std::string()> text;
  // Told once, when the file cannot be written. It is tried again.
  std::function<void(const IOStatus& reason)> warn;
  std::function<void()> written;  // told when it has been; null: nobody

  std::function<void()> log;             // writes the block to the LOG; null: there is none
  std::function<uint64_t()> log_period;  // seconds from one block to the next; 0: none now
};

// Reports as long as it is there. All reporters of the process share a thread, which ends with the
// last of them, and nobody else does I/O of statistics or waits for that of another object.
//
// Replaces and deletes nothing but pages of this plugin, or what a loss of power leaves of one, a
// file with nothing or zeros in it. Nor does it one that somebody else writes: what has changed
// since the last look, and not by this reporter, is another's. It is left alone until its process
// is gone, or it has not changed in ten looks.
//
// A reporter that a child of fork() has from its parent goes on there when the child makes one.
// Thread-safe.
class MetricsReporter {
 public:
  // The first file is written when the interval is over.
  explicit MetricsReporter(MetricsReport report);
  // Waits until nothing is being written, writes the last block to the LOG, and deletes the file.
  ~MetricsReporter();
  MetricsReporter(const MetricsReporter&) = delete;
  MetricsReporter& operator=(const MetricsReporter&) = delete;

  // Deletes a statistics file, if there is one, and what crashes have left of others. The caller
  // has locked what it is of.
  static void Delete(FileSystem* fs, const std::string& path);

 private:
  using Clock = std::chrono::steady_clock;
  friend class MetricsThread;

  bool HasFile() const { return report_.interval != 0 && !report_.path.empty(); }
  bool NeedsThread() const { return HasFile() || report_.log || report_.alone; }
  // The next moment at which there may be something to do.
  Clock::time_point NextTime() const;
  // Does what is due.
  void Run();
  void RunLog(Clock::time_point now);
  void RunFile(Clock::time_point now);
  // Looks at what is there before anything is written.
  void Begin();
  IOStatus Write();
  IOStatus Replace(const std::string& text) const;

  const MetricsReport report_;
  // All below: of the thread.
  Clock::time_point logged_ = Clock::now();
  Clock::time_point next_log_;
  Clock::time_point next_file_;
  pid_t looked_ = 0;  // the process that has looked at what is there
  bool warned_ = false;
  std::string seen_;   // the head of the page that was there at the last look, or was written
  int unchanged_ = 0;  // looks in which it has not changed
  bool ours_ = false;  // this reporter wrote it
  pid_t process_ = getpid();  // that made the reporter, or has written
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
