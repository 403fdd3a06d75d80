// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine.h"

#include <algorithm>
#include <deque>

#include "logging/logging.h"
#include "plugin/hot_promotion/registry.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kSecond = 1000000;  // microseconds, as all times here
constexpr uint64_t kFlushInterval = 10 * kSecond;
constexpr uint64_t kReconcileInterval = 30 * kSecond;
constexpr uint64_t kLogInterval = 600 * kSecond;
constexpr uint64_t kSampleInterval = kSecond / 10;
constexpr uint64_t kRoomWait = kSecond / 20;
constexpr uint64_t kRoomPoll = 10000;
// Of so many accesses in a second all are recorded: enough to tell what is hot while it matters; what is fast is not made
// slow by it. So many while the hot set becomes known: as long as each eviction of the access table finds so much more of what
// may be hot to be stable.
constexpr double kAccessesPerSecond = 8 << 10;
constexpr double kAccessesToLearn = 32 << 10;
constexpr double kLearnt = 1.0 / 64;
// And so many reads of slow storage are looked at: it does no more if it is slow. To find them among those that memory
// answers, more are looked at, at most so many times as many.
constexpr double kSlowReadsPerSecond = 8 << 10;
constexpr double kLooksForOne = 8;
constexpr uint64_t kHintsShare = 128;  // of the budget: memory
constexpr uint64_t kSeenShare = 128;   // the same
constexpr uint64_t kUsedShare = 1024;  // the same
// The hot set's largest size, of the budget: what the store has room for without evictions. HotRAP's is a part of the fast
// storage, which has its other levels too.
constexpr double kHotShare = 0.85;
// Of it, what may be there that was read but once of late: HotRAP's tenth takes twice as long to come to know a hot set
// that is updated, of which few reads come here.
constexpr double kUnstableShare = 0.3;
// Of what is left after evictions: with less, what is read once is copied too, until there is as much again. Not more:
// where SSTs with retained records come and go there is room for a moment only.
constexpr uint64_t kFreeTenths = 5;
constexpr uint64_t kToldAtOnce = 32 << 20;  // bytes of the store
constexpr uint64_t kMaxErrorsLogged = 100;
constexpr auto kRoundInterval = std::chrono::seconds(1);
constexpr auto kBusyInterval = std::chrono::milliseconds(20);

// After the whole store was compacted so many times and there still is no room, hot records are dropped too. A turn is
// 32 evictions.
constexpr uint64_t kEvictionsBeforeForce = 32;
constexpr int kEvictionsPerRound = 8;

// Of a key of the store.
Slice UserKeyOf(const Slice& key) {
  return Slice(key.data() + kKeyHeaderSize, key.size() - kKeyHeaderSize);
}

// Never destroyed: objects that are closed while the process ends need it.
Registry<Engine>* Engines() {
  static auto* engines = new Registry<Engine>();
  return engines;
}

}  // namespace

std::shared_ptr<Engine> Engine::Find(const std::string& path) { return Engines()->Find(path); }

Status Engine::Get(const HotPromotionOptions& options, std::shared_ptr<Engine>* result) {
  return Engines()->Get(
      options.path,
      [&](std::unique_ptr<Engine>* opened) {
        std::unique_ptr<Engine> engine(new Engine(options));
        Status s = engine->Open();
        if (s.ok()) {
          *opened = std::move(engine);
        }
        return s;
      },
      result);
}

Engine::Engine(const HotPromotionOptions& options)
    : options_(options),
      env_(Env::Default()),
      cache_(options.promotion_cache),
      seen_(options.budget / kSeenShare),
      used_(options.budget / kUsedShare),
      hints_((options.budget + options.promotion_cache) / kHintsShare) {}

Engine::~Engine() {
  {
    std::lock_guard<std::mutex> lock(wake_mutex_);
    stop_ = true;
    wake_.notify_all();
  }
  if (store_ != nullptr) {
    store_->Stop();
  }
  if (thread_.joinable()) {
    thread_.join();
    std::lock_guard<std::mutex> lock(round_mutex_);
    const Status s = FlushCache(/*last=*/true);
    if (!s.ok() && !s.IsBusy()) {
      CountError("write", s);
    }
  }
  store_.reset();
  ralt_.reset();
  if (lock_ != nullptr) {
    const Status s = env_->UnlockFile(lock_);
    if (!s.ok()) {
      ROCKS_LOG_WARN(logger_.get(), "hot_promotion: %s", s.ToString().c_str());
    }
  }
}

