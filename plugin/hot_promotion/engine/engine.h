// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "plugin/hot_promotion/engine/copy_writer.h"
#include "plugin/hot_promotion/engine/directory.h"
#include "plugin/hot_promotion/engine/promoter.h"
#include "plugin/hot_promotion/engine/state.h"
#include "plugin/hot_promotion/hot_promotion.h"
#include "plugin/hot_promotion/metrics_reporter.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Answers reads of slow storage from copies, and takes what was read there. Owns all that a
// directory on fast storage has: the access table, the hot store, and the promotion cache of what
// is on the way to it. There is one engine for each directory in a process. Table factories,
// readers and builders that name the directory share it; the last one closes it.
//
// What it is made of: EngineState (what the parts share), HotDirectory (what is open), CopyWriter
// (additions to the store), Promoter (the background).
//
// Thread-safe.
class Engine {
 public:
  using NextRecord = CopyWriter::NextRecord;

  // About how many bytes of the store a record takes besides its user key and value.
  static constexpr uint64_t kRecordOverhead = 40;

  // Returns the engine of the folder options.path, however it is spelled, and makes it if there is
  // none. The options of the first caller count. The engine may not be open: then it tries to open
  // again every few seconds, and has no copies until it succeeds. See store/folder.h.
  static std::shared_ptr<Engine> Get(const HotPromotionOptions& options);

  // Returns the engine of this folder in this process, or null; also if it is being made.
  static std::shared_ptr<Engine> Find(const std::string& path);

  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Says why there are no copies at present, or OK.
  Status GetStatus() const { return directory_.GetStatus(); }

  // Whether it has a folder, with or without a store.
  bool IsOpen() const { return directory_.table() != nullptr; }

  enum class Source { kNone, kMemory, kStore };

  // Calls serve(value) if there is a copy of the record with this key (of the store). Does no I/O
  // if `memory_only`.
  template <typename Serve>
  Source Find(const Slice& key, uint64_t hash, bool memory_only, const Serve& serve);

  // Whether this read of slow storage is one of those that are looked at. The caller then times it
  // and offers what it finds.
  bool LooksAtRead() const { return directory_.IsServing() && state_.sampling.TakesSlowRead(); }

  // Returns the current time, in nanoseconds.
  uint64_t NowNanos() const { return env_->NowNanos(); }

  // Takes a record that was read from slow storage into the promotion cache, if the policy admits
  // it. `quick`: its read took too little time to be one of slow storage.
  void Offer(const Slice& key, uint64_t hash, Space space, const Slice& value, bool quick);

  // Adds the hot records of an SST that was written and is in the catalog. May wait for a moment
  // for room.
  void Retain(const FileId& file, const NextRecord& next) { writer_.Retain(file, next); }

  // Notes that the file of this SST is about to be deleted.
  void NoteObsolete(const FileId& file);

  // Counts a read of a record in the access table. If there are very many reads, a random part of
  // them is counted. The size that counts there is what the store needs for the record.
  void Access(Space space, const Slice& user_key, uint64_t value_size) {
    Ralt* const table = directory_.table();
    if (table != nullptr && state_.sampling.TakesAccess()) {
      table->Access(space, user_key, value_size + kRecordOverhead);
    }
  }

  const CopyPolicy& policy() const { return state_.policy; }
  SstCatalog* catalog() { return &state_.catalog; }
  Counters* counters() { return &state_.counters; }
  uint64_t promotion_cache() const { return state_.options.promotion_cache; }

  HotPromotionStats Stats() const;
  std::string MetricsText() const;

  // See SettleHotPromotion().
  Status Settle() { return promoter_.Settle(); }

  // Writes statistics to the log, at most every ten minutes.
  void MaybeLog(Logger* logger);

 private:
  explicit Engine(const HotPromotionOptions& options);
  static void EndAll();
  void End();
  void StartReporting();

  Env* const env_;
  EngineState state_;
  HotDirectory directory_;
  CopyWriter writer_;
  // Set by the promoter, when the directory is open. Goes after that, and before what it reports
  // of.
  std::unique_ptr<MetricsReporter> reporter_;
  Promoter promoter_;
  std::atomic<uint64_t> next_log_;  // microseconds
};

template <typename Serve>
Engine::Source Engine::Find(const Slice& key, uint64_t hash, bool memory_only, const Serve& serve) {
  if (!directory_.IsServing() || !state_.presence.MayHave(hash)) {
    return Source::kNone;
  }
  if (state_.cache.Get(key, hash, serve)) {
    return Source::kMemory;
  }
  if (memory_only) {
    return Source::kNone;
  }
  const Guarded<Store>::Use store(directory_.store());
  if (!store) {
    return Source::kNone;
  }
  PinnableSlice value;
  const Status s = store->Get(key, &value);
  if (s.ok()) {
    serve(Slice(value));
    state_.policy.MarkUsed(hash);
    return Source::kStore;
  }
  if (!s.IsNotFound()) {
    directory_.CountError("read", s);
  }
  return Source::kNone;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
