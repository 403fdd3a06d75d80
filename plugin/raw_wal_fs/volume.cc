// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/volume.h"

#include <algorithm>
#include <future>
#include <map>
#include <utility>

#include "plugin/raw_wal_fs/coding.h"
#include "plugin/raw_wal_fs/superblock.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr size_t kHeaderBlock = 4096;  // read at once; holds a header whatever the block size

// How many threads read headers, and how many headers each reads at least. A single thread would
// wait for the device a quarter of the time that a device full of logs takes to be read, or, with
// small segments, several times that.
constexpr uint64_t kHeaderReaders = 8;
constexpr uint64_t kLeastShare = 64;

Volume::Segment SegmentOf(const SegmentHeader& header) {
  Volume::Segment segment;
  const bool live = header.state == SegmentHeader::State::kLive;
  segment.owner = live ? Volume::Owner::kLog : Volume::Owner::kFree;
  segment.ordinal = header.ordinal;
  segment.log = header.log;
  segment.directory = header.directory;
  segment.name = header.name;
  segment.whole_name = header.whole_name;
  return segment;
}

IOStatus NoMemory() { return IOStatus::IOError("raw_wal_fs", "no memory for a buffer"); }

}  // namespace

IOStatus Volume::Open(std::unique_ptr<Device> device, bool write, std::shared_ptr<Volume>* result) {
  std::shared_ptr<Volume> volume(new Volume(std::move(device), write));
  IOStatus s = volume->Load();
  if (s.ok() && write) {
    s = volume->RaiseEpoch();
  }
  if (s.ok()) {
    *result = std::move(volume);
  }
  return s;
}

IOStatus Volume::Load() {
  IOStatus s = ReadSuperblock(*device_, &superblock_);
  if (!s.ok()) {
    return s;
  }
  const DeviceInfo& info = device_->info();
  if (info.size < superblock_.Size()) {
    return IOStatus::Corruption("device=" + path(), "has " + std::to_string(info.size) +
                                                        " bytes; it was formatted with " +
                                                        std::to_string(superblock_.Size()));
  }
  if (info.logical_block > superblock_.block_size) {
    return IOStatus::NotSupported(
        "device=" + path(),
        "takes direct I/O in units of " + std::to_string(info.logical_block) +
            " bytes; it was formatted with block_size=" + std::to_string(superblock_.block_size));
  }
  return Refresh();
}

IOStatus Volume::RaiseEpoch() {
  superblock_.epoch++;
  superblock_.generation++;
  return WriteSuperblock(device_.get(), superblock_);
}

IOStatus Volume::ReadHeaders(std::vector<Segment>* segments) const {
  segments->assign(superblock_.segments, Segment());
  const uint64_t share = std::max(superblock_.segments / kHeaderReaders + 1, kLeastShare);
  std::vector<std::future<IOStatus>> readers;
  for (uint64_t begin = 0; begin < segments->size(); begin += share) {
    const uint64_t end = std::min<uint64_t>(begin + share, segments->size());
    readers.push_back(std::async(
        begin == 0 ? std::launch::deferred : std::launch::async | std::launch::deferred,
        [this, begin, end, segments] { return ReadHeaders(begin, end, segments->data()); }));
  }
  IOStatus result;
  for (std::future<IOStatus>& reader : readers) {  // the first share is this thread's
    IOStatus s = reader.get();
    result = result.ok() ? s : result;
  }
  return result;
}

IOStatus Volume::ReadHeaders(uint64_t begin, uint64_t end, Segment* segments) const {
  const Buffer buffer = NewBuffer(kHeaderBlock);
  if (buffer == nullptr) {
    return NoMemory();
  }
  for (uint64_t i = begin; i < end; i++) {
    IOStatus s = device_->Read(superblock_.SegmentOffset(i), kHeaderBlock, buffer.get());
    if (!s.ok()) {
      return s;
    }
    Segment& segment = segments[i];
    SegmentHeader header;
    if (SegmentHeader::Decode(buffer.get(), superblock_.uuid, &header) && header.segment == i) {
      segment = SegmentOf(header);
    } else if (!IsZero(buffer.get(), SegmentHeader::kSize)) {
      segment.owner = Owner::kDamaged;
    }
  }
  return IOStatus::OK();
}

