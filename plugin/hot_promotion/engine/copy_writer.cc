// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/copy_writer.h"

#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "memory/arena.h"
#include "plugin/hot_promotion/engine/clock.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kRoomWait = 50000;  // microseconds
constexpr uint64_t kRoomPoll = 10000;

}  // namespace

CopyWriter::CopyWriter(EngineState* state, HotDirectory* directory, std::function<void()> wake)
    : state_(state), directory_(directory), wake_(std::move(wake)) {}

Status CopyWriter::Promote(Store* store, const std::vector<Store::Record>& records) {
  std::deque<std::string> kept;
  std::vector<Store::Record> all;
  FileId last{};
  bool alive = false;
  uint64_t count = 0;
  uint64_t bytes = 0;
  for (const Store::Record& record : records) {
    StoreKey record_key;
    if (!DecodeKey(record.key, &record_key)) {
      return Status::Corruption("hot_promotion: not a key of a record");
    }
    if (record_key.file != last) {
      last = record_key.file;
      FileEntry entry;
      alive = state_->catalog.Find(last, &entry);
      if (alive) {
        const std::string& key = kept.emplace_back(EncodeFileKey(record_key.way, last));
        all.push_back({key, kept.emplace_back(EncodeFileEntry(entry))});
      }
    }
    if (alive) {
      all.push_back(record);
      count++;
      bytes += record.key.size() + record.value.size();
    }
  }
  const Status s = Add(store, all);
  if (s.ok()) {
    state_->counters.Add(Counter::promoted, count);
    state_->counters.Add(Counter::promoted_bytes, bytes);
  }
  return s;
}

Status CopyWriter::Add(Store* store, const std::vector<Store::Record>& records) {
  const Status s = store->Add(records);
  if (s.ok()) {
    for (const Store::Record& record : records) {
      if (IsRecord(record.key)) {
        state_->presence.Add(HashOfKey(record.key));
      }
    }
  }
  return s;
}

// Adds records, and waits for room until the deadline; Busy if there is still none then.
Status CopyWriter::AddInTime(Store* store, const std::vector<Store::Record>& records,
                             uint64_t deadline) {
  Status s = Add(store, records);
  while (s.IsBusy() && SteadyMicros() < deadline) {
    wake_();
    Env::Default()->SleepForMicroseconds(kRoomPoll);
    s = Add(store, records);
  }
  return s;
}

void CopyWriter::Retain(const FileId& file, const NextRecord& next) {
  Counters* const counters = &state_->counters;
  Slice user_key;
  Slice value;
  bool more = next(&user_key, &value);
  const Guarded<Store>::Use store(directory_->store());
  FileEntry entry;
  if (!store || !state_->catalog.Find(file, &entry)) {
    for (; more; more = next(&user_key, &value)) {
      counters->Add(Counter::lost);
    }
    return;
  }
  const std::string name = EncodeFileKey(Way::kRetained, file);
  const std::string known = EncodeFileEntry(entry);
  const uint64_t deadline = SteadyMicros() + kRoomWait;
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
        state_->policy.MarkUsed(HashOfKey(record.key));  // there is time to answer reads
      }
      counters->Add(Counter::retained, count);
      counters->Add(Counter::retained_bytes, bytes);
    } else {
      counters->Add(Counter::lost, count);
      if (!s.IsBusy()) {
        directory_->CountError("write", s);
      }
    }
  }
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
