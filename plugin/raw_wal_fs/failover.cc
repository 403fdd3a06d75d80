// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of LogWriter that goes on in a standby when the device stalls or fails.

#include <algorithm>
#include <cstring>
#include <utility>

#include "plugin/raw_wal_fs/log_writer.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Does a work on the device; if there is a standby, waits no longer than failover_latency. TimedOut
// leaves the device to the work, and the frame, too.
IOStatus LogWriter::OnDevice(const DeviceWork& work) {
  if (settings_.standby == nullptr) {
    return work.Run(volume().device());
  }
  if (patient_ == nullptr) {
    return IOStatus::TimedOut("device=" + volume().path(), "has not answered yet");
  }
  IOStatus s = patient_->Run(work, settings_.failover_latency);
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
  counters.io_errors += reason.IsTimedOut() ? 0 : 1;
  counters.failovers++;
  if (settings_.on_failover != nullptr) {
    settings_.on_failover(path(), reason);
  }
  std::unique_ptr<Spill> standby;
  std::vector<Extent> extents;
  IOStatus s = tail_->MakeDurable();
  if (s.ok()) {
    s = settings_.standby->Begin(header_, volume().superblock(), &standby);
  }
  if (s.ok()) {
    s = WritePending(standby.get(), &extents);
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
  version_++;
  return s;
}

// Writes all pending bytes as frames, durably.
IOStatus LogWriter::WritePending(Spill* standby, std::vector<Extent>* extents) {
  const Superblock& superblock = volume().superblock();
  if (frame_ == nullptr) {
    return IOStatus::IOError(path(), "no memory for a buffer");
  }
  char* const frame = frame_.get() + kHeaderRoom;
  IOStatus s;
  for (uint64_t done = 0; s.ok() && done < pending_.size();) {
    FrameHeader header;
    header.log = id();
    header.offset = durable_ + done;
    header.durable = durable_;
    header.length = static_cast<uint32_t>(std::min(pending_.size() - done, kMaxPayload));
    memcpy(frame + FrameHeader::kSize, pending_.data() + done, header.length);
    header.Seal(superblock.uuid, superblock.block_size, frame);
    uint64_t position = 0;
    s = standby->Append(Slice(frame, header.FrameSize(superblock.block_size)), &position);
    extents->push_back({header.offset, position, FrameHeader::kSize, header.length});
    done += header.length;
  }
  return s.ok() ? standby->Sync() : s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