IOStatus Volume::Refresh() {
  std::vector<Segment> segments;
  IOStatus s = ReadHeaders(&segments);
  if (!s.ok()) {
    return s;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  segments_ = std::move(segments);
  free_.clear();
  damaged_ = 0;
  for (uint64_t i = segments_.size(); i-- > 0;) {
    if (segments_[i].owner == Owner::kFree) {
      free_.push_back(i);
    }
    damaged_ += segments_[i].owner == Owner::kDamaged ? 1 : 0;
  }
  return s;
}

IOStatus Volume::NewLogId(LogId* result) {
  std::string random;
  IOStatus s = RandomBytes(sizeof(result->high) + sizeof(result->low), &random);
  if (s.ok()) {
    result->high = DecodeFixed64(random.data()) | uint64_t{1} << 63;  // not 0
    result->low = DecodeFixed64(random.data() + 8);
  }
  return s;
}

IOStatus Volume::CheckAge(uint64_t epoch) const {
  Superblock now = superblock_;
  // Another process may have opened it since.
  IOStatus s = epoch > now.epoch && !writable_ ? ReadSuperblock(*device_, &now) : IOStatus::OK();
  if (s.ok() && epoch > now.epoch) {
    s = IOStatus::Corruption(
        "device=" + path(), "is older than a log of it: it has epoch=" + std::to_string(now.epoch) +
                                ", the log's file says epoch=" + std::to_string(epoch) +
                                ". Was a snapshot of it restored?");
  }
  return s;
}

bool Volume::DescribeLog(LogId log, Segment* result) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const Segment* first = nullptr;
  for (const Segment& each : segments_) {
    if (each.owner == Owner::kLog && each.log == log && !each.name.empty() &&
        (first == nullptr || each.ordinal < first->ordinal)) {
      first = &each;
    }
    if (first != nullptr && first->ordinal == 0) {
      break;
    }
  }
  if (first != nullptr) {
    *result = *first;
  }
  return first != nullptr;
}

IOStatus Volume::Allocate(const SegmentHeader& header, uint64_t* segment) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (free_.empty()) {
    IOStatus s = IOStatus::NoSpace("device=" + path(), "has no free segment");
    s.SetRetryable(true);
    return s;
  }
  *segment = free_.back();
  free_.pop_back();
  segments_[*segment] = SegmentOf(header);
  return IOStatus::OK();
}

// Returns the numbers of a log's segments, by ordinal.
std::vector<uint64_t> Volume::NumbersOf(LogId log) const {
  std::vector<uint64_t> numbers;
  std::lock_guard<std::mutex> lock(mutex_);
  for (uint64_t i = 0; i < segments_.size(); i++) {
    if (segments_[i].owner == Owner::kLog && segments_[i].log == log) {
      numbers.push_back(i);
    }
  }
  std::sort(numbers.begin(), numbers.end(),
            [this](uint64_t a, uint64_t b) { return segments_[a].ordinal < segments_[b].ordinal; });
  return numbers;
}

IOStatus Volume::WriteHeader(const SegmentHeader& header, std::chrono::milliseconds limit,
                             std::unique_ptr<PatientWriter>* patient) {
  Buffer buffer = NewBuffer(kHeaderBlock);
  if (buffer == nullptr) {
    return NoMemory();
  }
  memset(buffer.get(), 0, kHeaderBlock);
  header.Encode(superblock_, buffer.get());
  const DeviceWork work = {superblock_.SegmentOffset(header.segment), superblock_.block_size,
                           buffer.get(), /*durable=*/true};
  IOStatus s = *patient != nullptr ? (*patient)->Run(work, limit) : work.Run(device_.get());
  if (s.IsTimedOut()) {
    (*patient)->GiveUp(Hold(header.log), std::move(buffer));
    patient->reset();
  }
  counters_.io_errors += s.ok() || s.IsTimedOut() ? 0 : 1;
  return s;
}

IOStatus Volume::Delete(LogId log, std::chrono::milliseconds limit) {
  {
    // The segments may be another log's as soon as one thread has freed them.
    std::lock_guard<std::mutex> lock(mutex_);
    if (held_.count(log) > 0 || !deleted_.insert(log).second) {
      return IOStatus::Aborted("device=" + path(), "is still written to for log " + log.ToString());
    }
  }
  std::unique_ptr<PatientWriter> patient =
      limit.count() > 0 ? PatientWriter::New(device_.get()) : nullptr;
  IOStatus s = limit.count() == 0 || patient != nullptr
                   ? IOStatus::OK()
                   : IOStatus::IOError("device=" + path(), "no thread to write to it");
  // Frees the first segment first, so that what a crash leaves is not taken for a whole log.
  for (const uint64_t number : NumbersOf(log)) {
    SegmentHeader header;
    header.state = SegmentHeader::State::kFree;
    header.log = log;
    header.segment = number;
    s = s.ok() ? WriteHeader(header, limit, &patient) : s;
  }
  if (!s.ok()) {
    std::lock_guard<std::mutex> lock(mutex_);
    deleted_.erase(log);
  }
  return s;
}

