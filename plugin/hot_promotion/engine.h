// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugin/hot_promotion/cache.h"
#include "plugin/hot_promotion/catalog.h"
#include "plugin/hot_promotion/counters.h"
#include "plugin/hot_promotion/hints.h"
#include "plugin/hot_promotion/hot_promotion.h"
#include "plugin/hot_promotion/ralt.h"
#include "plugin/hot_promotion/sampler.h"
#include "plugin/hot_promotion/seen.h"
#include "plugin/hot_promotion/store.h"
#include "plugin/hot_promotion/used.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// All that a directory on fast storage has: the access table, the hot store and what is on the way to it. One for each
// directory in a process, shared by the table factories, readers and builders that name it; the last one closes it.
//
// Thread-safe.
class Engine {
 public:
  // Bytes of the store for a record besides its user key and value, about.
  static constexpr uint64_t kRecordOverhead = 40;

  // The engine of options.path, which is opened if it is not. The options of the one who opens it count. Busy: another
  // process has it open.
  static Status Get(const HotPromotionOptions& options, std::shared_ptr<Engine>* result);

  // The engine that has this directory open in this process, or null.
  static std::shared_ptr<Engine> Find(const std::string& path);

  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  enum class Source { kNone, kMemory, kStore };

  // Calls serve(value) if there is a copy of the record with this key (of the store). Without I/O if `memory_only`.
  template <typename Serve>
  Source Find(const Slice& key, uint64_t hash, bool memory_only, const Serve& serve);

  // Whether this read of slow storage is one of those that are looked at: what it finds is offered, with the time that it took.
  bool LooksAtRead() const { return slow_reads_.Take(); }

  // A moment, in nanoseconds.
  uint64_t NowNanos() const { return env_->NowNanos(); }

  // Takes a record into the promotion cache if it was read before, is hot or the store has free room, and if its read, of
  // so many nanoseconds, was one of slow storage.
  void Offer(const Slice& key, uint64_t hash, Space space, const Slice& value, uint64_t nanos);

  // Adds the hot records of an SST that was written and is in the catalog, in the order of their keys (of the store).
  // May wait for a moment for room.
  void Retain(const FileId& file, const std::vector<Store::Record>& records);

  // The file of this SST is about to be deleted.
  void NoteObsolete(const FileId& file);

  // Records that a record was read: in the access table, if there are not so many reads that a part of them tells as much.
  // What counts as its size there is what the store needs for it.
  void Access(Space space, const Slice& user_key, uint64_t value_size) {
    if (accesses_.Take()) {
      ralt_->Access(space, user_key, value_size + kRecordOverhead);
    }
  }

  Ralt* ralt() const { return ralt_.get(); }
  Catalog* catalog() { return &catalog_; }
  Counters* counters() { return &counters_; }
  uint64_t promotion_cache() const { return options_.promotion_cache; }
  // Bytes of the largest record that is copied; one must not need a good part of the store.
  uint64_t max_record() const { return options_.budget / 64; }

  HotPromotionStats Stats() const;

  // See SettleHotPromotion().
  Status Settle();

  // Writes statistics to the log, at most every ten minutes.
  void MaybeLog(Logger* logger);

 private:
  explicit Engine(const HotPromotionOptions& options);

  Status Open();
  Status OpenParts();
  void Run();
  Status Round(bool flush);
  void Warm();
  void LookForRoom();
  bool IsWanted(Space space, const Slice& user_key, uint64_t hash);
  bool Learns(const RaltStats& stats);
  void Sample(uint64_t now);
  void TellHints();
  void BeginToTell();
  Status FlushCache(bool last);
  Status WriteHot(const std::vector<const PromotionCache::Record*>& frozen, size_t* position);
  Status Promote(const std::vector<Store::Record>& records);
  Status Add(const std::vector<Store::Record>& records);
  Status AddInTime(const std::vector<Store::Record>& records, uint64_t deadline);
  void Wake(bool* why);
  void Reconcile(bool all);
  void MakeRoom();
  void CountError(const char* what, const Status& s);
  bool CacheIsDue() const;
  uint64_t FlushBytes() const;

  const HotPromotionOptions options_;
  Env* const env_;
  FileLock* lock_ = nullptr;
  std::shared_ptr<Logger> logger_;
  Counters counters_;
  Catalog catalog_;
  PromotionCache cache_;
  Seen seen_;                         // records that were read from slow storage
  Used used_;                         // copies of the store
  Sampler accesses_;                  // that are recorded
  Sampler slow_reads_;                // that are looked at
  std::atomic<uint64_t> offered_{0};  // of these, that were not quick
  std::unique_ptr<Ralt> ralt_;
  std::atomic<bool> warm_{false};  // whether the access table can tell which records are cold
  Hints hints_;                    // of copies in the cache and in the store
  std::atomic<bool> told_{false};  // of all of them
  std::unique_ptr<Store> store_;
  std::atomic<bool> free_{false};  // whether the store has room for what is read once

  // The background thread. What it does is serialized with Settle() by round_mutex_, which guards what follows.
  std::mutex round_mutex_;
  size_t flushed_ = 0;  // of the frozen records, in the order of their keys
  uint64_t last_flush_ = 0;
  uint64_t last_reconcile_ = 0;
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
  // Guarded by wake_mutex_, as is stop_. At once after opening: until hints_ know of all, each read looks for a copy.
  bool wanted_ = true;
  bool obsolete_ = false;
  bool stop_ = false;
  std::thread thread_;

  std::atomic<uint64_t> next_log_{0};  // microseconds
};

template <typename Serve>
Engine::Source Engine::Find(const Slice& key, uint64_t hash, bool memory_only, const Serve& serve) {
  if (told_.load(std::memory_order_acquire) && !hints_.MayHave(hash)) {
    return Source::kNone;
  }
  if (cache_.Get(key, hash, serve)) {
    return Source::kMemory;
  }
  if (memory_only) {
    return Source::kNone;
  }
  PinnableSlice value;
  const Status s = store_->Get(key, &value);
  if (s.ok()) {
    serve(Slice(value));
    used_.Mark(hash);
    return Source::kStore;
  }
  if (!s.IsNotFound()) {
    CountError("read", s);
  }
  return Source::kNone;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
