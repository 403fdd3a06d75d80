// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// How an engine is opened, closed, and opened again; see folder.h for what may be deleted then.

#include <algorithm>

#include "logging/logging.h"
#include "plugin/hot_promotion/engine/engine.h"
#include "plugin/hot_promotion/engine/registry.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kSecond = 1000000;  // microseconds
constexpr uint64_t kRetryInterval = 3 * kSecond;
constexpr uint64_t kLongestRetryInterval = 300 * kSecond;
constexpr uint64_t kLogInterval = 600 * kSecond;
constexpr uint64_t kPresenceShare = 128;  // of the budget: memory
constexpr uint64_t kSeenShare = 128;      // the same
constexpr uint64_t kClockShare = 1024;    // the same
// The hot set's largest size, as a part of the budget: what the store has room for without
// evictions. In HotRAP it is a part of the fast storage, which has its other levels too.
constexpr double kHotShare = 0.85;
// The part of the hot set for what was read but once of late. HotRAP's tenth takes twice as long to
// come to know a hot set that is updated, of which few reads come here.
constexpr double kUnstableShare = 0.3;

// Never destroyed: objects that are closed while the process ends need it.
Registry<Engine>* Engines() {
  static auto* engines = new Registry<Engine>();
  return engines;
}

// The name of a folder in the registry: its id if it is there, else its path.
std::string KeyOf(const std::string& path) {
  const std::string id = Folder::IdOf(path);
  return id.empty() ? path : id;
}

}  // namespace

std::shared_ptr<Engine> Engine::Find(const std::string& path) {
  return Engines()->Find(KeyOf(path));
}

std::shared_ptr<Engine> Engine::Get(const HotPromotionOptions& options) {
  Folder::Make(options.path);
  return Engines()->Get(KeyOf(options.path), [&] {
    std::unique_ptr<Engine> engine(new Engine(options));
    engine->Open();
    return engine;
  });
}

Engine::Engine(const HotPromotionOptions& options)
    : options_(options),
      env_(Env::Default()),
      flush_bytes_(std::min(options.promotion_cache / 4, Store::BatchOf(options.budget))),
      cache_(options.promotion_cache),
      seen_(options.budget / kSeenShare),
      clock_bits_(options.budget / kClockShare),
      presence_((options.budget + options.promotion_cache) / kPresenceShare) {}

void Engine::Open() {
  last_flush_ = env_->NowMicros();
  last_sample_ = last_flush_;
  next_log_ = last_flush_ + kLogInterval;
  retry_ = kRetryInterval;
  {
    std::lock_guard<std::mutex> lock(round_mutex_);
    Try();
  }
  thread_ = std::thread([this] { Run(); });
}

Engine::~Engine() {
  {
    std::lock_guard<std::mutex> lock(wake_mutex_);
    stop_ = true;
    stopping_ = true;
    wake_.notify_all();
  }
  {
    const Guarded<Store>::Use store(store_);
    if (store) {
      store->Stop();
    }
  }
  thread_.join();
  std::lock_guard<std::mutex> lock(round_mutex_);
  const Status s = FlushCache(/*last=*/true);
  if (!s.ok() && !s.IsBusy()) {
    CountError("write", s);
  }
  store_.Take().reset();
  CloseTable();
}

// Opens what is not open.
void Engine::Try() {
  next_try_ = env_->NowMicros() + retry_;
  Status s;
  if (!open_.load(std::memory_order_relaxed)) {
    s = OpenTable();
  }
  if (s.ok() && store_.get() == nullptr) {
    s = OpenStore();
  }
  SetStatus(s);
}