IOStatus Volume::Adopt(LogId log, const DirectoryId& directory, const std::string& name) {
  std::vector<uint64_t> numbers = NumbersOf(log);
  std::reverse(numbers.begin(), numbers.end());
  std::unique_ptr<PatientWriter> none;
  IOStatus s;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (held_.count(log) > 0) {
      return IOStatus::Busy("device=" + path(), "is still written to for log " + log.ToString());
    }
  }
  for (const uint64_t number : numbers) {
    SegmentHeader header;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      header.ordinal = segments_[number].ordinal;
    }
    header.log = log;
    header.segment = number;
    header.directory = directory;
    header.name = name;
    s = s.ok() ? WriteHeader(header, std::chrono::milliseconds(0), &none) : s;
    if (s.ok()) {
      std::lock_guard<std::mutex> lock(mutex_);
      segments_[number] = SegmentOf(header);
    }
  }
  return s;
}

void Volume::Release(LogId log) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (IsUsed(log)) {
    released_.insert(log);
  } else {
    Free(log);
  }
}

// Requires mutex_.
bool Volume::IsUsed(LogId log) const { return held_.count(log) > 0 || kept_.count(log) > 0; }

std::shared_ptr<void> Volume::Count(Users* users, LogId log) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    (*users)[log]++;
  }
  return std::shared_ptr<void>(
      this, [volume = shared_from_this(), users, log](void*) { volume->LetGo(users, log); });
}

void Volume::LetGo(Users* users, LogId log) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = users->find(log);
  if (--it->second > 0) {
    return;
  }
  users->erase(it);
  if (!IsUsed(log) && released_.erase(log) > 0) {
    Free(log);
  }
}

bool Volume::HoldsAny() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return !held_.empty();
}

IOStatus Volume::Probe() {
  const Buffer buffer = NewBuffer(kHeaderBlock);
  if (buffer == nullptr) {
    return NoMemory();
  }
  memset(buffer.get(), 0, kHeaderBlock);
  return device_->Write(Superblock::kProbeOffset, kHeaderBlock, buffer.get(), /*durable=*/true);
}

void Volume::NoteStall(const Health::Limits& limits) {
  const auto answers = [this] { return Probe().ok() && !HoldsAny(); };
  if (health_.NoteStall(weak_from_this(), answers, limits)) {
    counters_.stalls++;
  }
}

// Requires mutex_.
void Volume::Free(LogId log) {
  deleted_.erase(log);
  for (uint64_t i = 0; i < segments_.size(); i++) {
    if (segments_[i].owner == Owner::kLog && segments_[i].log == log) {
      segments_[i] = Segment();
      free_.push_back(i);
    }
  }
}

IOStatus Volume::SegmentsOf(LogId log, std::vector<uint64_t>* segments) const {
  std::map<uint32_t, uint64_t> found;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (uint64_t i = 0; i < segments_.size(); i++) {
      if (segments_[i].owner != Owner::kLog || segments_[i].log != log) {
        continue;
      }
      const auto [first, is_new] = found.emplace(segments_[i].ordinal, i);
      if (!is_new) {
        return IOStatus::Corruption(
            "device=" + path(),
            "segments " + std::to_string(first->second) + " and " + std::to_string(i) +
                " both have ordinal=" + std::to_string(first->first) + " of log " + log.ToString());
      }
    }
  }
  segments->clear();
  for (const auto& [ordinal, number] : found) {
    if (ordinal != segments->size()) {
      return IOStatus::Corruption("device=" + path(),
                                  "segment " + std::to_string(segments->size()) + " of log " +
                                      log.ToString() + " is missing");
    }
    segments->push_back(number);
  }
  return segments->empty() ? IOStatus::NotFound() : IOStatus::OK();
}

std::vector<Volume::Segment> Volume::segments() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return segments_;
}

uint64_t Volume::KeepWindow(std::unique_ptr<Window> window) {
  std::lock_guard<std::mutex> lock(mutex_);
  window_.swap(window);  // frees the one before behind the lock
  return ++ticket_;
}

std::unique_ptr<Window> Volume::TakeWindow(uint64_t ticket) {
  std::lock_guard<std::mutex> lock(mutex_);
  return ticket == ticket_ ? std::move(window_) : nullptr;
}

void Volume::AddStats(RawWalStats* stats) const {
#define ADD(name) stats->name += counters_.name.load(std::memory_order_relaxed)
  ADD(appends);
  ADD(appended_bytes);
  ADD(syncs);
  ADD(frames);
  ADD(written_bytes);
  ADD(padding_bytes);
  ADD(repeated_bytes);
  ADD(logs_created);
  ADD(logs_deleted);
  ADD(logs_spilled);
  ADD(failovers);
  ADD(copies_lost);
  ADD(degraded);
  ADD(stalls);
  ADD(io_errors);
#undef ADD
  stats->stalled += health_.stalled() ? 1 : 0;
  stats->sync_p50_us = counters_.sync_times.Percentile(50);
  stats->sync_p99_us = counters_.sync_times.Percentile(99);
  stats->sync_max_us = counters_.sync_times.max();
  std::lock_guard<std::mutex> lock(mutex_);
  stats->segments += segments_.size();
  stats->segments_used += segments_.size() - free_.size() - damaged_;
  stats->segments_damaged += damaged_;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
