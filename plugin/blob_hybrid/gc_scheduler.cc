// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/gc_scheduler.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/family.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// Microseconds between rounds of all families: with hundreds of them, those that rest cost
// something as well.
constexpr uint64_t kAll = 1000 * 1000;
constexpr auto kTick = std::chrono::milliseconds(500);

}  // namespace

GcFamily* GcScheduler::Enter(uint32_t number, bool* added) {
  {
    std::lock_guard<std::mutex> lock(monitor_.mutex);
    const auto it = entries_.find(number);
    if (it != entries_.end()) {
      if (it->second == nullptr) {
        return nullptr;
      }
      StartThreadIfNone();
      return &it->second->family;
    }
  }
  std::unique_ptr<Entry> entry;
  const HeldFamily held(db_, number);
  auto settings = held ? SettingsOf(ImmutableOf(*held.data()).compaction_filter_factory) : nullptr;
  if (settings != nullptr) {
    entry = std::make_unique<Entry>(db_, number, std::move(settings), &monitor_);
  }
  GcFamily* family = nullptr;
  {
    std::lock_guard<std::mutex> lock(monitor_.mutex);
    const auto [it, inserted] = entries_.emplace(number, std::move(entry));
    if (it->second == nullptr) {
      return nullptr;
    }
    *added = inserted;
    StartThreadIfNone();
    family = &it->second->family;
  }
  if (*added) {
    StartReporting(family->settings().options);
  }
  return family;
}

// Without it no values are moved, and that can wait for the next event.
void GcScheduler::StartThreadIfNone() {
  if (monitor_.stop || thread_.joinable()) {
    return;
  }
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    return;
  }
}

GcFamily* GcScheduler::Find(uint32_t number) {
  std::lock_guard<std::mutex> lock(monitor_.mutex);
  const auto it = entries_.find(number);
  return it == entries_.end() || it->second == nullptr ? nullptr : &it->second->family;
}

void GcScheduler::WakeAll() {
  std::lock_guard<std::mutex> lock(monitor_.mutex);
  for (const auto& [number, entry] : entries_) {
    monitor_.woken.insert(number);
  }
  monitor_.wanted++;
  monitor_.changed.notify_all();
}

void GcScheduler::Settle() {
  std::unique_lock<std::mutex> lock(monitor_.mutex);
  if (!thread_.joinable()) {
    return;
  }
  const uint64_t mine = ++monitor_.wanted;
  monitor_.settling++;
  monitor_.settles++;
  monitor_.changed.notify_all();
  monitor_.changed.wait(lock, [&] { return monitor_.ends() || monitor_.done >= mine; });
  monitor_.settling--;
}

void GcScheduler::Stop() {
  std::thread thread;
  {
    std::lock_guard<std::mutex> lock(monitor_.mutex);
    monitor_.stop = true;
    for (const auto& [number, entry] : entries_) {
      if (entry != nullptr) {
        entry->family.surveyor().Hurry();
      }
    }
    thread = std::move(thread_);
    monitor_.changed.notify_all();
  }
  StopReporting();
  if (thread.joinable()) {
    thread.join();
  }
}

// The jobs of families that were woken, or of all that have not been dropped. Requires
// monitor_.mutex.
GcScheduler::Jobs GcScheduler::TakeWoken(bool all) {
  Jobs jobs;
  for (const auto& [number, entry] : entries_) {
    if (entry != nullptr && !entry->family.is_dropped() &&
        (all || monitor_.woken.count(number) > 0)) {
      jobs.emplace_back(number, &entry->job);
    }
  }
  monitor_.woken.clear();
  return jobs;
}

GcScheduler::Round GcScheduler::StepAll(const Jobs& jobs) {
  Round round;
  for (const auto& [number, job] : jobs) {
    if (Ends()) {
      break;
    }
    const GcJob::Next next = job->Step();
    if (next != GcJob::Next::kNothing || job->retries()) {
      round.restless.insert(number);
    }
    round.again = round.again || next == GcJob::Next::kAgain;
    round.retry = round.retry || job->retries();
    if (next == GcJob::Next::kLater) {
      round.later = round.later == 0 ? job->later() : std::min(round.later, job->later());
    }
  }
  return round;
}

bool GcScheduler::Ends() {
  std::lock_guard<std::mutex> lock(monitor_.mutex);
  return monitor_.ends();
}

void GcScheduler::Run() {
  std::unique_lock<std::mutex> lock(monitor_.mutex);
  uint64_t all_at = 0;
  while (!monitor_.ends()) {
    const uint64_t wanted = monitor_.wanted;
    const bool all = monitor_.settling > 0 || SteadyMicros() >= all_at;
    all_at = all ? SteadyMicros() + kAll : all_at;
    const Jobs jobs = TakeWoken(all);
    lock.unlock();
    Round round = StepAll(jobs);
    lock.lock();
    monitor_.woken.merge(round.restless);
    monitor_.looked = wanted;
    monitor_.changed.notify_all();
    if (!round.again) {
      AwaitNext(round, all, wanted, &lock);
    }
  }
}

// Waits until there may be something to do, after a round of `all` families, or of some, for the
// wake-ups up to `wanted`.
void GcScheduler::AwaitNext(const Round& round, bool all, uint64_t wanted,
                            std::unique_lock<std::mutex>* lock) {
  const auto wake = [&] { return monitor_.stop || monitor_.wanted != wanted; };
  if (round.later > 0) {
    const uint64_t pause = round.later - std::min(round.later, SteadyMicros());
    monitor_.changed.wait_for(*lock, std::chrono::microseconds(pause), wake);
    return;
  }
  if (all) {
    monitor_.done = wanted;
    monitor_.changed.notify_all();
  }
  if (round.retry || !all) {
    monitor_.changed.wait_for(*lock, kTick, wake);
  } else {
    monitor_.changed.wait(*lock, wake);
  }
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
