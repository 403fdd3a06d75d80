// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugin/hot_promotion/engine/cache.h"
#include "plugin/hot_promotion/engine/catalog.h"
#include "plugin/hot_promotion/engine/clock_bits.h"
#include "plugin/hot_promotion/engine/counters.h"
#include "plugin/hot_promotion/engine/guarded.h"
#include "plugin/hot_promotion/engine/presence_filter.h"
#include "plugin/hot_promotion/engine/sampler.h"
#include "plugin/hot_promotion/engine/seen_filter.h"
#include "plugin/hot_promotion/hot_promotion.h"
#include "plugin/hot_promotion/ralt/ralt.h"
#include "plugin/hot_promotion/store/folder.h"
#include "plugin/hot_promotion/store/store.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Owns all that a directory on fast storage has: the access table, the hot store, and the promotion
// cache of what is on the way to it. There is one engine for each directory in a process. Table
// factories, readers and builders that name the directory share it; the last one closes it.
//
// Thread-safe.
class Engine {
 public:
  // About how many bytes of the store a record takes besides its user key and value.
  static constexpr uint64_t kRecordOverhead = 40;

  // Returns the engine of the folder options.path, however it is spelled, and makes it if there is
  // none. The options of the first caller count. The engine may not be open: then it tries to open
  // again every few seconds, and has no copies until it succeeds. See folder.h.
  static std::shared_ptr<Engine> Get(const HotPromotionOptions& options);

  // The engine of this folder in this process, or null.
  static std::shared_ptr<Engine> Find(const std::string& path);

  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Why there are no copies at present, or OK.
  Status GetStatus() const;

  // Whether it has a folder, with or without a store.
  bool IsOpen() const { return open_.load(std::memory_order_acquire); }

  enum class Source { kNone, kMemory, kStore };

  // Calls serve(value) if there is a copy of the record with this key (of the store). Does no I/O
  // if `memory_only`.
  template <typename Serve>
  Source Find(const Slice& key, uint64_t hash, bool memory_only, const Serve& serve);

  // Whether this read of slow storage is one of those that are looked at. The caller then times it
  // and offers what it finds.
  bool LooksAtRead() const {
    return serving_.load(std::memory_order_relaxed) && slow_reads_.Take();
  }

  // The current time, in nanoseconds.
  uint64_t NowNanos() const { return env_->NowNanos(); }

  // Takes a record into the promotion cache if it was read before, if it is hot, or if the store
  // has free room. `quick`: its read took too little time to be one of slow storage.
  void Offer(const Slice& key, uint64_t hash, Space space, const Slice& value, bool quick);

  // Adds the hot records of an SST that was written and is in the catalog. next(&user_key, &value)
  // gives them in bytewise order of their keys and is false at their end; what it gave must stay
  // valid. May wait for a moment for room.
  using NextRecord = std::function<bool(Slice* user_key, Slice* value)>;
  void Retain(const FileId& file, const NextRecord& next);

  // Notes that the file of this SST is about to be deleted.
  void NoteObsolete(const FileId& file);

  // Counts a read of a record in the access table. If there are very many reads, a random part of
  // them is counted. The size that counts there is what the store needs for the record.
  void Access(Space space, const Slice& user_key, uint64_t value_size) {
    if (open_.load(std::memory_order_acquire) && accesses_.Take()) {
      ralt_->Access(space, user_key, value_size + kRecordOverhead);
    }
  }

  // Whether the access table has the record as hot.
  bool IsHot(Space space, const Slice& user_key) const {
    return open_.load(std::memory_order_acquire) && ralt_->IsHot(space, user_key);
  }

  Catalog* catalog() { return &catalog_; }
  Counters* counters() { return &counters_; }
  uint64_t promotion_cache() const { return options_.promotion_cache; }
  // Bytes of the largest record that is copied: a single one must not need a good part of the
  // store.
  uint64_t max_record() const { return options_.budget / 64; }

  HotPromotionStats Stats() const;

  // See SettleHotPromotion().
  Status Settle();

  // Writes statistics to the log, at most every ten minutes.
  void MaybeLog(Logger* logger);

 private:
  explicit Engine(const HotPromotionOptions& options);

