// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/promoter.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "plugin/hot_promotion/engine/clock.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kSecond = 1000000;  // microseconds, as all times here
constexpr uint64_t kFlushInterval = 10 * kSecond;
constexpr uint64_t kReconcileInterval = 30 * kSecond;
constexpr uint64_t kReconcileMoment = kSecond / 50;
constexpr auto kRoundInterval = std::chrono::seconds(1);
constexpr auto kBusyInterval = std::chrono::milliseconds(20);

// After a turn of so many evictions in a row, which compact the whole store, hot records are
// dropped too if there still is no room.
constexpr uint64_t kEvictionsBeforeForce = 32;
constexpr int kEvictionsPerRound = 8;

}  // namespace

Promoter::Promoter(EngineState* state, HotDirectory* directory, CopyWriter* writer)
    : state_(state),
      directory_(directory),
      writer_(writer),
      flush_bytes_(
          std::min(state->options.promotion_cache / 4, Store::BatchOf(state->options.budget))),
      sampling_(&state->sampling, state->options.budget, SteadyMicros()),
      presence_(state),
      dead_(&state->catalog),
      last_flush_(SteadyMicros()) {}

void Promoter::Start() {
  {
    std::lock_guard<std::mutex> lock(round_mutex_);
    directory_->KeepOpen(SteadyMicros());
  }
  std::lock_guard<std::mutex> lock(wake_mutex_);
  StartThreadIfNone();
}

// Without it nothing is promoted or dropped, and that can wait.
void Promoter::StartThreadIfNone() {
  const uint64_t now = SteadyMicros();
  if (stop_ || thread_.joinable() || now < start_from_) {
    return;
  }
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    start_from_ = now + kSecond;
  }
}

Promoter::~Promoter() {
  Stop();
  std::lock_guard<std::mutex> lock(round_mutex_);
  // One may be frozen, for which the last round has found no room.
  for (int half = 0; half < 2; half++) {
    const Status s = FlushCache(/*last=*/true);
    if (!s.ok() && !s.IsBusy()) {
      directory_->CountError("write", s);
    }
  }
}

void Promoter::Stop() {
  {
    std::lock_guard<std::mutex> lock(wake_mutex_);
    if (stop_) {
      return;
    }
    stop_ = true;
    stopping_ = true;
    wake_.notify_all();
  }
  {
    const Guarded<Store>::Use store(directory_->store());
    if (store) {
      store->Stop();
    }
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Promoter::Wake(bool* why) {
  std::lock_guard<std::mutex> lock(wake_mutex_);
  if (!*why) {
    *why = true;
    wake_.notify_all();
  }
  StartThreadIfNone();
}

void Promoter::Run() {
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
      more = presence_.IsUnderWay();
      directory_->FlushLog();  // what went wrong is read while the process runs
    }
    lock.lock();
    wanted_ |= more;
    if (s.IsBusy()) {  // compactions of the store need time
      wake_.wait_for(lock, kBusyInterval, [this] { return stop_; });
    }
  }
}

// Does what is to be done in the background. Without a store only tries to open, and forgets SSTs.
Status Promoter::Round(bool flush) {
  const uint64_t now = SteadyMicros();
  const bool had_store = store() != nullptr;
  if (directory_->KeepOpen(now)) {
    presence_.Forget();
    reconciles_ = true;  // SSTs may have gone since the store was closed
  }
  reconciles_ = reconciles_ || (!had_store && store() != nullptr);
  Reconcile(flush, now);
  Ralt* const table = directory_->table();
  if (table == nullptr) {
    return Status::OK();
  }
  if (!state_->policy.TableTellsCold()) {
    state_->policy.Learn(table->Stats());
  }
  Sample(table, now);
  if (store() == nullptr) {
    return Status::OK();
  }
  FillPresenceFilter();
  UpdateRoom();
  MakeRoom();
  if (flush || CacheIsDue() || now - last_flush_ > kFlushInterval) {
    last_flush_ = now;
    const Status s = FlushCache(/*last=*/false);
    if (!s.ok() && !s.IsBusy()) {
      directory_->CountError("write", s);
    }
    return s;
  }
  return Status::OK();
}

void Promoter::Sample(Ralt* table, uint64_t now) {
  if (sampling_.IsDue(now)) {
    sampling_.Update(now, table->Stats(), state_->counters.Sum(Counter::served_slow));
  }
}

