// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// How fast a directory's disk is, by a scratch file in it.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

// Microseconds that one call takes: the mean of each eighth of the time, and quartiles of these. A
// device that is throttled serves some calls at once and lets others wait: by the mean, not by the
// median of the calls, goes how many there are in a second.
struct Latency {
  uint64_t count = 0;  // 0: it was not measured
  double low = 0;
  double median = 0;
  double high = 0;
};

struct ProbeResult {
  std::string skipped;  // why there is none
  std::string failed;   // or why not, if one was begun
  Latency sync;         // an append to a file, and its fdatasync, as of a log
  Latency device_sync;  // a write that is durable to room that the file has, as on a log device
  Latency read;         // 4 KiB at random, past the page cache

  bool done() const { return read.count > 0; }
};

// `micros`: what each call took, in their order.
Latency LatencyOf(const std::vector<double>& micros);

// The most that the scratch files have.
constexpr uint64_t kScratchBytes = 64ull << 20;

// Is told the share that is done.
using Share = std::function<void(double)>;

// Takes about 3 seconds. The scratch files have no name, or none any more once they are open:
// nothing of them is left, whatever happens.
Status Probe(const std::string& directory, const Share& progress, ProbeResult* result);

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