Status Engine::OpenTable() {
  Status s = Folder::Open(Folder::Kind::kTop, options_.path, &folder_);
  if (s.ok()) {
    s = OpenLog();
  }
  RaltOptions ralt;
  ralt.path = options_.path + "/ralt";
  ralt.fast_bytes = options_.budget;
  ralt.hot_max_ratio = kHotShare;
  ralt.unstable_ratio = kUnstableShare;
  ralt.decay_ratio = kHotShare;
  ralt.max_bytes = options_.ralt_bytes;
  ralt.buffer_bytes = options_.ralt_buffer_bytes;
  ralt.logger = logger_;
  if (s.ok()) {
    s = Folder::Open(Folder::Kind::kTable, ralt.path, &table_folder_);
  }
  if (s.ok()) {
    s = Ralt::Open(ralt, &ralt_);
  }
  if (s.ok()) {
    warm_ = ralt_->Stats().hot_keys > 0;
    open_.store(true, std::memory_order_release);
  } else {
    CloseTable();
  }
  return s;
}

void Engine::CloseTable() {
  ralt_.reset();
  table_folder_.reset();
  folder_.reset();
}

// Opens LOG; that of the last time becomes LOG.old. LOG stays open when the folder is closed for a
// while.
Status Engine::OpenLog() {
  const std::string path = options_.path + "/LOG";
  if (logger_ != nullptr) {
    return Status::OK();
  }
  Status s = env_->FileExists(path);
  if (s.ok()) {
    s = env_->RenameFile(path, path + ".old");
  } else if (s.IsNotFound()) {
    s = Status::OK();
  }
  if (s.ok()) {
    s = env_->NewLogger(path, &logger_);
  }
  if (s.ok()) {
    logger_->SetInfoLogLevel(InfoLogLevel::WARN_LEVEL);  // it takes errors only else
  }
  return s;
}

Status Engine::OpenStore() {
  Store::Options options;
  options.path = options_.path + "/store";
  options.budget = options_.budget;
  options.open_files = options_.store_open_files;
  options.direct_io = options_.direct_io;
  options.judge.alive = [this](const FileId& file, FileEntry* entry) {
    return catalog_.Find(file, entry);
  };
  options.judge.hot = [this](uint64_t space, const Slice& user_key) {
    return !warm_.load(std::memory_order_relaxed) || ralt_->IsHot(space, user_key);
  };
  options.judge.used = [this](const Slice& key) { return clock_bits_.Take(HashOfKey(key)); };
  options.judge.dropped = [this](const Slice& key) { presence_.Remove(HashOfKey(key)); };
  options.found = [this](const FileId& file, const FileEntry& entry) {
    catalog_.AddStored(file, entry);
  };
  options.logger = logger_;
  std::unique_ptr<Store> store;
  const Status s = Store::Open(options, &store);
  if (s.ok()) {
    ForgetTold();
    reconciles_ = true;  // SSTs may have gone since it was closed
    store_.Set(std::move(store));
    LookForRoom();
    serving_.store(true, std::memory_order_release);
  }
  return s;
}

// Closes the store, which has failed. Try() opens it again: empty, if it is damaged.
void Engine::ReplaceStore() {
  serving_.store(false);
  const std::unique_ptr<Store> old = store_.Take();
  // A store that fails at once again is left alone for longer and longer.
  const bool again = env_->NowMicros() - next_try_ < kLongestRetryInterval;
  retry_ = again ? std::min(2 * retry_, kLongestRetryInterval) : kRetryInterval;
  ROCKS_LOG_WARN(logger_.get(), "hot store: is opened anew: it %s",
                 old->IsDamaged() ? "is damaged" : "has stopped because of an error");
  old->Stop();
  past_.written += old->WrittenBytes();
  past_.dead += old->dropped().dead;
  past_.cold += old->dropped().cold;
  past_.forced += old->dropped().forced;
}

void Engine::SetStatus(const Status& s) {
  std::lock_guard<std::mutex> lock(status_mutex_);
  if (logger_ != nullptr && s.ToString() != status_.ToString()) {
    ROCKS_LOG_WARN(logger_.get(), "%s: %s", s.ok() ? "open" : "no copies, tried again",
                   s.ToString().c_str());
  }
  status_ = s;
}

Status Engine::GetStatus() const {
  std::lock_guard<std::mutex> lock(status_mutex_);
  return status_;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
