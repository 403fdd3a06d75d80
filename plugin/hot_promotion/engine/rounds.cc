// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What an engine does in the background.

#include <algorithm>

#include "plugin/hot_promotion/engine/engine.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kSecond = 1000000;  // microseconds, as all times here
constexpr uint64_t kFlushInterval = 10 * kSecond;
constexpr uint64_t kReconcileInterval = 30 * kSecond;
constexpr uint64_t kReconcileMoment = kSecond / 50;
constexpr uint64_t kSampleInterval = kSecond / 10;
// Up to so many accesses a second all are recorded. That is enough to tell what is hot while it
// matters, and does not make slow what is fast. While the hot set becomes known the limit is
// kAccessesToLearn: as long as each eviction of the access table finds kLearnt more of the largest
// hot set to be stable.
constexpr double kAccessesPerSecond = 8 << 10;
constexpr double kAccessesToLearn = 32 << 10;
constexpr double kLearnt = 1.0 / 64;
// So many reads of slow storage a second are looked at; slow storage does no more. To find them
// among those that memory answers, up to kLooksForOne times as many are looked at.
constexpr double kSlowReadsPerSecond = 8 << 10;
constexpr double kLooksForOne = 8;
// The hot set's largest size, of the budget, as in opening.cc.
constexpr double kHotShare = 0.85;
// In tenths of what is left after evictions. With less than that in the store, what is read once is
// copied too, until the store is filled again. It is no more because where SSTs with retained
// records come and go there is room for a moment only.
constexpr uint64_t kFreeTenths = 5;
constexpr uint64_t kToldAtOnce = 32 << 20;  // bytes of the store
constexpr auto kRoundInterval = std::chrono::seconds(1);
constexpr auto kBusyInterval = std::chrono::milliseconds(20);

// After a turn of so many evictions in a row, which compact the whole store, hot records are
// dropped too if there still is no room.
constexpr uint64_t kEvictionsBeforeForce = 32;
constexpr int kEvictionsPerRound = 8;

}  // namespace

void Engine::Run() {
  std::unique_lock<std::mutex> lock(wake_mutex_);
  while (!stop_) {
    wake_.wait_for(lock, kRoundInterval, [this] { return stop_ || wanted_ || obsolete_; });
    if (obsolete_) {  // its file goes next
      wake_.wait_for(lock, kBusyInterval, [this] { return stop_; });
    }
    wanted_ = false;
    obsolete_ = false;
    if (stop_) {
      break;
    }
    lock.unlock();
    Status s;
    bool more;
    {
      std::lock_guard<std::mutex> round(round_mutex_);
      s = Round(/*flush=*/false);
      more = telling_ && !cannot_tell_;
      if (logger_ != nullptr) {
        logger_->Flush();  // what went wrong is read while the process runs
      }
    }
    lock.lock();
    wanted_ |= more;
    if (s.IsBusy()) {  // compactions of the store need time
      wake_.wait_for(lock, kBusyInterval, [this] { return stop_; });
    }
  }
}

// Does what the engine does in the background. Without an access table it only tries to open.
Status Engine::Round(bool flush) {
  const uint64_t now = env_->NowMicros();
  if (now >= next_try_ && store_.get() != nullptr && store_.get()->HasFailed()) {
    ReplaceStore();
    Try();
  } else if (now >= next_try_ && store_.get() == nullptr) {
    Try();
  }
  if (!open_.load(std::memory_order_relaxed)) {
    return Status::OK();
  }
  Warm();
  Sample(now);
  if (store_.get() == nullptr) {
    return Status::OK();
  }
  FillPresenceFilter();
  LookForRoom();
  Reconcile(flush, now);
  MakeRoom();
  if (flush || CacheIsDue() || now - last_flush_ > kFlushInterval) {
    last_flush_ = now;
    const Status s = FlushCache(/*last=*/false);
    if (!s.ok() && !s.IsBusy()) {
      CountError("write", s);
    }
    return s;
  }
  return Status::OK();
}

// A new access table knows of no hot records. Until it has come to know some, no record counts as
// cold.
void Engine::Warm() {
  if (!warm_.load(std::memory_order_relaxed)) {
    const RaltStats stats = ralt_->Stats();
    warm_ = stats.evictions > 0 || stats.hot_bytes >= options_.budget / 10;
  }
}

// Whether the hot set is still becoming known.
bool Engine::Learns(const RaltStats& stats) {
  if (stats.evictions != evictions_when_learnt_) {
    const double learnt =
        static_cast<double>(stats.stable_bytes) - static_cast<double>(stable_when_learnt_);
    learns_ = learnt > kLearnt * kHotShare * static_cast<double>(options_.budget);
    evictions_when_learnt_ = stats.evictions;
    stable_when_learnt_ = stats.stable_bytes;
  }
  return learns_;
}

