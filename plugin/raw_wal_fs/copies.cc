// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of LogWriter that keeps a copy of the log in the standby. With StandbyMode::kHedge a
// sync returns when the device or the copy has all of the log, with kMirror when both have.
//
//   the device takes too long, fails,   the log goes on in the copy: FailOver(). The stub says so,
//     or is full                          durably, before anything is acknowledged that is there
//                                         alone. With kHedge it says so from the beginning
//   the standby takes too long, or      the log goes on on the device: DropCopy(). All that was
//     fails                               acknowledged is durable there first, and the stub says
//                                         so, durably, before anything else is acknowledged
//   both                                the log takes no more writes
//
// A log that has lost one of the two has lost it for good. The next one has both again, if both are
// well when it is begun.

#include <algorithm>
#include <chrono>
#include <utility>

#include "plugin/raw_wal_fs/log_writer.h"
#include "plugin/raw_wal_fs/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// Bytes that may wait for the standby at most.
constexpr uint64_t kMostWaiting = 4 << 20;

}  // namespace

// Returns how long the copy may take.
std::chrono::milliseconds LogWriter::CopyLimit() const {
  std::chrono::milliseconds limit = settings_.failover_latency;
  TEST_SYNC_POINT_CALLBACK("LogWriter::CopyLimit", &limit);
  return limit;
}

IOStatus LogWriter::BeginCopy() {
  std::lock_guard<std::mutex> io_lock(io_mutex_);
  IOStatus s = tail_->MakeDurable();
  if (!s.ok()) {
    return s;
  }
  std::unique_ptr<StandbyCopy> copy;
  IOStatus begun =
      StandbyCopy::Begin(settings_.standby, header_, volume().superblock(),
                         std::min(settings_.tail_size, kMostWaiting), CopyLimit(), &copy);
  if (!begun.ok()) {
    return GoOnWithoutCopy(begun);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    copy_ = std::move(copy);
  }
  return settings_.mode == StandbyMode::kHedge ? tail_->SetInStandby(0) : s;
}

// Has the first `end` bytes written to both, and waits for the first one. False if there is no
// copy, no thread can be had for the device, which nobody would write to then, or nothing else can
// be done than to wait, in WriteTail().
bool LogWriter::SyncFirst(uint64_t end) {
  std::shared_ptr<StandbyCopy> copy;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (settings_.mode != StandbyMode::kHedge || copy_ == nullptr || !error_.ok() ||
        !StartWriter()) {
      return false;
    }
    copy = copy_;
    sync_to_ = std::max(sync_to_, end);
    changed_.notify_all();
  }
  return copy->AwaitFirst(end);
}

// Waits for the copy to have room. If that takes too long, there is none any more.
void LogWriter::AwaitRoom() {
  std::shared_ptr<StandbyCopy> copy;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    copy = copy_;
  }
  const std::chrono::milliseconds limit = CopyLimit();
  if (copy == nullptr || copy->AwaitRoom(limit)) {
    return;
  }
  std::lock_guard<std::mutex> io_lock(io_mutex_);
  if (copy_ == copy) {
    IOStatus s = DropCopy(settings_.standby->TimedOut(limit));
    if (!s.ok()) {
      Break(&s);
    }
  }
}

// Waits until the copy has the first `end` bytes, if it is needed for a sync. Requires that the
// device has them, durably, and io_mutex_.
IOStatus LogWriter::AwaitCopy(uint64_t end) {
  if (copy_ == nullptr) {
    return IOStatus::OK();
  }
  const bool is_mirror = settings_.mode == StandbyMode::kMirror;
  IOStatus s = is_mirror ? copy_->Await(end, CopyLimit()) : copy_->status();
  if (!s.ok()) {
    s = DropCopy(s);
  } else if (is_mirror && tail_ != nullptr) {
    s = tail_->SetDurable(end);
  }
  if (!s.ok()) {
    Break(&s);
  }
  return s;
}

// Goes on on the device alone. Requires io_mutex_.
IOStatus LogWriter::DropCopy(const IOStatus& reason) {
  std::shared_ptr<StandbyCopy> copy;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    copy.swap(copy_);
  }
  copy->Drop();  // from here on nothing is acknowledged because it is there
  IOStatus s =
      settings_.mode == StandbyMode::kHedge ? WriteTail(size(), /*durable=*/true) : IOStatus::OK();
  return s.ok() ? GoOnWithoutCopy(reason) : s;
}

// Notes that there is no copy any more. Requires that the device has all that was acknowledged,
// durably.
IOStatus LogWriter::GoOnWithoutCopy(const IOStatus& reason) {
  NoteDegraded(true);
  if (settings_.on_no_copy != nullptr) {
    settings_.on_no_copy(path(), reason);
  }
  return tail_->SetOnDevice(durable_);
}

// Finishes the copy, for the log to go on in its file.
IOStatus LogWriter::TakeOver(std::unique_ptr<Spill>* standby, std::vector<Extent>* extents) {
  std::vector<Extent> all;
  IOStatus s = copy_->TakeOver(standby, &all);
  ExtentMap map;
  map.Assign(std::move(all));
  map.Truncate(written_);  // the rest is written there again
  map.Skip(durable_);
  *extents = map.all();
  return s;
}

void LogWriter::EndCopy() {
  if (copy_ != nullptr) {
    copy_->Finish(CopyLimit());
    std::lock_guard<std::mutex> lock(mutex_);
    copy_.reset();
  }
  NoteDegraded(false);
}

// Notes whether the log, which is being written, has one copy where it should have two.
void LogWriter::NoteDegraded(bool degraded) {
  if (degraded == is_degraded_) {
    return;
  }
  is_degraded_ = degraded;
  Counters& counters = mutable_volume()->counters();
  if (degraded) {
    counters.copies_lost++;
    counters.degraded++;
  } else {
    counters.degraded--;
  }
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
