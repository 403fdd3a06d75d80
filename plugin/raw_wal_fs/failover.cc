// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of LogWriter that goes on elsewhere: in a standby when the device stalls or fails, in
// the stub when the device is full.

#include <chrono>
#include <utility>

#include "plugin/raw_wal_fs/log_writer.h"
#include "plugin/raw_wal_fs/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Goes on in the stub, when no segment is free. Requires that all that is on the device is durable.
IOStatus LogWriter::StartSpill(const IOStatus& reason) {
  if (settings_.on_spill != nullptr) {
    settings_.on_spill(path(), reason);
  }
  std::unique_ptr<Spill> spill;
  IOStatus s = Spill::Create(settings_.target, path(), stub_.SpillOffset(),
                             volume().superblock().block_size, &spill);
  if (s.ok()) {
    std::lock_guard<std::mutex> lock(mutex_);
    spill_ = std::move(spill);
    full_ = settings_.on_full == OnFull::kFail ? reason : IOStatus::OK();
  }
  return s;
}

// Does a work on the device; if the log can go on in a standby, waits no longer than
// failover_latency. TimedOut leaves the device to the work, and the frame, too.
IOStatus LogWriter::OnDevice(const DeviceWork& work) {
  if (!has_limit()) {
    return work.Run(volume().device());
  }
  if (patient_ == nullptr) {
    return IOStatus::TimedOut("device=" + volume().path(), "has not answered yet");
  }
  std::chrono::milliseconds limit = settings_.failover_latency;
  TEST_SYNC_POINT_CALLBACK("LogWriter::OnDevice:Limit", &limit);
  IOStatus s = patient_->Run(work, limit);
  if (s.IsTimedOut()) {
    patient_->GiveUp(mutable_volume()->Hold(id()), std::move(frame_));
    patient_.reset();
    frame_ = NewFrame();
  }
  if (!s.ok()) {
    mutable_volume()->NoteStall(settings_.health);
  }
  return s;
}

// Goes on in the standby, with what is not known to be durable on the device. All that was written
// is durable then.
IOStatus LogWriter::FailOver(const IOStatus& reason) {
  Counters& counters = mutable_volume()->counters();
  counters.io_errors += reason.IsTimedOut() || reason.IsNoSpace() ? 0 : 1;
  counters.failovers++;
  NoteDegraded(copies());
  if (settings_.on_failover != nullptr) {
    settings_.on_failover(path(), reason);
  }
  std::unique_ptr<Spill> standby;
  std::vector<Extent> extents;
  IOStatus s = tail_->MakeDurable();
  if (s.ok()) {
    s = copy_ != nullptr ? TakeOver(&standby, &extents) : BeginInStandby(&standby, &extents);
  }
  if (s.ok()) {
    s = tail_->SetInStandby(written_);
  }
  if (!s.ok()) {
    s = IOStatus::IOError(
        reason.ToString(),
        "nor can the log go on in standby=" + settings_.standby->directory() + ": " + s.ToString());
    s.SetRetryable(true);  // another log may find one of the two well
    return s;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  extents_.Truncate(durable_);
  for (const Extent& extent : extents) {
    extents_.Append(extent);
  }
  durable_ = written_;
  pending_.clear();
  unflushed_ = false;
  new_segment_ = false;
  spill_ = std::move(standby);
  copy_.reset();
  full_ = copies() && reason.IsNoSpace() && settings_.on_full == OnFull::kFail ? reason : full_;
  version_++;
  return s;
}

// Begins the log's file in the standby, with all pending bytes, durably.
IOStatus LogWriter::BeginInStandby(std::unique_ptr<Spill>* standby, std::vector<Extent>* extents) {
  IOStatus s = settings_.standby->Begin(header_, volume().superblock(), standby);
  if (s.ok()) {
    FrameHeader from;
    from.log = id();
    from.offset = durable_;
    from.durable = durable_;
    s = (*standby)->AppendBytes(stub_.uuid, from, pending_, extents);
  }
  return s.ok() ? (*standby)->Sync() : s;
}

IOStatus LogWriter::FlushDevice() {
  IOStatus s = spill_ != nullptr ? spill_->Sync() : OnDevice(DeviceWork());
  if (!s.ok() && MayFailOver()) {
    s = FailOver(s);
  }
  if (s.ok()) {
    unflushed_ = false;
    s = SetDurable();
  }
  if (!s.ok()) {
    mutable_volume()->counters().io_errors++;
    Break(&s);
  }
  return s;
}

// Notes that the device, or what the log goes on in, has all that was written. Of a mirror the stub
// says only what both have.
IOStatus LogWriter::SetDurable() {
  durable_ = written_;
  pending_.clear();
  if (copy_ != nullptr) {
    copy_->NoteOnDevice(durable_);
  }
  const bool tells = copy_ == nullptr || settings_.mode != StandbyMode::kMirror;
  return tells && tail_ != nullptr ? tail_->SetDurable(durable_) : IOStatus::OK();
}

// Notes that the log takes no more writes. Beside a standby RocksDB may resume with another log,
// which may find one of the two well.
void LogWriter::Break(IOStatus* s) {
  if (settings_.standby != nullptr) {
    s->SetRetryable(true);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  error_ = *s;
  if (copy_ != nullptr) {
    copy_->Drop();
  }
  changed_.notify_all();
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