void Engine::Sample(uint64_t now) {
  if (now - last_sample_ < kSampleInterval) {
    return;
  }
  const RaltStats stats = ralt_->Stats();
  const uint64_t recorded = stats.accesses + stats.dropped;
  const double seconds = static_cast<double>(now - last_sample_) / kSecond;
  accesses_.SetRate(
      static_cast<double>(recorded - sampled_accesses_) * accesses_.one_in() / seconds,
      Learns(stats) ? kAccessesToLearn : kAccessesPerSecond);
  // There may be many more reads that memory answers.
  const uint64_t all_slow_reads = counters_.Sum(Counter::served_slow);
  const uint64_t slow_reads = offered_.load(std::memory_order_relaxed);
  slow_reads_.SetRate(
      std::max(static_cast<double>(slow_reads - sampled_slow_reads_) * slow_reads_.one_in(),
               static_cast<double>(all_slow_reads - sampled_all_slow_reads_) / kLooksForOne) /
          seconds,
      kSlowReadsPerSecond);
  last_sample_ = now;
  sampled_accesses_ = recorded;
  sampled_slow_reads_ = slow_reads;
  sampled_all_slow_reads_ = all_slow_reads;
}

// Tells presence_ of all copies, a part of the store at a time. Does so after the store was opened,
// and when there are too many marks of copies that are gone.
void Engine::FillPresenceFilter() {
  const uint64_t written = store_.get()->WrittenBytes();
  if (told_ && presence_.Crowded() && store_.get()->Records() < presence_.Capacity() &&
      written - written_when_told_ > options_.budget / 4) {
    told_ = false;
  }
  if (told_ || cannot_tell_) {
    return;
  }
  if (!telling_) {
    BeginToTell();
  }
  const Status s = store_.get()->ForEachRecord(
      kToldAtOnce,
      [this](const Slice& key) {
        const uint64_t hash = HashOfKey(key);
        presence_.Add(hash);
        if (!told_once_) {
          clock_bits_.Mark(hash);  // it is not known which ones did before the store was closed
        }
      },
      &next_to_tell_);
  if (!s.ok()) {
    CountError("read", s);
    cannot_tell_ = true;  // copies are looked for in the store
  } else if (next_to_tell_.empty()) {
    telling_ = false;
    told_once_ = true;
    told_.store(true, std::memory_order_release);
  }
}

// Forgets that presence_ know all copies: another store has been opened.
void Engine::ForgetTold() {
  told_.store(false);
  telling_ = false;
  cannot_tell_ = false;
}

// Starts to tell presence_ of all copies. Those who add copies meanwhile tell of them themselves.
void Engine::BeginToTell() {
  telling_ = true;
  written_when_told_ = store_.get()->WrittenBytes();
  next_to_tell_.clear();
  presence_.Clear();
  cache_.ForEach([this](uint64_t hash) { presence_.Add(hash); });
}

Status Engine::Settle() {
  if (!open_.load(std::memory_order_acquire)) {
    return GetStatus();
  }
  Status s = ralt_->Flush();
  ralt_->Settle();
  std::lock_guard<std::mutex> lock(round_mutex_);
  const Status written = Round(/*flush=*/true);
  if (s.ok()) {
    s = written;
  }
  return s.ok() ? FlushCache(/*last=*/false) : s;
}

// Drops copies of SSTs that are gone. Looks for all SSTs in turn, for a moment in each round; if
// `all`, at once.
void Engine::Reconcile(bool all, uint64_t now) {
  reconciles_ = reconciles_ || all || now - last_reconcile_ > kReconcileInterval;
  const uint64_t end = env_->NowMicros() + kReconcileMoment;
  const Status s = store_.get()->Drop(catalog_.TakeDead(
      reconciles_, [&] { return !IsStopping() && (all || env_->NowMicros() < end); }));
  if (!s.ok()) {
    CountError("drop", s);
  }
  if (reconciles_ && catalog_.LookedForAll()) {
    reconciles_ = false;
    last_reconcile_ = now;
  }
}

void Engine::MakeRoom() {
  if (store_.get()->Bytes() <= store_.get()->high()) {
    evictions_in_a_row_ = 0;
    return;
  }
  for (int i = 0;
       i < kEvictionsPerRound && !IsStopping() && store_.get()->Bytes() > store_.get()->low();
       i++) {
    const bool forced = evictions_in_a_row_++ >= kEvictionsBeforeForce &&
                        store_.get()->Bytes() > store_.get()->high();
    const Status s = store_.get()->Evict(forced);
    if (!s.ok()) {
      if (!s.IsManualCompactionPaused() && !s.IsIncomplete()) {
        CountError("evict", s);
      }
      return;
    }
  }
}

void Engine::LookForRoom() {
  const uint64_t bytes = store_.get()->Bytes() + cache_.Bytes();
  const uint64_t low = store_.get()->low();
  free_.store(bytes < (free_ ? low : low / 10 * kFreeTenths), std::memory_order_relaxed);
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
