// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugin/raw_wal_fs/extent_map.h"
#include "plugin/raw_wal_fs/frame_placer.h"
#include "plugin/raw_wal_fs/posix.h"
#include "plugin/raw_wal_fs/spill.h"
#include "plugin/raw_wal_fs/tail.h"
#include "plugin/raw_wal_fs/volume.h"
#include "plugin/raw_wal_fs/window.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// The byte that takes the place of bytes that were durable and are gone. RocksDB's log reader
// reports it as a damaged record; it would pass over zeros in silence.
constexpr char kFiller = 1;

// A log on the device, open for writing, or as it was found.
//
// Appended bytes go to the tail. They are written to the device when the log is synced or closed,
// or, by a thread, when half of the tail is full. Readers see them at once.
//
// Thread-safe: any number of readers, one thread that appends, and any that sync.
// Locks: io_mutex_ before mutex_; no device is touched under mutex_ alone.
// Invariants: bytes [0, written_) are on the device, [written_, appended_) in the tail;
// durable_ <= written_. A segment's header is written only when all that is in the segments before
// it is durable.
class Log {
 public:
  struct Settings {
    FileSystem* target = nullptr;  // of the stubs
    uint64_t tail_size = 512 << 10;
    OnFull on_full = OnFull::kFail;
    // Called when the device is full and the rest of the log goes to the stub.
    std::function<void(const std::string& path, const IOStatus& reason)> on_spill;
  };

  // Makes a new log, whose stub replaces `path`. With OnFull::kSpill NoSpace if the device has no
  // segment for it; with OnFull::kFail its first write asks for a segment.
  static IOStatus Create(const std::shared_ptr<Volume>& volume, const Settings& settings,
                         const std::string& path, std::shared_ptr<Log>* result);
  // Finds a log that nobody writes, and its end, by a scan of its last segment that holds anything.
  // What is in the segments before was durable before that one was begun; their frames are found by
  // whoever reads them. Corruption if the stub knows of durable bytes that no frame does, unless
  // `take_damaged`.
  static IOStatus Recover(const std::shared_ptr<Volume>& volume, FileSystem* target,
                          const std::string& path, StubFile stub, bool take_damaged,
                          std::shared_ptr<Log>* result);
  ~Log();

  // After an error all calls that write return it. NoSpace with OnFull::kFail is an exception: one
  // call returns it, either Append(), which then takes nothing, or Sync(). Everything else that was
  // and is appended goes to the stub. So RocksDB can resume: it writes to this log again what
  // failed, and begins another one.
  IOStatus Append(const Slice& data);
  IOStatus Sync();
  // Writes what is in the tail, without a flush.
  IOStatus Write();
  IOStatus Close();

  // Returns the logical size in bytes.
  uint64_t size() const;
  // Returns whether bytes were durable that Recover() did not find.
  bool damaged() const { return damaged_; }
  // Returns a number that changes whenever bytes move: what was read from the device before may be
  // elsewhere now.
  uint64_t version() const;
  // Finds a run of the log's bytes from `offset` on, which is not below early_end(): either in
  // `bytes`, or, if that is empty, on the device in `extent`. False at the end of the log.
  bool Locate(uint64_t offset, size_t n, Extent* extent, std::string* bytes) const;

  // For a log that was found: the segments that were not scanned, by ordinal, and the end of the
  // log's bytes in them.
  const std::vector<uint64_t>& early_segments() const { return early_segments_; }
  uint64_t early_end() const { return early_end_; }

  // Hands over the window with all frames of extents on the device, each verified, if this log was
  // found last and nobody has asked for it; else null.
  std::unique_ptr<Window> TakeVerified();

  // Reads frames, from the device or the spill.
  IOStatus ReadFrames(uint64_t position, size_t n, char* to) const;
  // Returns the end of what can be read in one go from the extent's position on.
  uint64_t EndOf(const Extent& extent) const;

  LogId id() const { return id_; }
  const std::string& path() const { return path_; }
  const Volume& volume() const { return *volume_; }

  // Called when the log was deleted. Its segments are free when its last reader is done.
  void ReleaseWhenDestroyed() { release_ = true; }

 private:
  Log(std::shared_ptr<Volume> volume, std::string path, const Stub& stub, const Settings& settings);

  IOStatus WriteTail(uint64_t end, bool durable);
  IOStatus WriteHalf(const Tail::Half& half, bool durable);
  IOStatus Place(const Tail::Half& half, FramePlacer::Place* place);
  IOStatus WriteFrame(const FramePlacer::Place& place, Gather* bytes, bool durable);
  IOStatus WriteToDevice(const FramePlacer::Place& place, uint64_t frame_size, bool durable,
                         uint64_t* position);
  IOStatus WriteToSpill(uint64_t frame_size, bool durable, uint64_t* position);
  IOStatus StartSegment();
  IOStatus StartSpill(const IOStatus& reason);
  IOStatus FlushDevice();
  IOStatus TellFull();
  IOStatus SetDurable();
  void WriterLoop();
  void StopWriter();

  const std::shared_ptr<Volume> volume_;
  const std::string path_;
  const Stub stub_;
  const LogId id_;
  const Settings settings_;
  bool damaged_ = false;                  // constant after Recover()
  std::vector<uint64_t> early_segments_;  // constant after Recover(), as is early_end_
  uint64_t early_end_ = 0;
  std::atomic<bool> release_{false};

  std::mutex io_mutex_;
  // Guarded by io_mutex_.
  FramePlacer placer_;
  std::vector<uint64_t> segments_;
  SegmentHeader header_;          // of the last one
  uint64_t written_io_ = 0;       // bytes of the log on the device
  uint64_t durable_ = 0;          // of these, durable
  bool unflushed_ = false;        // something was written since the last flush
  bool new_segment_ = false;      // the segment's header is still to be written
  Buffer frame_;                  // one frame, behind room for a segment's header
  std::string last_payload_;      // of the last frame if it is one block
  std::unique_ptr<Spill> spill_;  // set once, under mutex_ too

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::unique_ptr<Tail> tail_;  // null if the log is not open for writing
  ExtentMap extents_;
  std::unique_ptr<Window> verified_;
  std::vector<Run> runs_;  // of a log that was found: bytes that are in its stub only
  uint64_t appended_ = 0;
  uint64_t version_ = 0;
  IOStatus error_;
  IOStatus full_;  // NoSpace that nobody has been told of
  bool half_full_ = false;
  bool stop_ = false;
  std::thread writer_;  // started with the first half that is full
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
