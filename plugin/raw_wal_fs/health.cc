// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/health.h"

#include <thread>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr auto kPause = std::chrono::seconds(1);  // between two questions

}  // namespace

bool Health::NoteStall(const std::weak_ptr<void>& owner, std::function<bool()> answers,
                       const Limits& limits) {
  if (stalled_.exchange(true)) {
    return false;
  }
  std::thread([this, owner, asked = std::move(answers), limits] {
    Ask(owner, asked, limits);
  }).detach();
  return true;
}

void Health::Ask(const std::weak_ptr<void>& owner, const std::function<bool()>& answers,
                 const Limits& limits) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point good_since = Clock::time_point::max();
  while (true) {
    std::this_thread::sleep_for(kPause);
    const std::shared_ptr<void> kept = owner.lock();
    if (kept == nullptr) {
      return;
    }
    const Clock::time_point begin = Clock::now();
    const bool is_good = answers() && Clock::now() - begin <= limits.good;
    if (!is_good) {
      good_since = Clock::time_point::max();
    } else if (good_since == Clock::time_point::max()) {
      good_since = begin;
    }
    if (is_good && Clock::now() - good_since >= limits.period) {
      stalled_.store(false, std::memory_order_release);
      return;
    }
  }
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
