// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/health.h"

#include <thread>

#include "plugin/raw_wal_fs/volume.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr auto kPause = std::chrono::seconds(1);  // between two questions

}  // namespace

bool Health::NoteStall(const std::shared_ptr<Volume>& volume, const Limits& limits) {
  if (stalled_.exchange(true)) {
    return false;
  }
  volume->counters().stalls++;
  std::thread(Ask, std::weak_ptr<Volume>(volume), limits).detach();
  return true;
}

void Health::Ask(const std::weak_ptr<Volume>& asked, const Limits& limits) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point good_since = Clock::time_point::max();
  while (true) {
    std::this_thread::sleep_for(kPause);
    const std::shared_ptr<Volume> volume = asked.lock();
    if (volume == nullptr) {
      return;
    }
    const Clock::time_point begin = Clock::now();
    const bool answers = volume->Probe().ok();
    const Clock::time_point end = Clock::now();
    if (!answers || end - begin > limits.good || volume->HoldsAny()) {
      good_since = Clock::time_point::max();
    } else if (good_since == Clock::time_point::max()) {
      good_since = begin;
    }
    if (good_since != Clock::time_point::max() && end - good_since >= limits.period) {
      volume->health().stalled_.store(false, std::memory_order_release);
      return;
    }
  }
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
