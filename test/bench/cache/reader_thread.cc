// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/cache/reader_thread.h"

#include <algorithm>
#include <chrono>

#include "rocksdb/perf_context.h"
#include "test/bench/common/records.h"
#include "test/bench/common/slow_device_fs.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::get_perf_context;
using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

namespace {

// Adds what the calling thread's perf counters move by during the scope to a tally.
class BlockCounter {
 public:
  explicit BlockCounter(Tally* tally)
      : tally_(tally),
        hits_(get_perf_context()->block_cache_hit_count),
        secondary_hits_(get_perf_context()->secondary_cache_hit_count),
        reads_(get_perf_context()->block_read_count) {}
  ~BlockCounter() {
    tally_->cache_hits += get_perf_context()->block_cache_hit_count - hits_;
    tally_->secondary_hits += get_perf_context()->secondary_cache_hit_count - secondary_hits_;
    tally_->block_reads += get_perf_context()->block_read_count - reads_;
  }

 private:
  Tally* const tally_;
  const uint64_t hits_;
  const uint64_t secondary_hits_;
  const uint64_t reads_;
};

}  // namespace

void Tally::Add(const Tally& other) {
  ops += other.ops;
  cache_hits += other.cache_hits;
  secondary_hits += other.secondary_hits;
  block_reads += other.block_reads;
  latency_ns.insert(latency_ns.end(), other.latency_ns.begin(), other.latency_ns.end());
}

ReaderThread::ReaderThread(const Run& run, int number, uint64_t seed)
    : run_(run),
      number_(static_cast<uint64_t>(number)),
      random_(Random(seed).Next() + static_cast<uint64_t>(number)) {}

Status ReaderThread::Work(uint64_t ops, Tally* tally) {
  const ReaderScope scope(Reader::kPoint);
  const uint64_t end = op_ + ops;
  while (op_ < end) {
    Status s = DoOp(tally);
    if (s.ok() && run_.workload.scan_period > 0) s = MaybeScan();
    if (!s.ok()) return s;
  }
  tally->ops += ops;
  return Status::OK();
}

Status ReaderThread::DoOp(Tally* tally) {
  if (run_.workload.overwrite_share > 0 && random_.NextDouble() < run_.workload.overwrite_share) {
    const uint64_t key = NextKey();
    return run_.workload.writes ? Overwrite(key) : Status::OK();
  }
  const BlockCounter counter(tally);
  const auto start = std::chrono::steady_clock::now();
  Status s = run_.batch > 1 ? ReadBatch() : ReadOne(NextKey());
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  tally->latency_ns.push_back(static_cast<uint32_t>(std::min<int64_t>(took.count(), UINT32_MAX)));
  return s;
}

uint64_t ReaderThread::NextKey() {
  const uint64_t op_of_run = op_++ * static_cast<uint64_t>(run_.threads) + number_;
  return run_.keys->Next(op_of_run, &random_);
}

uint32_t ReaderThread::VersionOf(uint64_t key) const {
  return run_.versions != nullptr ? run_.versions->Get(key) : 0;
}

Status ReaderThread::Verify(const Status& s, uint64_t key, uint32_t oldest,
                            const Slice& value) const {
  if (!s.ok()) return s;
  // A version is noted after it was written, so a reader may be one ahead.
  const uint32_t newest = run_.versions != nullptr ? run_.versions->Get(key) + 1 : 0;
  if (ValueIsRight(value, key, oldest, newest, run_.value_size)) return Status::OK();
  return Status::Corruption("wrong value for key", std::to_string(key));
}

Status ReaderThread::ReadOne(uint64_t key) {
  const uint32_t oldest = VersionOf(key);
  MakeKey(key, &key_text_);
  PinnableSlice value;
  Status s = run_.db->Get(ReadOptions(), run_.db->DefaultColumnFamily(), Slice(key_text_), &value);
  return Verify(s, key, oldest, value);
}

Status ReaderThread::ReadBatch() {
  const auto count = static_cast<size_t>(run_.batch);
  std::vector<uint64_t> keys(count);
  std::vector<uint32_t> oldest(count);
  std::vector<std::string> texts(count);
  std::vector<Slice> slices(count);
  std::vector<PinnableSlice> values(count);
  std::vector<Status> statuses(count);
  for (size_t i = 0; i < count; ++i) {
    keys[i] = NextKey();
    oldest[i] = VersionOf(keys[i]);
    MakeKey(keys[i], &texts[i]);
    slices[i] = texts[i];
  }
  run_.db->MultiGet(ReadOptions(), run_.db->DefaultColumnFamily(), count, slices.data(),
                    values.data(), statuses.data());
  Status result;
  for (size_t i = 0; i < count; ++i) {
    Status s = Verify(statuses[i], keys[i], oldest[i], values[i]);
    if (result.ok()) result = s;
  }
  return result;
}

Status ReaderThread::Overwrite(uint64_t key) {
  const std::lock_guard<std::mutex> lock(run_.versions->LockOf(key));
  const uint32_t version = run_.versions->Get(key) + 1;
  MakeKey(key, &key_text_);
  MakeValue(key, version, run_.value_size, &new_value_);
  Status s = run_.db->Put(WriteOptions(), key_text_, new_value_);
  if (s.ok()) run_.versions->Set(key, version);
  return s;
}

// A full scan is one scan per thread over the thread's share of the keys. It advances by a fixed
// number of keys per operation, so that the mix of scan and point reads does not depend on how fast
// the machine happens to be.
Status ReaderThread::MaybeScan() {
  const auto threads = static_cast<uint64_t>(run_.threads);
  const uint64_t period = run_.workload.scan_period / threads;
  const uint64_t length = run_.workload.scan_length / threads;
  const uint64_t at = op_ % period;
  if (at == 0) {
    scan_.reset(run_.db->NewIterator(ReadOptions()));
    scan_key_ = run_.num_keys * number_ / threads;
    MakeKey(scan_key_, &key_text_);
    const ReaderScope scope(Reader::kScan);
    scan_->Seek(key_text_);
  }
  if (!scan_) return Status::OK();
  const uint64_t share = run_.num_keys / threads + 1;
  return ScanSome((share + length - 1) / length);
}

Status ReaderThread::ScanSome(uint64_t count) {
  const ReaderScope scope(Reader::kScan);
  const uint64_t end = run_.num_keys * (number_ + 1) / static_cast<uint64_t>(run_.threads);
  for (uint64_t i = 0; i < count && scan_key_ < end; ++i, ++scan_key_) {
    if (!scan_->Valid()) {
      return scan_->status().ok() ? Status::Corruption("scan ends early") : scan_->status();
    }
    Status s = Verify(Status::OK(), scan_key_, VersionOf(scan_key_), scan_->value());
    if (!s.ok()) return s;
    scan_->Next();
  }
  if (scan_key_ < end) return Status::OK();
  Status s = scan_->status();
  scan_.reset();
  return s;
}

}  // namespace rocktier_bench