void Promoter::FillPresenceFilter() {
  const Status s = presence_.Continue(store());
  if (!s.ok()) {
    directory_->CountError("read", s);
  }
}

void Promoter::UpdateRoom() {
  state_->policy.SetRoom(store()->Bytes() + state_->cache.Bytes(), store()->low());
}

// Forgets SSTs that are gone, and drops copies of them. Looks for all SSTs in turn, for a moment in
// each round; if `all`, at once. A store that is opened later tells of the SSTs that it names.
void Promoter::Reconcile(bool all, uint64_t now) {
  reconciles_ = reconciles_ || all || now - last_reconcile_ > kReconcileInterval;
  const uint64_t end = SteadyMicros() + kReconcileMoment;
  const std::vector<FileId> gone =
      dead_.Take(reconciles_, [&] { return !IsStopping() && (all || SteadyMicros() < end); });
  const Status s = store() == nullptr ? Status::OK() : store()->Drop(gone);
  if (!s.ok()) {
    directory_->CountError("drop", s);
  }
  if (reconciles_ && dead_.LookedForAll()) {
    reconciles_ = false;
    last_reconcile_ = now;
  }
}

void Promoter::MakeRoom() {
  if (store()->Bytes() <= store()->high()) {
    evictions_in_a_row_ = 0;
    return;
  }
  for (int i = 0; i < kEvictionsPerRound && !IsStopping() && store()->Bytes() > store()->low();
       i++) {
    const bool forced =
        evictions_in_a_row_++ >= kEvictionsBeforeForce && store()->Bytes() > store()->high();
    const Status s = store()->Evict(forced);
    if (!s.ok()) {
      if (!s.IsManualCompactionPaused() && !s.IsIncomplete()) {
        directory_->CountError("evict", s);
      }
      return;
    }
  }
}

// Writes the frozen records that are worth it. If none are frozen, freezes the active ones first.
// What finds no room is tried again in the next round, unless this is the last one.
Status Promoter::FlushCache(bool last) {
  PromotionCache* const cache = &state_->cache;
  if (cache->Bytes() == 0 || store() == nullptr) {
    return Status::OK();
  }
  std::vector<const PromotionCache::Record*> frozen = cache->Frozen();
  if (frozen.empty()) {
    cache->Freeze();
    frozen = cache->Frozen();
    flushed_ = 0;
  }
  const Status s = WriteHot(store(), frozen, &flushed_);
  if (!s.IsBusy() || last) {
    state_->counters.Add(Counter::lost, frozen.size() - flushed_);
    for (const PromotionCache::Record* record : frozen) {
      state_->presence.Remove(HashOfKey(record->key));
    }
    cache->Thaw();
    flushed_ = 0;
  }
  return s;
}

// Writes records that are worth it from *position on, batch by batch; Busy at the first that finds
// no room.
Status Promoter::WriteHot(Store* store, const std::vector<const PromotionCache::Record*>& frozen,
                          size_t* position) {
  while (*position < frozen.size()) {
    std::vector<Store::Record> records;
    uint64_t bytes = 0;
    uint64_t cooled = 0;
    size_t end = *position;
    const bool roomy = store->Bytes() <= store->high();
    for (; end < frozen.size() && bytes < store->batch(); end++) {
      const PromotionCache::Record& record = *frozen[end];
      if (!state_->policy.Promotes(record.space, UserKeyOf(record.key), record.hits, roomy)) {
        cooled++;
        continue;
      }
      records.push_back({record.key, record.value});
      bytes += record.key.size() + record.value.size();
    }
    const Status s = writer_->Promote(store, records);
    if (!s.ok()) {
      return s;
    }
    *position = end;
    state_->counters.Add(Counter::cooled, cooled);
  }
  return Status::OK();
}

Status Promoter::Settle() {
  Ralt* const table = directory_->table();
  if (table == nullptr) {
    return directory_->GetStatus();
  }
  Status s = table->Flush();
  table->Settle();
  std::lock_guard<std::mutex> lock(round_mutex_);
  const Status written = Round(/*flush=*/true);
  if (s.ok()) {
    s = written;
  }
  return s.ok() ? FlushCache(/*last=*/false) : s;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