  void Open();
  void Try();
  Status OpenTable();
  void CloseTable();
  Status OpenLog();
  Status OpenStore();
  void ReplaceStore();
  void SetStatus(const Status& s);
  void Run();
  Status Round(bool flush);
  void Warm();
  void LookForRoom();
  bool IsWanted(Space space, const Slice& user_key, uint64_t hash);
  bool Learns(const RaltStats& stats);
  void Sample(uint64_t now);
  void FillPresenceFilter();
  void BeginToTell();
  void ForgetTold();
  Status FlushCache(bool last);
  Status WriteHot(Store* store, const std::vector<const PromotionCache::Record*>& frozen,
                  size_t* position);
  Status Promote(Store* store, const std::vector<Store::Record>& records);
  Status Add(Store* store, const std::vector<Store::Record>& records);
  Status AddInTime(Store* store, const std::vector<Store::Record>& records, uint64_t deadline);
  void Wake(bool* why);
  void Reconcile(bool all, uint64_t now);
  bool IsStopping() const { return stopping_.load(std::memory_order_relaxed); }
  void MakeRoom();
  void CountError(const char* what, const Status& s);
  bool CacheIsDue() const;

  const HotPromotionOptions options_;
  Env* const env_;
  const uint64_t flush_bytes_;  // with so many the active half of the cache is written
  Counters counters_;
  Catalog catalog_;
  PromotionCache cache_;
  SeenFilter seen_;                   // records that were read from slow storage
  ClockBits clock_bits_;              // copies of the store that answered
  Sampler accesses_;                  // which accesses are recorded
  Sampler slow_reads_;                // which slow reads are looked at
  std::atomic<uint64_t> offered_{0};  // slow reads looked at that were not quick
  std::atomic<bool> warm_{false};     // whether the access table can tell which records are cold
  PresenceFilter presence_;           // which copies are in cache and store
  std::atomic<bool> told_{false};     // whether presence_ know of all copies

  // Folder, LOG and access table. Once open_ is set they are there as long as the engine is.
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<Folder> table_folder_;
  std::shared_ptr<Logger> logger_;
  std::unique_ptr<Ralt> ralt_;
  std::atomic<bool> open_{false};
  // The store. It is there while serving_ is set, except for moments, and may be replaced.
  Guarded<Store> store_;
  std::atomic<bool> serving_{false};
  std::atomic<bool> free_{false};  // whether the store has room for what is read once
  // Counts of stores that were replaced.
  struct Past {
    std::atomic<uint64_t> written{0};
    std::atomic<uint64_t> dead{0};
    std::atomic<uint64_t> cold{0};
    std::atomic<uint64_t> forced{0};
  };
  Past past_;

  mutable std::mutex status_mutex_;
  Status status_;  // guarded by status_mutex_

  // The background thread. round_mutex_ serialises its rounds with Settle(), and guards what
  // follows.
  std::mutex round_mutex_;
  size_t flushed_ = 0;  // so many frozen records are written, in key order
  uint64_t last_flush_ = 0;
  uint64_t last_reconcile_ = 0;
  bool reconciles_ = true;  // looks for all SSTs, a few a round
  uint64_t next_try_ = 0;   // when to open what is not open, or to replace the store
  uint64_t retry_ = 0;      // how long it is until then
  uint64_t evictions_in_a_row_ = 0;
  bool telling_ = false;
  bool told_once_ = false;
  bool cannot_tell_ = false;
  std::string next_to_tell_;
  uint64_t written_when_told_ = 0;
  bool learns_ = true;
  uint64_t evictions_when_learnt_ = 0;
  uint64_t stable_when_learnt_ = 0;
  uint64_t last_sample_ = 0;
  uint64_t sampled_accesses_ = 0;
  uint64_t sampled_slow_reads_ = 0;
  uint64_t sampled_all_slow_reads_ = 0;

  std::mutex wake_mutex_;
  std::condition_variable wake_;
  // wanted_, obsolete_ and stop_ are guarded by wake_mutex_. A round is wanted at once after
  // opening: until presence_ know of all copies, each read looks for one.
  bool wanted_ = true;
  bool obsolete_ = false;
  bool stop_ = false;
  std::atomic<bool> stopping_{false};
  std::thread thread_;

  std::atomic<uint64_t> next_log_{0};  // microseconds
};

template <typename Serve>
Engine::Source Engine::Find(const Slice& key, uint64_t hash, bool memory_only, const Serve& serve) {
  if (!serving_.load(std::memory_order_relaxed) ||
      (told_.load(std::memory_order_acquire) && !presence_.MayHave(hash))) {
    return Source::kNone;
  }
  if (cache_.Get(key, hash, serve)) {
    return Source::kMemory;
  }
  if (memory_only) {
    return Source::kNone;
  }
  const Guarded<Store>::Use store(store_);
  if (!store) {
    return Source::kNone;
  }
  PinnableSlice value;
  const Status s = store->Get(key, &value);
  if (s.ok()) {
    serve(Slice(value));
    clock_bits_.Mark(hash);
    return Source::kStore;
  }
  if (!s.IsNotFound()) {
    CountError("read", s);
  }
  return Source::kNone;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
