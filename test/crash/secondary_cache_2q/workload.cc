// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/secondary_cache_2q/workload.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint32_t kBatch = 16;
constexpr uint32_t kScan = 20;
// Overwrites fall into a window of the key space that moves on by its length, up and down again, so
// that a compaction, which takes all between its first key and its last, makes a few of the files
// obsolete. A child that dies just then leaves blocks that nobody will ask for.
constexpr uint32_t kWindows = 40;
constexpr uint32_t kWindow = kKeys / kWindows;
constexpr uint32_t kWritesPerWindow = 800;

uint32_t WindowOfStep(uint32_t step) {
  const uint32_t n = step % (2 * kWindows - 2);
  return kWindow * (n < kWindows ? n : 2 * kWindows - 2 - n);
}

// Few keys get most reads, and the popular ones are spread over the key space.
uint32_t SkewedKey(std::mt19937_64* random) {
  const double u = std::uniform_real_distribution<double>(0, 1)(*random);
  const auto rank = static_cast<uint64_t>(u * u * u * kKeys);
  return static_cast<uint32_t>(rank * 7919 % kKeys);
}

}  // namespace

void Workload::Fail(const std::string& what) {
  fprintf(stderr, "%s\n", what.c_str());
  _exit(kWrongAnswer);
}

void Workload::Expect(uint32_t key, uint32_t oldest, const Status& status, const Slice& value) {
  const std::string wrong = oracle_->Check(key, oldest, status, value);
  if (!wrong.empty()) {
    Fail(wrong);
  }
  oracle_->shared().reads.fetch_add(1, std::memory_order_relaxed);
}

void Workload::Read(uint64_t seed) {
  Random random(seed);
  while (!Stopped()) {
    const uint64_t kind = random() % 100;
    if (kind < 90) {
      ReadOne(SkewedKey(&random));
    } else if (kind < 98) {
      std::vector<uint32_t> keys;
      for (uint32_t i = 0; i < kBatch; i++) {
        keys.push_back(SkewedKey(&random));
      }
      ReadMany(keys);
    } else {
      Scan(SkewedKey(&random));
    }
  }
}

void Workload::ReadOne(uint32_t key) {
  const uint32_t oldest = oracle_->Oldest(key);
  PinnableSlice value;
  Status s = db_->Get(ReadOptions(), db_->DefaultColumnFamily(), Oracle::Key(key), &value);
  Expect(key, oldest, s, value);
}

void Workload::ReadMany(const std::vector<uint32_t>& keys) {
  std::vector<std::string> texts;
  std::vector<Slice> slices;
  std::vector<uint32_t> oldest;
  for (uint32_t key : keys) {
    texts.push_back(Oracle::Key(key));
    oldest.push_back(oracle_->Oldest(key));
  }
  slices.assign(texts.begin(), texts.end());
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  ReadOptions options;
  options.async_io = true;
  db_->MultiGet(options, db_->DefaultColumnFamily(), keys.size(), slices.data(), values.data(),
                statuses.data());
  for (size_t i = 0; i < keys.size(); i++) {
    Expect(keys[i], oldest[i], statuses[i], values[i]);
  }
}

void Workload::Scan(uint32_t first) {
  const uint32_t last = std::min(first + kScan, kKeys);
  std::vector<uint32_t> oldest;
  for (uint32_t key = first; key < last; key++) {
    oldest.push_back(oracle_->Oldest(key));
  }
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  uint32_t next = first;  // the next key that the iterator has not passed
  for (it->Seek(Oracle::Key(first)); it->Valid(); it->Next()) {
    uint32_t key;
    if (!Oracle::ParseKey(it->key(), &key) || key < next) {
      Fail("a scan came to " + it->key().ToString() + " after " + Oracle::Key(next));
    }
    for (; next < std::min(key, last); next++) {
      Expect(next, oldest[next - first], Status::NotFound(), Slice());
    }
    if (key >= last) {
      break;
    }
    Expect(key, oldest[key - first], Status::OK(), it->value());
    next = key + 1;
  }
  if (!it->status().ok()) {
    Fail("scan: " + it->status().ToString());
  }
}

void Workload::WriteOne(uint32_t key) {
  KeyState& state = oracle_->shared().keys[key];
  const uint32_t version = state.acknowledged.load(std::memory_order_relaxed) + 1;
  state.issued.store(version, std::memory_order_release);
  Status s = Oracle::IsDeletion(key, version)
                 ? db_->Delete(WriteOptions(), Oracle::Key(key))
                 : db_->Put(WriteOptions(), Oracle::Key(key), Oracle::Value(key, version));
  if (!s.ok()) {
    Fail("write: " + s.ToString());
  }
  state.acknowledged.store(version, std::memory_order_release);
  oracle_->shared().writes.fetch_add(1, std::memory_order_relaxed);
}

void Workload::Write(uint64_t seed) {
  Random random(seed);
  while (!Stopped()) {
    if (oracle_->shared().quiet) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    const uint32_t window = WindowOfStep(oracle_->shared().step.fetch_add(1));
    for (uint32_t i = 0; i < kWritesPerWindow && !Stopped(); i++) {
      WriteOne(window + static_cast<uint32_t>(random() % kWindow));
      if (i % 4 == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    Status s;
    if (random() % 2 == 0) {
      s = db_->Flush(FlushOptions());
    } else {
      const std::string begin = Oracle::Key(window);
      const std::string end = Oracle::Key(window + kWindow);
      const Slice from = begin;
      const Slice to = end;
      s = db_->CompactRange(CompactRangeOptions(), &from, &to);
    }
    if (!s.ok()) {
      Fail("flush or compact: " + s.ToString());
    }
  }
}

}  // namespace rocktier
