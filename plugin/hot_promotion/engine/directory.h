// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "plugin/hot_promotion/engine/guarded.h"
#include "plugin/hot_promotion/engine/state.h"
#include "plugin/hot_promotion/ralt/ralt.h"
#include "plugin/hot_promotion/store/folder.h"
#include "plugin/hot_promotion/store/store.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// The directory of the option `path`: its marker and lock, LOG, access table and store. Opens them,
// and opens again what could not be opened, or has failed. See store/folder.h for what may be
// deleted then.
//
// Thread-safe, but for KeepOpen(): one call at a time. Once the access table is open it is so as
// long as the object lives. The store may be replaced.
class HotDirectory {
 public:
  // `state` lives longer. `opened` is called once, when the access table is open.
  HotDirectory(EngineState* state, std::function<void()> opened);
  // Closes everything.
  ~HotDirectory();
  HotDirectory(const HotDirectory&) = delete;
  HotDirectory& operator=(const HotDirectory&) = delete;

  // Opens what is not open, and closes a store that has failed and opens it again: empty, if it is
  // damaged. Does nothing if it tried a moment ago. `now`: SteadyMicros(). True: a store was
  // closed.
  bool KeepOpen(uint64_t now);

  // Says why there are no copies at present, or OK.
  Status GetStatus() const;

  // The access table; null while it is not open.
  Ralt* table() const { return open_.load(std::memory_order_acquire) ? table_.get() : nullptr; }

  // Whether there is a store, except for moments.
  bool IsServing() const { return serving_.load(std::memory_order_acquire); }
  const Guarded<Store>& store() const { return store_; }

  // Counts an error of the store, and tells the first ones in the LOG.
  void CountError(const char* operation, const Status& s);
  // The LOG; once the access table is open.
  Logger* logger() const { return logger_.get(); }
  // Makes what was told in the LOG readable.
  void FlushLog();

  // Sets what is known of access table and store.
  void GetStats(HotPromotionStats* stats) const;

 private:
  // Counts of stores that were replaced.
  struct Past {
    std::atomic<uint64_t> written{0};
    std::atomic<uint64_t> dead{0};
    std::atomic<uint64_t> cold{0};
    std::atomic<uint64_t> forced{0};
  };

  void Open();
  Status OpenTable();
  void CloseTable();
  Status OpenLog();
  Status OpenStore();
  void CloseStore();
  void SetStatus(const Status& s);

  EngineState* const state_;
  const std::function<void()> opened_;

  // Folder, LOG and access table. Once open_ is set they are there as long as this object is.
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<Folder> table_folder_;
  std::shared_ptr<Logger> logger_;
  std::unique_ptr<Ralt> table_;
  std::atomic<bool> open_{false};

  Guarded<Store> store_;
  std::atomic<bool> serving_{false};
  Past past_;

  // KeepOpen() alone uses these.
  uint64_t next_try_ = 0;  // microseconds: when to open what is not open, or to replace the store
  uint64_t retry_;         // how long it is until then

  mutable std::mutex status_mutex_;
  Status status_;  // guarded by status_mutex_
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
