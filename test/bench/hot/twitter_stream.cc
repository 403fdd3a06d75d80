// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/hot/twitter_stream.h"

#include <algorithm>

namespace rocktier_bench {

namespace {

constexpr uint64_t kWindows = 20;  // a database has: one is 5%
constexpr int kTries = 256;
constexpr double kReadLately = 0.5;  // of the updates
// By the reads of a window that are hot: that many records they go to in the beginning.
constexpr double kDifferent = 1.0 / 3;
constexpr uint64_t kMostWaiting = 1000;
constexpr uint64_t kWaitingPart = 50;

}  // namespace

TwitterStream::TwitterStream(const TwitterCluster& cluster, uint64_t records, uint64_t seed)
    : cluster_(cluster),
      window_(static_cast<uint32_t>(records / kWindows)),
      least_deleted_(std::min(kMostWaiting, records / kWaitingPart)),
      random_(seed),
      records_(records),
      written_(static_cast<uint32_t>(records)),
      read_(window_) {
  for (uint32_t i = 0; i < written_; i++) {
    records_[i].written = i + 1;
    if (i + window_ >= written_) writes_.push_back({i, i + 1});
  }
  const uint32_t first_fresh = written_ - window_;
  ImagineReads(cluster.sunk, 0, first_fresh - 1, &sunk_reads_);
  ImagineReads(1 - cluster.sunk, first_fresh, window_, &fresh_reads_);
}

void TwitterStream::ImagineReads(double share, uint32_t first, uint32_t records, Moments* reads) {
  const auto count = static_cast<uint64_t>(share * cluster_.hot * window_ * kDifferent);
  for (uint64_t i = 0; i < count; i++) {
    const auto record = static_cast<uint32_t>(first + random_.Uniform(records));
    const auto time = static_cast<uint32_t>(1 + i * window_ / count);
    records_[record].read = time;
    reads->push_back({record, time});
  }
}

TwitterStream::Operation TwitterStream::Next() {
  counts_.operations++;
  const double which = random_.NextDouble();
  if (which < cluster_.puts) return {Kind::kPut, Put()};
  // Fewer than a half of the records are deleted, so that one that is there is found soon.
  if (which < cluster_.puts + cluster_.deletes && 2 * deleted_.size() < records_.size()) {
    return {Kind::kDelete, Delete()};
  }
  return {Kind::kGet, Get()};
}

uint32_t TwitterStream::Get() {
  const double absent = cluster_.deletes / (1 - cluster_.puts - cluster_.deletes);
  if (!deleted_.empty() && random_.NextDouble() < absent) {
    counts_.absent++;
    return deleted_[random_.Uniform(deleted_.size())];
  }
  const uint32_t record = ChooseRead();
  CountFind(record);
  records_[record].read = ++read_;
  (IsSunk(record) ? sunk_reads_ : fresh_reads_).push_back({record, read_});
  DropBefore(read_ - window_ + 1, &sunk_reads_);
  DropBefore(read_ - window_ + 1, &fresh_reads_);
  return record;
}

uint32_t TwitterStream::Put() {
  const bool is_insert = random_.NextDouble() < cluster_.inserts;
  const uint32_t record = is_insert ? ChooseInsert() : ChooseUpdate();
  counts_.puts++;
  counts_.inserts += is_insert ? 1 : 0;
  records_[record].written = ++written_;
  writes_.push_back({record, written_});
  DropBefore(written_ - window_, &writes_);
  return record;
}

uint32_t TwitterStream::Delete() {
  const uint32_t record = AnyRecord();
  counts_.deletes++;
  records_[record] = Record();
  deleted_.push_back(record);
  return record;
}

uint32_t TwitterStream::ChooseRead() {
  const bool sunk = random_.NextDouble() < cluster_.sunk;
  const bool hot = random_.NextDouble() < cluster_.hot;
  const Moments& reads = sunk ? sunk_reads_ : fresh_reads_;
  std::optional<uint32_t> found;
  if (hot && !reads.empty()) found = Find(sunk, true, [&] { return AnyOf(reads); });
  if (!found) found = Find(sunk, false, [&] { return sunk ? AnyNumber() : AnyOf(writes_); });
  return found ? *found : AnyRecord();
}

uint32_t TwitterStream::ChooseInsert() {
  if (deleted_.size() > least_deleted_) {
    const uint32_t record = deleted_.front();
    deleted_.pop_front();
    return record;
  }
  records_.emplace_back();
  return static_cast<uint32_t>(records_.size() - 1);
}

uint32_t TwitterStream::ChooseUpdate() {
  if (!fresh_reads_.empty() && random_.NextDouble() < kReadLately) {
    const uint32_t record = AnyOf(fresh_reads_);
    if (IsThere(record)) return record;
  }
  return AnyRecord();
}

uint32_t TwitterStream::AnyRecord() {
  for (;;) {
    const uint32_t record = AnyNumber();
    if (IsThere(record)) return record;
  }
}

template <typename Draw>
std::optional<uint32_t> TwitterStream::Find(bool sunk, bool hot, const Draw& draw) const {
  for (int i = 0; i < kTries; i++) {
    const uint32_t record = draw();
    if (IsThere(record) && IsSunk(record) == sunk && IsHot(record) == hot) return record;
  }
  return std::nullopt;
}

void TwitterStream::CountFind(uint32_t record) {
  if (read_ < 2 * window_) return;
  counts_.finds++;
  counts_.sunk += IsSunk(record) ? 1 : 0;
  counts_.hot += IsHot(record) ? 1 : 0;
}

void TwitterStream::DropBefore(uint32_t time, Moments* moments) {
  while (!moments->empty() && moments->front().time < time) moments->pop_front();
}

}  // namespace rocktier_bench
