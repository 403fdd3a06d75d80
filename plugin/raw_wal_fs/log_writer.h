// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/frame_placer.h"
#include "plugin/raw_wal_fs/log.h"
#include "plugin/raw_wal_fs/patient.h"
#include "plugin/raw_wal_fs/posix.h"
#include "plugin/raw_wal_fs/standby.h"
#include "plugin/raw_wal_fs/standby_copy.h"
#include "plugin/raw_wal_fs/tail.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// A log that is open for writing. RawWalFileSystem creates it when RocksDB creates a log, and
// LogWritableFile writes to it and closes it.
//
// Appended bytes go to the tail. They are written to the device when the log is synced or closed,
// or, by a thread, when half of the tail is full. Readers see them at once.
//
// With a standby, the log goes on there for the rest of its life when the device takes too long or
// fails: with all bytes that are not known to be durable. The write that took too long may still
// come. It does no harm: its bytes are those of the log, and Volume::Hold() keeps its segment.
//
// With StandbyMode::kHedge or kMirror the standby has a copy from the beginning, which a thread
// writes; see copies.cc. When the standby takes too long or fails, the log goes on on the device,
// for the rest of its life.
//
// Thread-safe: any number of readers, one thread that appends, and any that sync.
// Locks: io_mutex_ before mutex_; no device is touched under mutex_ alone.
// Invariants: bytes [0, written_) are on the device, [written_, appended_) in the tail;
// durable_ <= written_. Neither says anything of the copy. A segment's header is written only when
// all that is in the segments before it is durable.
class LogWriter : public Log {
 public:
  struct Settings {
    FileSystem* target = nullptr;  // where the stubs are
    uint64_t tail_size = 512 << 10;
    OnFull on_full = OnFull::kFail;
    std::shared_ptr<Standby> standby;  // may be null
    StandbyMode mode = StandbyMode::kFailover;
    // With a standby: what the device may take, and the copy, and when the device is well again.
    std::chrono::milliseconds failover_latency{100};
    Health::Limits health{RawWalOptions()};
    // Is called before the log has a stub: whoever finds the stub must find the open log. May be
    // null.
    std::function<void(const std::shared_ptr<LogWriter>& log)> on_create;
    // Is called when the device is full and the rest of the log goes to the stub. May be null.
    std::function<void(const std::string& path, const IOStatus& reason)> on_spill;
    // Is called when the rest of the log goes to the standby. May be null.
    std::function<void(const std::string& path, const IOStatus& reason)> on_failover;
    // Is called when the rest of the log goes to the device, without a copy. May be null.
    std::function<void(const std::string& path, const IOStatus& reason)> on_no_copy;
  };

  // Makes a new log, whose stub replaces `path`. With OnFull::kSpill NoSpace if the device has no
  // segment for it; with OnFull::kFail its first write asks for a segment.
  static IOStatus Create(const std::shared_ptr<Volume>& volume, const Settings& settings,
                         const std::string& path, std::shared_ptr<LogWriter>* result);
  ~LogWriter() override;

  // Appends to the tail. After an error all calls that write return it. NoSpace with OnFull::kFail
  // is an exception: one call returns it, either Append(), which then takes nothing, or Sync().
  // Everything else that was and is appended goes to the stub. So RocksDB can resume: it writes to
  // this log again what failed, and begins another one.
  IOStatus Append(const Slice& data);
  IOStatus Sync() override;
  // Writes what is in the tail, without a flush.
  IOStatus Write();
  // Writes what is in the tail, durably. Nothing can be appended afterwards.
  IOStatus Close();

  uint64_t size() const override;
  uint64_t version() const override;
  bool Locate(uint64_t offset, size_t n, Extent* extent, std::string* bytes) const override;

 private:
  static constexpr uint64_t kMaxPayload = Spill::kMaxPayload;
  static constexpr size_t kHeaderRoom = 4096;  // before the frame, for a segment's header

  static Buffer NewFrame() {
    return NewBuffer(kHeaderRoom + FrameHeader::FrameSize(kMaxPayload, 4096));
  }
  LogWriter(const std::shared_ptr<Volume>& volume, std::string path, const Stub& stub,
            const Settings& settings);

