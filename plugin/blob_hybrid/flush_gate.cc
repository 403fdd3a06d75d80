// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/flush_gate.h"

#include <algorithm>
#include <chrono>

#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr auto kPatience = std::chrono::seconds(5);

}  // namespace

void FlushGate::Wait(uint64_t disk_bytes, uint64_t memtable_bytes) {
  std::unique_lock<std::mutex> lock(monitor_->mutex);
  if (freed_ < worth_) {
    counters_->bound_missed++;  // the last wait was in vain
    return;
  }
  const uint64_t begin = SteadyMicros();
  const uint64_t mine = ++monitor_->wanted;
  disk_bytes_ = disk_bytes;
  waiting_++;
  monitor_->woken.insert(family_);
  monitor_->changed.notify_all();
  const bool in_vain = !Await(mine, disk_bytes - std::min(disk_bytes, memtable_bytes), &lock);
  waiting_--;
  worth_ = in_vain ? freed_ + std::max<uint64_t>(memtable_bytes, 1) : 0;
  counters_->flush_waits++;
  counters_->flush_wait_micros += SteadyMicros() - begin;
  counters_->bound_missed += in_vain || missed_ ? 1 : 0;
}

bool FlushGate::Await(uint64_t wake, uint64_t enough, std::unique_lock<std::mutex>* lock) {
  std::chrono::seconds patience = kPatience;
  TEST_SYNC_POINT_CALLBACK("FlushGate::Patience", &patience);
  uint64_t least = disk_bytes_;
  const auto is_over = [&] {
    const bool goes_on = !above_ || disk_bytes_ < enough;
    return monitor_->ends() || (monitor_->looked >= wake && goes_on);
  };
  const auto falls = [&] { return disk_bytes_ < least; };
  while (monitor_->changed.wait_for(*lock, patience, [&] { return is_over() || falls(); })) {
    if (is_over()) {
      return true;
    }
    least = disk_bytes_;
  }
  return false;
}

void FlushGate::SetSpace(uint64_t disk_bytes) {
  std::lock_guard<std::mutex> lock(monitor_->mutex);
  freed_ += disk_bytes_ - std::min(disk_bytes_, disk_bytes);
  disk_bytes_ = disk_bytes;
}

void FlushGate::Publish(bool above, bool missed) {
  std::lock_guard<std::mutex> lock(monitor_->mutex);
  above_ = above;
  missed_ = missed;
  monitor_->changed.notify_all();
}

bool FlushGate::IsAwaited() const {
  std::lock_guard<std::mutex> lock(monitor_->mutex);
  return waiting_ > 0 || monitor_->settling > 0;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
