// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/log.h"
#include "plugin/raw_wal_fs/scan.h"
#include "plugin/raw_wal_fs/standby.h"
#include "plugin/raw_wal_fs/stub.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// A log that this process does not write, as it was found: of an earlier process, or of another
// one that may still write it. RawWalFileSystem finds it when somebody opens it to read, and finds
// it again to see what was written since.
//
// Constant once it was found, but for gave_up_. Thread-safe.
class RecoveredLog : public Log {
 public:
  // Finds a log and its end, by a scan of its last segment that holds anything. What is in the
  // segments before was durable before that one was begun; their frames are found by whoever reads
  // them. `file`: read with its contents, before the headers of the volume were read if another
  // process writes the log. `standby`: the one that the stub names, or null if it names none.
  // Corruption if bytes are missing that were durable, as the stub knows, and no frame tells of
  // them; or if segments are, and the standby has not all of the log; unless `take_damaged`.
  static IOStatus Recover(const std::shared_ptr<Volume>& volume, FileSystem* target,
                          const std::string& path, const Standby* standby, StubFile file,
                          bool take_damaged, std::shared_ptr<RecoveredLog>* result);
  ~RecoveredLog() override;

  // Returns whether bytes were durable that Recover() did not find.
  bool damaged() const { return contents_.damaged; }
  // Checks the same of all segments, and reads those that Recover() only lists. Corruption: bytes
  // were durable, and are gone.
  IOStatus CheckWhole() const;
  // Returns whether that, or that segments were missing, may be because another process writes it.
  bool is_doubtful() const { return contents_.damaged || contents_.broken; }

  uint64_t size() const override { return contents_.size; }
  uint64_t version() const override { return 0; }
  bool Locate(uint64_t offset, size_t n, Extent* extent, std::string* bytes) const override;
  std::unique_ptr<Window> TakeVerified() override;
  IOStatus Sync() override;
  IOStatus SyncFound(const std::shared_ptr<const Standby>& standby, std::chrono::milliseconds limit,
                     std::string* given_up) override;

 private:
  struct Contents {
    std::vector<uint64_t> early_segments;
    uint64_t early_end = 0;
    std::vector<uint64_t> unread_segments;  // early ones, if the spill has all of these, too
    uint64_t unread_end = 0;                // end of the log's bytes in them
    ExtentMap extents;
    std::unique_ptr<Spill> spill;
    std::vector<Run> runs;  // bytes that are in the stub only
    uint64_t size = 0;
    bool damaged = false;
    bool broken = false;         // its segments do not fit together
    uint64_t on_device = 0;      // bytes from 0 on that frames on the device have, or should
    uint64_t in_spill = 0;       // ... that those of the spill have
    bool is_whole_here = false;  // these and the stub have all of it
    uint64_t kept_window = 0;    // see Volume::KeepWindow(); 0 if there is none
  };

  RecoveredLog(const std::shared_ptr<Volume>& volume, FileSystem* target, std::string path,
               LogId id, Contents contents)
      : Log(volume, std::move(path), id, std::move(contents.early_segments), contents.early_end),
        target_(target),
        contents_(std::move(contents)) {}

  static IOStatus ScanEnd(const Volume& volume, const std::string& path, LogId log, Window* window,
                          Frames* frames, Contents* contents);
  static void Merge(const std::vector<Extent>& found, size_t on_device, Contents* contents);
  static bool IsWholeInSpill(uint64_t claimed, const Stub& stub, const Contents& contents);
  static void FindEnd(std::vector<Run> runs, Contents* contents);
  static void Lengthen(uint64_t claimed, Contents* contents);
  IOStatus CheckSegments(const std::vector<uint64_t>& segments, uint64_t end) const;
  IOStatus HasHole() const;
  IOStatus SyncHere();
  // Whether the device has what it should have in unread_segments.
  bool HasUnread() const;
  IOStatus GoOnHere();
  const Spill* spill() const override { return contents_.spill.get(); }

  FileSystem* const target_;
  const Contents contents_;
  std::atomic<bool> gave_up_{false};  // the log goes on without its file in the standby
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
