// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A FileSystem whose table files live on a slow device: every read of an .sst file is counted and
// made to take a given time on top of what the target takes. Everything else passes through. And
// one that has the files of a fast device in memory.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/file_system.h"

namespace rocktier_bench {

// Who reads. A thread says so once; threads that say nothing (flush, compaction) are background.
enum class Reader : int { kBackground = 0, kPoint, kScan };
constexpr int kReaders = 3;

// Sets the class of the calling thread's reads until the end of the scope.
class ReaderScope {
 public:
  explicit ReaderScope(Reader reader);
  ~ReaderScope();
  ReaderScope(const ReaderScope&) = delete;
  ReaderScope& operator=(const ReaderScope&) = delete;

 private:
  Reader before_;
};

struct DeviceReads {
  uint64_t reads[kReaders] = {};
  uint64_t bytes[kReaders] = {};
};

// Thread-safe. Requests of one MultiRead are counted one by one and wait together, as on a device
// that serves them in parallel.
class SlowDeviceFileSystem : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  // Only the files below `folder` are on the device; empty: all.
  explicit SlowDeviceFileSystem(const std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem>& target,
                                const std::string& folder = "");

  const char* Name() const override { return "SlowDeviceFileSystem"; }

  ROCKSDB_NAMESPACE::IOStatus NewRandomAccessFile(
      const std::string& name, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomAccessFile>* result,
      ROCKSDB_NAMESPACE::IODebugContext* dbg) override;

  // Time added to a read, in microseconds; may be changed at any time.
  void SetReadLatency(uint64_t micros) { latency_us_.store(micros, std::memory_order_relaxed); }

  DeviceReads Snapshot() const;

  // For the files: accounts for `requests` reads and waits once.
  void OnReads(uint64_t requests, uint64_t bytes);

 private:
  const std::string folder_;
  std::atomic<uint64_t> latency_us_{0};
  std::atomic<uint64_t> reads_[kReaders] = {};
  std::atomic<uint64_t> bytes_[kReaders] = {};
};

}  // namespace rocktier_bench
