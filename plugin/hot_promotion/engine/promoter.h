// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "plugin/hot_promotion/engine/copy_writer.h"
#include "plugin/hot_promotion/engine/directory.h"
#include "plugin/hot_promotion/engine/presence_filler.h"
#include "plugin/hot_promotion/engine/state.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Works in the background, once a second or when it is woken: opens the directory, writes what is
// worth it from the promotion cache to the store, drops copies of SSTs that are gone, and makes
// room.
//
// Thread-safe, once started.
class Promoter {
 public:
  // All of these live longer.
  Promoter(EngineState* state, HotDirectory* directory, CopyWriter* writer);
  // Ends the thread, and writes what the promotion cache has as far as there is room.
  ~Promoter();
  Promoter(const Promoter&) = delete;
  Promoter& operator=(const Promoter&) = delete;

  // Tries to open the directory, and starts the thread. Where none can be had, who asks for a round
  // has it tried again.
  void Start();

  // Ends the thread. There is no other one afterwards.
  void Stop();

  // Asks for a round at once.
  void Wake() { Wake(&wanted_); }
  // The same, if the promotion cache should be written.
  void WakeIfDue() {
    if (CacheIsDue()) {
      Wake();
    }
  }
  // Asks for a round in a moment, when the file of an SST has gone.
  void WakeForObsolete() { Wake(&obsolete_); }

  // See SettleHotPromotion().
  Status Settle();

 private:
  // Requires wake_mutex_.
  void StartThreadIfNone();
  void Run();
  Status Round(bool flush);
  void Sample(Ralt* table, uint64_t now);
  void FillPresenceFilter();
  void UpdateRoom();
  void Reconcile(bool all, uint64_t now);
  void MakeRoom();
  Status FlushCache(bool last);
  Status WriteHot(Store* store, const std::vector<const PromotionCache::Record*>& frozen,
                  size_t* position);
  bool CacheIsDue() const { return state_->cache.ActiveBytes() >= flush_bytes_; }
  void Wake(bool* why);
  bool IsStopping() const { return stopping_.load(std::memory_order_relaxed); }
  Store* store() const { return directory_->store().get(); }

  EngineState* const state_;
  HotDirectory* const directory_;
  CopyWriter* const writer_;
  const uint64_t flush_bytes_;  // with so many the active half of the cache is written

  // round_mutex_ serialises the thread's rounds with Settle(), and guards what follows.
  std::mutex round_mutex_;
  SamplingControl sampling_;
  PresenceFiller presence_;
  DeadSstFinder dead_;
  size_t flushed_ = 0;  // so many frozen records are written, in key order
  uint64_t last_flush_;
  uint64_t last_reconcile_ = 0;
  bool reconciles_ = true;  // looks for all SSTs, a few a round
  uint64_t evictions_in_a_row_ = 0;

  std::mutex wake_mutex_;
  std::condition_variable wake_;
  // wanted_, obsolete_, stop_ and start_from_ are guarded by wake_mutex_. A round is wanted at once
  // after opening: until the PresenceFilter is complete, each read looks for a copy.
  bool wanted_ = true;
  bool obsolete_ = false;
  bool stop_ = false;
  std::atomic<bool> stopping_{false};
  uint64_t start_from_ = 0;  // no thread is tried to be had before
  std::thread thread_;       // until stop_ is set, guarded by wake_mutex_, too
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