Status Engine::Open() {
  Status s = env_->CreateDirIfMissing(options_.path);
  if (!s.ok()) {
    return s;
  }
  s = env_->LockFile(options_.path + "/LOCK", &lock_);
  if (!s.ok()) {
    return Status::Busy("HotPromotionTable: path=" + options_.path, s.ToString());
  }
  s = env_->NewLogger(options_.path + "/LOG", &logger_);
  if (s.ok()) {
    s = OpenParts();
  }
  if (s.ok()) {
    last_flush_ = env_->NowMicros();
    last_sample_ = last_flush_;
    next_log_ = last_flush_ + kLogInterval;
    thread_ = std::thread([this] { Run(); });
  }
  return s;
}

Status Engine::OpenParts() {
  RaltOptions ralt;
  ralt.path = options_.path + "/ralt";
  ralt.fast_bytes = options_.budget;
  ralt.hot_max_ratio = kHotShare;
  ralt.unstable_ratio = kUnstableShare;
  ralt.decay_ratio = kHotShare;
  ralt.max_bytes = options_.ralt_bytes;
  ralt.buffer_bytes = options_.ralt_buffer_bytes;
  ralt.logger = logger_;
  Status s = Ralt::Open(ralt, &ralt_);
  if (!s.ok()) {
    return s;
  }
  Store::Options store;
  store.path = options_.path + "/store";
  store.budget = options_.budget;
  store.direct_io = options_.direct_io;
  store.judge.alive = [this](const FileId& file, FileEntry* entry) {
    return catalog_.Find(file, entry);
  };
  store.judge.hot = [this](uint64_t space, const Slice& user_key) {
    return !warm_.load(std::memory_order_relaxed) || ralt_->IsHot(space, user_key);
  };
  store.judge.used = [this](const Slice& key) { return used_.Take(HashOfKey(key)); };
  store.judge.dropped = [this](const Slice& key) { hints_.Remove(HashOfKey(key)); };
  store.found = [this](const FileId& file, const FileEntry& entry) {
    catalog_.AddStored(file, entry);
  };
  store.logger = logger_;
  warm_ = ralt_->Stats().hot_keys > 0;
  s = Store::Open(store, &store_);
  if (s.ok()) {
    LookForRoom();
  }
  return s;
}

void Engine::LookForRoom() {
  const uint64_t bytes = store_->Bytes() + cache_.Bytes();
  const uint64_t low = store_->low();
  free_.store(bytes < (free_ ? low : low / 10 * kFreeTenths), std::memory_order_relaxed);
}

// What is free serves nobody; when room is needed, what was read but once goes first.
bool Engine::IsWanted(Space space, const Slice& user_key, uint64_t hash) {
  const bool before = seen_.Before(hash);
  return before || free_.load(std::memory_order_relaxed) || ralt_->IsHot(space, user_key);
}

void Engine::Offer(const Slice& key, uint64_t hash, Space space, const Slice& value,
                   uint64_t nanos) {
  using Result = PromotionCache::Result;
  if (nanos / 1000 < options_.slow_read_micros) {
    counters_.Add(Counter::quick);
    return;
  }
  offered_.fetch_add(1, std::memory_order_relaxed);
  if (!IsWanted(space, UserKeyOf(key), hash)) {
    return;
  }
  const Result result = key.size() + value.size() <= max_record()
                            ? cache_.Put(key, hash, space, value)
                            : Result::kRefused;
  if (result == Result::kAdded) {
    hints_.Add(hash);
  }
  counters_.Add(result == Result::kRefused ? Counter::refused : Counter::captured);
  if (CacheIsDue()) {
    Wake(&wanted_);
  }
}

void Engine::Wake(bool* why) {
  std::lock_guard<std::mutex> lock(wake_mutex_);
  if (!*why) {
    *why = true;
    wake_.notify_all();
  }
}

void Engine::NoteObsolete(const FileId& file) {
  if (catalog_.NoteObsolete(file)) {
    Wake(&obsolete_);
  }
}

uint64_t Engine::FlushBytes() const {
  return std::min(options_.promotion_cache / 4, store_->batch());
}

bool Engine::CacheIsDue() const { return cache_.ActiveBytes() >= FlushBytes(); }

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
    }
    lock.lock();
    wanted_ |= more;
    if (s.IsBusy()) {  // compactions of the store need time
      wake_.wait_for(lock, kBusyInterval, [this] { return stop_; });
    }
  }
}

