// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/directory.h"

#include <algorithm>
#include <string>
#include <utility>

#include "logging/logging.h"
#include "plugin/hot_promotion/engine/clock.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kSecond = 1000000;  // microseconds
constexpr uint64_t kRetryInterval = 3 * kSecond;
constexpr uint64_t kLongestRetryInterval = 300 * kSecond;
constexpr uint64_t kMaxErrorsLogged = 100;
// The part of the hot set for what was read but once of late. With HotRAP's tenth it takes longer
// to come to know a hot set that is updated, of which few reads come here.
constexpr double kUnstableShare = 0.3;

RaltOptions TableOptions(const HotPromotionOptions& options,
                         const std::shared_ptr<Logger>& logger) {
  RaltOptions table;
  table.path = options.path + "/ralt";
  table.fast_bytes = options.budget;
  table.hot_max_ratio = CopyPolicy::kHotShare;
  table.unstable_ratio = kUnstableShare;
  table.decay_ratio = CopyPolicy::kHotShare;
  table.max_bytes = options.ralt_bytes;
  table.buffer_bytes = options.ralt_buffer_bytes;
  table.logger = logger;
  return table;
}

}  // namespace

HotDirectory::HotDirectory(EngineState* state, std::function<void()> opened)
    : state_(state), opened_(std::move(opened)), retry_(kRetryInterval) {}

HotDirectory::~HotDirectory() {
  store_.Take().reset();
  CloseTable();
}

bool HotDirectory::KeepOpen(uint64_t now) {
  Store* const store = store_.get();
  if (now < next_try_ || (store != nullptr && !store->HasFailed())) {
    return false;
  }
  if (store != nullptr) {
    CloseStore();
  }
  Open();
  return store != nullptr;
}

// Opens what is not open.
void HotDirectory::Open() {
  next_try_ = SteadyMicros() + retry_;
  Status s;
  if (table() == nullptr) {
    s = OpenTable();
  }
  if (s.ok() && store_.get() == nullptr) {
    s = OpenStore();
  }
  SetStatus(s);
}

Status HotDirectory::OpenTable() {
  const HotPromotionOptions& options = state_->options;
  Status s = Folder::Open(Folder::Kind::kTop, options.path, &folder_);
  if (s.ok()) {
    s = OpenLog();
  }
  const RaltOptions table = TableOptions(options, logger_);
  if (s.ok()) {
    s = Folder::Open(Folder::Kind::kTable, table.path, &table_folder_);
  }
  if (s.ok()) {
    s = Ralt::Open(table, &table_);
  }
  if (s.ok()) {
    state_->policy.OpenedTable(table_->Stats());
    open_.store(true, std::memory_order_release);
    opened_();
  } else {
    CloseTable();
  }
  return s;
}

void HotDirectory::CloseTable() {
  table_.reset();
  table_folder_.reset();
  folder_.reset();
}

// Opens LOG; that of the last time becomes LOG.old. LOG stays open when the folder is closed for a
// while.
Status HotDirectory::OpenLog() {
  Env* const env = Env::Default();
  const std::string path = state_->options.path + "/LOG";
  if (logger_ != nullptr) {
    return Status::OK();
  }
  Status s = env->FileExists(path);
  if (s.ok()) {
    s = env->RenameFile(path, path + ".old");
  } else if (s.IsNotFound()) {
    s = Status::OK();
  }
  if (s.ok()) {
    s = env->NewLogger(path, &logger_);
  }
  if (s.ok()) {
    logger_->SetInfoLogLevel(InfoLogLevel::WARN_LEVEL);  // it takes errors only else
  }
  return s;
}

Status HotDirectory::OpenStore() {
  EngineState* const state = state_;
  Store::Options options;
  options.path = state->options.path + "/store";
  options.budget = state->options.budget;
  options.open_files = state->options.store_open_files;
  options.direct_io = state->options.direct_io;
  options.policy = &state->policy;
  options.callbacks.alive = [state](const FileId& file, FileEntry* entry) {
    return state->catalog.Find(file, entry);
  };
  options.callbacks.dropped = [state](const Slice& key) { state->presence.Remove(HashOfKey(key)); };
  options.callbacks.found = [state](const FileId& file, const FileEntry& entry) {
    state->catalog.AddStored(file, entry);
  };
  options.logger = logger_;
  std::unique_ptr<Store> store;
  const Status s = Store::Open(options, &store);
  if (s.ok()) {
    state->policy.SetRoom(store->Bytes() + state->cache.Bytes(), store->low());
    store_.Set(std::move(store));
    serving_.store(true, std::memory_order_release);
  }
  return s;
}

// Closes the store, which has failed.
void HotDirectory::CloseStore() {
  serving_.store(false);
  const std::unique_ptr<Store> old = store_.Take();
  // Leaves a store that fails at once again alone for longer and longer.
  const bool again = SteadyMicros() - next_try_ < kLongestRetryInterval;
  retry_ = again ? std::min(2 * retry_, kLongestRetryInterval) : kRetryInterval;
  ROCKS_LOG_WARN(logger_.get(), "hot store: is opened anew: it %s",
                 old->IsDamaged() ? "is damaged" : "has stopped because of an error");
  old->Stop();
  past_.written += old->WrittenBytes();
  past_.dead += old->dropped().dead;
  past_.cold += old->dropped().cold;
  past_.forced += old->dropped().forced;
}

void HotDirectory::SetStatus(const Status& s) {
  std::lock_guard<std::mutex> lock(status_mutex_);
  if (logger_ != nullptr && s.ToString() != status_.ToString()) {
    ROCKS_LOG_WARN(logger_.get(), "%s: %s", s.ok() ? "open" : "no copies, tried again",
                   s.ToString().c_str());
  }
  status_ = s;
}

Status HotDirectory::GetStatus() const {
  std::lock_guard<std::mutex> lock(status_mutex_);
  return status_;
}

void HotDirectory::CountError(const char* operation, const Status& s) {
  state_->counters.Add(Counter::errors);
  if (state_->counters.Sum(Counter::errors) <= kMaxErrorsLogged) {
    ROCKS_LOG_WARN(logger_.get(), "hot store: %s: %s", operation, s.ToString().c_str());
  }
}

void HotDirectory::FlushLog() {
  if (logger_ != nullptr) {
    logger_->Flush();
  }
}

void HotDirectory::GetStats(HotPromotionStats* stats) const {
  stats->store_written_bytes = past_.written;
  stats->dropped_dead = past_.dead;
  stats->dropped_cold = past_.cold;
  stats->dropped_forced = past_.forced;
  const Guarded<Store>::Use store(store_);
  if (store) {
    stats->store_bytes = store->Bytes();
    stats->store_records = store->Records();
    stats->store_memory = store->MemoryBytes();
    stats->store_written_bytes += store->WrittenBytes();
    const Dropped& dropped = store->dropped();
    stats->dropped_dead += dropped.dead.load(std::memory_order_relaxed);
    stats->dropped_cold += dropped.cold.load(std::memory_order_relaxed);
    stats->dropped_forced += dropped.forced.load(std::memory_order_relaxed);
  }
  const RaltStats table = this->table() != nullptr ? this->table()->Stats() : RaltStats();
#define X(name, type, unit, description) stats->access_table[#name] = table.name;
  RALT_STATS(X)
#undef X
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
