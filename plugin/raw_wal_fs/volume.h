// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/device.h"
#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/health.h"
#include "plugin/raw_wal_fs/patient.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "plugin/raw_wal_fs/sync_times.h"
#include "plugin/raw_wal_fs/window.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Counts for RawWalStats; see Volume::AddStats().
struct Counters {
  std::atomic<uint64_t> appends{0};
  std::atomic<uint64_t> appended_bytes{0};
  std::atomic<uint64_t> syncs{0};
  std::atomic<uint64_t> frames{0};
  std::atomic<uint64_t> written_bytes{0};
  std::atomic<uint64_t> padding_bytes{0};
  std::atomic<uint64_t> repeated_bytes{0};
  std::atomic<uint64_t> logs_created{0};
  std::atomic<uint64_t> logs_deleted{0};
  std::atomic<uint64_t> logs_spilled{0};
  std::atomic<uint64_t> failovers{0};
  std::atomic<uint64_t> copies_lost{0};
  std::atomic<uint64_t> degraded{0};
  std::atomic<uint64_t> stalls{0};
  std::atomic<uint64_t> io_errors{0};
  SyncTimes sync_times;
};

// A formatted log device: its superblock, and which segment belongs to which log.
//
// Nothing but the segments' headers says which segments are used: opening reads all of them, and
// making a log longer writes no other block. A segment whose header is damaged is neither used nor
// free.
//
// OpenForWriting() of open_volumes.h opens the one volume of a device that may be written;
// those who only read may open others. Owns the device. Thread-safe.
class Volume : public std::enable_shared_from_this<Volume> {
 public:
  enum class Owner : uint8_t { kFree, kLog, kDamaged };
  struct Segment {
    Owner owner = Owner::kFree;
    uint32_t ordinal = 0;
    LogId log;
    // Fields as in the segment's header.
    DirectoryId directory;
    std::string name;
    bool whole_name = true;
  };

  // Reads the superblock and all headers. For writing also raises the epoch. Corruption,
  // NotSupported: see Superblock::Decode.
  static IOStatus Open(std::unique_ptr<Device> device, bool write, std::shared_ptr<Volume>* result);

  bool writable() const { return writable_; }
  const Superblock& superblock() const { return superblock_; }
  Device* device() const { return device_.get(); }
  const std::string& path() const { return device_->path(); }
  Counters& counters() { return counters_; }
  Health& health() { return health_; }
  const Health& health() const { return health_; }

  IOStatus NewLogId(LogId* result);

  // Checks the age of the device. Corruption if it has not had the epoch that a stub says yet: a
  // snapshot of the device was restored.
  IOStatus CheckAge(uint64_t epoch) const;
  // Finds the header of the log's first segment that is there: it says whose log it is. False if
  // the log has no segment.
  bool DescribeLog(LogId log, Segment* result) const;

  // Gives a log another segment, in memory only: the caller writes its header, which will be
  // `header`. NoSpace if no segment is free.
  IOStatus Allocate(const SegmentHeader& header, uint64_t* segment);
  // Marks a log's segments free on the device, durably. They stay out of use until Release():
  // somebody may still be reading. After a failure it can be done again. With a `limit`, no write
  // may take longer: TimedOut. Aborted: not now, since a write to the log may still come, or
  // another thread deletes it.
  IOStatus Delete(LogId log, std::chrono::milliseconds limit = std::chrono::milliseconds(0));
  // Lets the segments of a deleted log be used again: now, or when nobody holds or keeps them any
  // more.
  void Release(LogId log);
  // Holds a log's segments as long as the result lives: for a write that was given up, and may
  // still come. The log's headers are not written before that. Keeps the volume open.
  std::shared_ptr<void> Hold(LogId log) { return Count(&held_, log); }
  // Keeps a log's segments, for who may read them. The log may be deleted meanwhile. Else the same.
  std::shared_ptr<void> Keep(LogId log) { return Count(&kept_, log); }
  // Returns whether the log has a segment.
  bool HasSegments(LogId log) const { return !NumbersOf(log).empty(); }
  // Notes that the device took too long or failed, and has it asked whether it is well again.
  void NoteStall(const Health::Limits& limits);
  // Writes another directory and file name into a log's headers, durably, and into the first
  // segment's last. After a failure it can be done again. Busy: a write to the log may still come.
  IOStatus Adopt(LogId log, const DirectoryId& directory, const std::string& name);

  // Finds the segments of a log, by ordinal. Corruption if one is missing; no segments: NotFound.
  IOStatus SegmentsOf(LogId log, std::vector<uint64_t>* segments) const;

  // Reads the headers again: another process may have written them. For reading only.
  IOStatus Refresh();

  std::vector<Segment> segments() const;

  // Keeps what the scan of a log verified, for the log's first reader, in the place of what was
  // kept before: one window for each volume. Returns a ticket for TakeWindow(), not 0.
  uint64_t KeepWindow(std::unique_ptr<Window> window);
  // Hands over the window of that ticket. Null if somebody has it, or another one took its place.
  std::unique_ptr<Window> TakeWindow(uint64_t ticket);

  void AddStats(RawWalStats* stats) const;

 private:
  Volume(std::unique_ptr<Device> device, bool write)
      : device_(std::move(device)), writable_(write) {}
  IOStatus Load();
  IOStatus RaiseEpoch();
  std::vector<uint64_t> NumbersOf(LogId log) const;
  IOStatus WriteHeader(const SegmentHeader& header, std::chrono::milliseconds limit,
                       std::unique_ptr<PatientWriter>* patient);
  using Users = std::map<LogId, uint64_t>;  // how many each log has
  void Free(LogId log);
  bool IsUsed(LogId log) const;
  std::shared_ptr<void> Count(Users* users, LogId log);
  void LetGo(Users* users, LogId log);
  bool HoldsAny() const;
  // Writes a block that belongs to nothing, durably.
  IOStatus Probe();
  IOStatus ReadHeaders(std::vector<Segment>* segments) const;
  IOStatus ReadHeaders(uint64_t begin, uint64_t end, Segment* segments) const;

  const std::unique_ptr<Device> device_;
  const bool writable_;
  Superblock superblock_;  // constant after Open()
  Counters counters_;
  Health health_;

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  std::vector<Segment> segments_;
  std::vector<uint64_t> free_;  // the last one is the next to be used
  uint64_t damaged_ = 0;        // segments that are
  Users held_;                  // writes
  Users kept_;                  // and readers
  std::set<LogId> released_;    // logs that can go when these are no more
  std::set<LogId> deleted_;     // logs that are being deleted, until their segments are free
  std::unique_ptr<Window> window_;
  uint64_t ticket_ = 0;  // the last one that was given out
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
