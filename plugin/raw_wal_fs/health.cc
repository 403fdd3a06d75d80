// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/health.h"

#include <thread>
#include <utility>

#include "plugin/raw_wal_fs/patient.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr auto kPause = std::chrono::seconds(1);  // between two questions

}  // namespace

bool Health::NoteStall(const std::weak_ptr<void>& owner, std::function<bool()> answers,
                       const Limits& limits) {
  std::lock_guard<std::mutex> lock(mutex_);
  stalls_++;
  if (stalled()) {
    return false;
  }
  // Without a thread nobody would say that it is well again: each log finds out by itself then.
  const bool asks =
      Detach([this, owner, asked = std::move(answers), limits] { Ask(owner, asked, limits); });
  stalled_.store(asks, std::memory_order_release);
  return true;
}

uint64_t Health::stalls() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stalls_;
}

bool Health::Recover(uint64_t stalls) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stalls_ != stalls) {
    return false;
  }
  stalled_.store(false, std::memory_order_release);
  return true;
}

void Health::Ask(const std::weak_ptr<void>& owner, const std::function<bool()>& answers,
                 const Limits& limits) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point good_since = Clock::time_point::max();
  uint64_t seen = 0;
  while (true) {
    std::this_thread::sleep_for(kPause);
    const std::shared_ptr<void> kept = owner.lock();
    if (kept == nullptr) {
      return;
    }
    const Clock::time_point begin = Clock::now();
    const uint64_t before = stalls();
    const bool is_good = answers() && Clock::now() - begin <= limits.good;
    if (!is_good || (good_since != Clock::time_point::max() && before != seen)) {
      good_since = Clock::time_point::max();
    } else if (good_since == Clock::time_point::max()) {
      good_since = begin;
      seen = before;
    }
    if (good_since != Clock::time_point::max() && Clock::now() - good_since >= limits.period &&
        Recover(seen)) {
      return;
    }
  }
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