Status Engine::Round(bool flush) {
  const uint64_t now = env_->NowMicros();
  Warm();
  Sample(now);
  TellHints();
  LookForRoom();
  // All of them the first time at once: SSTs may have gone since the store was closed.
  const bool all = flush || now - last_reconcile_ > kReconcileInterval;
  if (all) {
    last_reconcile_ = now;
  }
  Reconcile(all);
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

// An access table that has been lost knows of no hot records: until it has come to know some, none is cold.
void Engine::Warm() {
  if (!warm_.load(std::memory_order_relaxed)) {
    const RaltStats stats = ralt_->Stats();
    warm_ = stats.evictions > 0 || stats.hot_bytes >= options_.budget / 10;
  }
}

// Whether the hot set becomes known.
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
  // Of those that memory answers there may be many more.
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

// Tells hints_ of all copies, a part of the store at a time, after it was opened and when there are too many marks of
// copies that are gone.
void Engine::TellHints() {
  const uint64_t written = store_->WrittenBytes();
  if (told_ && hints_.Crowded() && store_->Records() < hints_.Capacity() &&
      written - written_when_told_ > options_.budget / 4) {
    told_ = false;
  }
  if (told_ || cannot_tell_) {
    return;
  }
  if (!telling_) {
    BeginToTell();
  }
  const Status s = store_->ForEachRecord(
      kToldAtOnce,
      [this](const Slice& key) {
        const uint64_t hash = HashOfKey(key);
        hints_.Add(hash);
        if (!told_once_) {
          used_.Mark(hash);  // what did before the store was closed is not known
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

// What is added meanwhile is told of by those who add it.
void Engine::BeginToTell() {
  telling_ = true;
  written_when_told_ = store_->WrittenBytes();
  next_to_tell_.clear();
  hints_.Clear();
  cache_.ForEach([this](uint64_t hash) { hints_.Add(hash); });
}

Status Engine::Settle() {
  Status s = ralt_->Flush();
  ralt_->Settle();
  std::lock_guard<std::mutex> lock(round_mutex_);
  const Status written = Round(/*flush=*/true);
  if (s.ok()) {
    s = written;
  }
  return s.ok() ? FlushCache(/*last=*/false) : s;
}

// Writes the hot ones of the frozen records, and freezes the active ones first if there are none. What finds no room is
// tried again in the next round, but for the last one.
Status Engine::FlushCache(bool last) {
  if (cache_.Bytes() == 0) {
    return Status::OK();
  }
  std::vector<const PromotionCache::Record*> frozen = cache_.Frozen();
  if (frozen.empty()) {
    cache_.Freeze();
    frozen = cache_.Frozen();
    flushed_ = 0;
  }
  const Status s = WriteHot(frozen, &flushed_);
  if (!s.IsBusy() || last) {
    counters_.Add(Counter::lost, frozen.size() - flushed_);
    for (const PromotionCache::Record* record : frozen) {
      hints_.Remove(HashOfKey(record->key));
    }
    cache_.Thaw();
    flushed_ = 0;
  }
  return s;
}

// Writes hot records from *position on, batch by batch; Busy at the first that finds no room.
Status Engine::WriteHot(const std::vector<const PromotionCache::Record*>& frozen,
                        size_t* position) {
  while (*position < frozen.size()) {
    std::vector<Store::Record> records;
    uint64_t bytes = 0;
    uint64_t cooled = 0;
    size_t end = *position;
    // What was read twice takes the place of what has not served of late, no faster than that makes room.
    const bool roomy = store_->Bytes() <= store_->high();
    for (; end < frozen.size() && bytes < store_->batch(); end++) {
      const PromotionCache::Record& record = *frozen[end];
      if (!roomy && record.hits == 0 && !ralt_->IsHot(record.space, UserKeyOf(record.key))) {
        cooled++;
        continue;
      }
      records.push_back({record.key, record.value});
      bytes += record.key.size() + record.value.size();
    }
    const Status s = Promote(records);
    if (!s.ok()) {
      return s;
    }
    *position = end;
    counters_.Add(Counter::cooled, cooled);
    counters_.Add(Counter::promoted, records.size());
    counters_.Add(Counter::promoted_bytes, bytes);
  }
  return Status::OK();
}

// With what is known of their SSTs. Records of SSTs that are gone are left out.
Status Engine::Promote(const std::vector<Store::Record>& records) {
  std::deque<std::string> kept;
  std::vector<Store::Record> all;
  FileId last{};
  bool alive = false;
  for (const Store::Record& record : records) {
    StoreKey record_key;
    if (!DecodeKey(record.key, &record_key)) {
      return Status::Corruption("hot_promotion: not a key of a record");
    }
    if (record_key.file != last) {
      last = record_key.file;
      FileEntry entry;
      alive = catalog_.Find(last, &entry);
      if (alive) {
        const std::string& key = kept.emplace_back(EncodeFileKey(record_key.way, last));
        all.push_back({key, kept.emplace_back(EncodeFileEntry(entry))});
      }
    }
    if (alive) {
      all.push_back(record);
    }
  }
  return Add(all);
}

Status Engine::Add(const std::vector<Store::Record>& records) {
  const Status s = store_->Add(records);
  if (s.ok()) {
    for (const Store::Record& record : records) {
      hints_.Add(HashOfKey(record.key));
    }
  }
  return s;
}

// Busy if there is still no room at the deadline.
Status Engine::AddInTime(const std::vector<Store::Record>& records, uint64_t deadline) {
  Status s = Add(records);
  while (s.IsBusy() && env_->NowMicros() < deadline) {
    Wake(&wanted_);
    env_->SleepForMicroseconds(kRoomPoll);
    s = Add(records);
  }
  return s;
}

void Engine::Retain(const FileId& file, const std::vector<Store::Record>& records) {
  FileEntry entry;
  if (!catalog_.Find(file, &entry)) {
    counters_.Add(Counter::lost, records.size());
    return;
  }
  const std::string name = EncodeFileKey(Way::kRetained, file);
  const std::string known = EncodeFileEntry(entry);
  const uint64_t deadline = env_->NowMicros() + kRoomWait;
  // What is known of the SST comes with the first records that are added; their files do not overlap then.
  bool named = false;
  for (size_t next = 0; next < records.size();) {
    std::vector<Store::Record> batch;
    if (!named) {
      batch.push_back({name, known});
    }
    uint64_t bytes = 0;
    const size_t first = next;
    for (; next < records.size() && bytes < store_->batch(); next++) {
      batch.push_back(records[next]);
      bytes += records[next].key.size() + records[next].value.size();
    }
    const Status s = AddInTime(batch, deadline);
    if (s.ok()) {
      named = true;
      for (const Store::Record& record : batch) {
        used_.Mark(HashOfKey(record.key));  // there is time to answer reads
      }
      counters_.Add(Counter::retained, next - first);
      counters_.Add(Counter::retained_bytes, bytes);
    } else {
      counters_.Add(Counter::lost, next - first);
      if (!s.IsBusy()) {
        CountError("write", s);
      }
    }
  }
}

void Engine::Reconcile(bool all) {
  for (const FileId& file : catalog_.TakeDead(all)) {
    const Status s = store_->Drop(file);
    if (!s.ok()) {
      CountError("drop", s);
    }
  }
}

void Engine::MakeRoom() {
  if (store_->Bytes() <= store_->high()) {
    evictions_in_a_row_ = 0;
    return;
  }
  for (int i = 0; i < kEvictionsPerRound && store_->Bytes() > store_->low(); i++) {
    const bool forced =
        evictions_in_a_row_++ >= kEvictionsBeforeForce && store_->Bytes() > store_->high();
    const Status s = store_->Evict(forced);
    if (!s.ok()) {
      if (!s.IsManualCompactionPaused() && !s.IsIncomplete()) {
        CountError("evict", s);
      }
      return;
    }
  }
}

void Engine::CountError(const char* what, const Status& s) {
  counters_.Add(Counter::errors);
  if (counters_.Sum(Counter::errors) <= kMaxErrorsLogged) {
    ROCKS_LOG_WARN(logger_.get(), "hot store: %s: %s", what, s.ToString().c_str());
  }
}

void Engine::MaybeLog(Logger* logger) {
  const uint64_t now = env_->NowMicros();
  uint64_t due = next_log_.load(std::memory_order_relaxed);
  if (now >= due && next_log_.compare_exchange_strong(due, now + kLogInterval)) {
    ROCKS_LOG_INFO(logger, "hot_promotion: %s", Stats().ToJson().c_str());
  }
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