  const Spill* spill() const override { return spill_.get(); }
  IOStatus WriteTail(uint64_t end, bool durable);
  IOStatus WriteHalf(const Tail::Half& half, bool durable);
  IOStatus Place(const Tail::Half& half, FramePlacer::Place* place);
  IOStatus WriteFrame(const FramePlacer::Place& place, Gather* bytes, bool durable);
  IOStatus WriteToDevice(const FramePlacer::Place& place, uint64_t frame_size, bool durable,
                         uint64_t* position);
  IOStatus WriteToSpill(uint64_t frame_size, bool durable, uint64_t* position);
  IOStatus StartSegment();
  // StartSpill() to Break(): in failover.cc.
  IOStatus StartSpill(const IOStatus& reason);
  IOStatus OnDevice(const DeviceWork& work);
  IOStatus FailOver(const IOStatus& reason);
  IOStatus BeginInStandby(std::unique_ptr<Spill>* standby, std::vector<Extent>* extents);
  bool MayFailOver() const {
    return settings_.standby != nullptr && spill_ == nullptr && (copy_ != nullptr || !copies());
  }
  // Returns whether nobody waits for the device longer than failover_latency. A log whose copy has
  // failed cannot go on there: it waits, and then goes on without a copy.
  bool has_limit() const { return MayFailOver() && (copy_ == nullptr || copy_->status().ok()); }
  IOStatus FlushDevice();
  IOStatus SetDurable();
  void Break(IOStatus* s);
  // CopyLimit() to NoteDegraded(): in copies.cc.
  bool copies() const { return settings_.mode != StandbyMode::kFailover; }
  std::chrono::milliseconds CopyLimit() const;
  IOStatus BeginCopy();
  bool SyncFirst(uint64_t end);
  void AwaitRoom();
  IOStatus AwaitCopy(uint64_t end);
  IOStatus DropCopy(const IOStatus& reason);
  IOStatus GoOnWithoutCopy(const IOStatus& reason);
  IOStatus TakeOver(std::unique_ptr<Spill>* standby, std::vector<Extent>* extents);
  void EndCopy();
  void NoteDegraded(bool degraded);
  IOStatus TellFull();
  // Starts the thread of WriterLoop(), if there is none. False if none can be had. Requires mutex_.
  bool StartWriter();
  void WriterLoop();
  void StopWriter();

  const Stub stub_;
  const Settings settings_;
  const std::shared_ptr<void> keep_;  // also when the log is deleted, for its readers

  std::mutex io_mutex_;
  // All below, to copy_: guarded by io_mutex_.
  FramePlacer placer_;
  std::vector<uint64_t> segments_;
  SegmentHeader header_;      // the last segment's
  uint64_t written_ = 0;      // bytes of the log on the device
  uint64_t durable_ = 0;      // bytes of the log on the device, durably
  bool unflushed_ = false;    // something was written since the last flush
  bool new_segment_ = false;  // the segment's header is still to be written
  Buffer frame_;              // one frame, behind room for a segment's header
  std::string pending_;       // bytes [durable_, written_), if the log may go on in a standby
  std::unique_ptr<PatientWriter> patient_;  // the same
  std::string last_payload_;                // the last frame's, if that is one block
  bool is_degraded_ = false;                // counts as one that has one copy of two
  std::unique_ptr<Spill> spill_;            // set once, under mutex_ too
  std::shared_ptr<StandbyCopy> copy_;       // changed under mutex_ too; null if there is none

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All below: guarded by mutex_.
  std::unique_ptr<Tail> tail_;  // null once the log is closed
  ExtentMap extents_;
  uint64_t appended_ = 0;
  uint64_t version_ = 0;
  IOStatus error_;
  IOStatus full_;  // NoSpace that nobody has been told of
  bool half_full_ = false;
  uint64_t sync_to_ = 0;  // bytes that writer_ shall make durable on the device
  uint64_t synced_ = 0;   // ... for which it has tried
  bool stop_ = false;
  // Started with the first half that is full, or, with kHedge, the first sync.
  std::shared_ptr<LooseThread> writer_;
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
