// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/engine.h"

#include <cstring>
#include <deque>

#include "logging/logging.h"
#include "memory/arena.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kSecond = 1000000;  // microseconds, as all times here
constexpr uint64_t kLogInterval = 600 * kSecond;
constexpr uint64_t kRoomWait = kSecond / 20;
constexpr uint64_t kRoomPoll = 10000;
constexpr uint64_t kMaxErrorsLogged = 100;

// The user key in a key of the store.
Slice UserKeyOf(const Slice& key) {
  return Slice(key.data() + kKeyHeaderSize, key.size() - kKeyHeaderSize);
}

}  // namespace

// Decides whether a record that was read is worth a copy. Free room serves nobody, so one read is
// enough while there is some; when room is needed, what was read but once goes first.
bool Engine::IsWanted(Space space, const Slice& user_key, uint64_t hash) {
  const bool before = seen_.Before(hash);
  return before || free_.load(std::memory_order_relaxed) || ralt_->IsHot(space, user_key);
}

void Engine::Offer(const Slice& key, uint64_t hash, Space space, const Slice& value, bool quick) {
  using Result = PromotionCache::Result;
  if (quick) {
    counters_.Add(Counter::quick);
    return;
  }
  offered_.fetch_add(1, std::memory_order_relaxed);
  if (!serving_.load(std::memory_order_acquire) || !IsWanted(space, UserKeyOf(key), hash)) {
    return;
  }
  const Result result = key.size() + value.size() <= max_record()
                            ? cache_.Put(key, hash, space, value)
                            : Result::kRefused;
  if (result == Result::kAdded) {
    presence_.Add(hash);
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

bool Engine::CacheIsDue() const { return cache_.ActiveBytes() >= flush_bytes_; }

// Writes the hot ones of the frozen records. If none are frozen, freezes the active ones first.
// What finds no room is tried again in the next round, unless this is the last one.
Status Engine::FlushCache(bool last) {
  Store* const store = store_.get();
  if (cache_.Bytes() == 0 || store == nullptr) {
    return Status::OK();
  }
  std::vector<const PromotionCache::Record*> frozen = cache_.Frozen();
  if (frozen.empty()) {
    cache_.Freeze();
    frozen = cache_.Frozen();
    flushed_ = 0;
  }
  const Status s = WriteHot(store, frozen, &flushed_);
  if (!s.IsBusy() || last) {
    counters_.Add(Counter::lost, frozen.size() - flushed_);
    for (const PromotionCache::Record* record : frozen) {
      presence_.Remove(HashOfKey(record->key));
    }
    cache_.Thaw();
    flushed_ = 0;
  }
  return s;
}

// Writes hot records from *position on, batch by batch; Busy at the first that finds no room.
Status Engine::WriteHot(Store* store, const std::vector<const PromotionCache::Record*>& frozen,
                        size_t* position) {
  while (*position < frozen.size()) {
    std::vector<Store::Record> records;
    uint64_t bytes = 0;
    uint64_t cooled = 0;
    size_t end = *position;
    // A record that was read twice takes the place of one that has not served of late. This goes no
    // faster than evictions make room.
    const bool roomy = store->Bytes() <= store->high();
    for (; end < frozen.size() && bytes < store->batch(); end++) {
      const PromotionCache::Record& record = *frozen[end];
      if (!roomy && record.hits == 0 && !ralt_->IsHot(record.space, UserKeyOf(record.key))) {
        cooled++;
        continue;
      }
      records.push_back({record.key, record.value});
      bytes += record.key.size() + record.value.size();
    }
    const Status s = Promote(store, records);
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

// Adds records, with what is known of their SSTs. Leaves out records of SSTs that are gone.
Status Engine::Promote(Store* store, const std::vector<Store::Record>& records) {
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
  return Add(store, all);
}

Status Engine::Add(Store* store, const std::vector<Store::Record>& records) {
  const Status s = store->Add(records);
  if (s.ok()) {
    for (const Store::Record& record : records) {
      presence_.Add(HashOfKey(record.key));
    }
  }
  return s;
}

// Adds records, and waits for room until the deadline; Busy if there is still none then.
Status Engine::AddInTime(Store* store, const std::vector<Store::Record>& records,
                         uint64_t deadline) {
  Status s = Add(store, records);
  while (s.IsBusy() && env_->NowMicros() < deadline) {
    Wake(&wanted_);
    env_->SleepForMicroseconds(kRoomPoll);
    s = Add(store, records);
  }
  return s;
}

void Engine::Retain(const FileId& file, const NextRecord& next) {
  Slice user_key;
  Slice value;
  bool more = next(&user_key, &value);
  const Guarded<Store>::Use store(store_);
  FileEntry entry;
  if (!store || !catalog_.Find(file, &entry)) {
    for (; more; more = next(&user_key, &value)) {
      counters_.Add(Counter::lost);
    }
    return;
  }
  const std::string name = EncodeFileKey(Way::kRetained, file);
  const std::string known = EncodeFileEntry(entry);
  const uint64_t deadline = env_->NowMicros() + kRoomWait;
  // The entry of the SST comes with the first records that are added, so that files of two SSTs do
  // not overlap.
  bool named = false;
  while (more) {
    Arena keys;
    std::vector<Store::Record> batch;
    if (!named) {
      batch.push_back({name, known});
    }
    uint64_t bytes = 0;
    uint64_t count = 0;
    for (; more && bytes + count * sizeof(Store::Record) < store->batch();
         more = next(&user_key, &value)) {
      const size_t size = kKeyHeaderSize + user_key.size();
      char* const key = keys.Allocate(size);
      EncodeKeyHeader(Way::kRetained, file, Tag::kRecord, key);
      memcpy(key + kKeyHeaderSize, user_key.data(), user_key.size());
      batch.push_back({Slice(key, size), value});
      bytes += size + value.size();
      count++;
    }
    const Status s = AddInTime(store.get(), batch, deadline);
    if (s.ok()) {
      named = true;
      for (const Store::Record& record : batch) {
        clock_bits_.Mark(HashOfKey(record.key));  // there is time to answer reads
      }
      counters_.Add(Counter::retained, count);
      counters_.Add(Counter::retained_bytes, bytes);
    } else {
      counters_.Add(Counter::lost, count);
      if (!s.IsBusy()) {
        CountError("write", s);
      }
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
