// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// raw_wal_fs: a FileSystem that keeps RocksDB's write-ahead logs on a raw device or in a preallocated
// file, so that a synchronous write costs one device write and one flush and no metadata of a file
// system. After "MyWAL: performance optimization by removing redundant input/output stack in
// key-value store", sections 3 and 4. RocksDB, its log format and its recovery are as they were.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/file_system.h"
#include "rocksdb/io_status.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// What happens to a log that finds no room on the device.
enum class OnFull {
  kSpill,  // it goes to the target FileSystem, as stock RocksDB would have it
  // A write fails with IOStatus::NoSpace. RocksDB, by itself or when DB::Resume() is called, then flushes, lets
  // the logs go and goes on with a new one. What the log had taken, and what is written to it again when
  // RocksDB resumes, goes to the target.
  kFail,
};

// Options can be set by name from strings: "id=RawWalFileSystem;device=...;size=8G;...".
struct RawWalOptions {
  static const char* kName() { return "RawWalOptions"; }

  // Block device, or regular file. Required.
  std::string device;

  // Bytes of a regular file that is created, and written once so that its blocks are allocated, if
  // `device` does not exist. 0, the default: it must exist. Of no effect on one that does.
  uint64_t size = 0;

  // Bytes of the units in which the device is shared out among logs: a power of two from 64K to 1G.
  // Each open log holds at least one. Default: 4M. Of no effect on a device that is formatted.
  uint64_t segment_size = 4 << 20;

  // Bytes of the unit of a write: 512, 4096, or 0, the default: the device's physical block size. 512
  // saves space where syncs are small, on devices that write 512 bytes without touching their
  // neighbours. Of no effect on a device that is formatted.
  uint32_t block_size = 0;

  // Default: spill.
  OnFull on_full = OnFull::kSpill;

  // Bytes of each open log that are held in the page cache until a Sync() or until there is half as much:
  // 32K to 64M, a multiple of 8K. Default: 512K.
  uint64_t tail_size = 512 << 10;

  // For the functions for tools only, and not to be set by name. FormatLogDevice(), RemoveLogs(): do it even if that
  // destroys something. ExportLogs(): take logs of which a part is missing. RecoverLogDevice(): write. AdoptLogs(): the
  // same. Default: false.
  bool force = false;
};

// One line per counter: name, unit, description. All since the device was opened, in this process.
#define RAW_WAL_STATS(X)                                                               \
  X(appends, "count", "appends to logs on the device")                                 \
  X(appended_bytes, "bytes", "appended to logs on the device")                         \
  X(syncs, "count", "syncs that had something to do")                                  \
  X(frames, "count", "frames written")                                                 \
  X(written_bytes, "bytes", "written to the device: frames, headers, padding")         \
  X(padding_bytes, "bytes", "written that are neither header nor of a log")            \
  X(repeated_bytes, "bytes", "of a log written again to share a block with new ones")  \
  X(logs_created, "count", "logs created on the device")                               \
  X(logs_deleted, "count", "logs deleted from the device")                             \
  X(logs_spilled, "count", "logs that went to the target FileSystem for want of room") \
  X(io_errors, "count", "failed reads, writes and flushes of the device")              \
  X(segments, "count", "on the device")                                                \
  X(segments_used, "count", "that belong to a log")                                    \
  X(segments_damaged, "count", "whose header is damaged; neither used nor free")       \
  X(sync_p50_us, "us", "median of the time of a sync")                                 \
  X(sync_p99_us, "us", "99th percentile of the time of a sync")                        \
  X(sync_max_us, "us", "longest time of a sync")

struct RawWalStats {
#define X(name, unit, description) uint64_t name = 0;
  RAW_WAL_STATS(X)
#undef X
  std::string ToString() const;
  std::string ToJson() const;
};

// A FileSystem whose write-ahead logs are on options.device and whose other files are in `target`
// (FileSystem::Default() if null). Opens the device when the first log is touched, or here if it must be
// created or formatted. Thread-safe, as all FileSystems are.
// InvalidArgument: an option is not sound or the device holds something else; both are named.
Status NewRawWalFileSystem(const RawWalOptions& options, const std::shared_ptr<FileSystem>& target,
                           std::shared_ptr<FileSystem>* result);

// InvalidArgument if `fs` is not a RawWalFileSystem, or wraps none.
Status GetRawWalStats(const FileSystem* fs, RawWalStats* stats);

// --- For tools. None of these needs a database. ---

// Units done, of all.
using RawWalProgress = std::function<void(uint64_t done, uint64_t total)>;

// Makes an empty log device of options.device; a file of options.size bytes if it does not exist, and only then
// with a size. Refuses what is not blank, logs of ours included, unless options.force.
Status FormatLogDevice(const RawWalOptions& options, const RawWalProgress& progress = nullptr);

// A frame, as rocktier wal dump shows it.
struct RawWalFrame {
  uint64_t position = 0;  // bytes from the beginning of the device
  uint64_t offset = 0;    // of its first byte in the log
  uint32_t length = 0;    // bytes of the log
  uint64_t durable = 0;   // of the log, when the frame was written
};

struct RawWalLogInfo {
  std::string id;
  std::string name;  // the path under which it was created, or the end of that
  uint64_t segments = 0;
  uint64_t bytes = 0;    // on the device; what is in the stub's tail comes on top
  uint64_t durable = 0;  // bytes that some frame says were durable
  std::vector<RawWalFrame> frames;
  std::string problem;  // empty if it is sound
  std::string file;     // where its file is now, if that is known
  // There is no file of it in the directory in which it was created, nor in the archive there. Then nobody knows
  // the log any more, unless the database was moved.
  bool missing = false;
  std::string unknown;  // why it is not known whether there is a file
};

struct RawWalDeviceInfo {
  std::string uuid;  // hexadecimal
  uint32_t block_size = 0;
  uint64_t segment_size = 0;
  uint64_t segments = 0;
  uint64_t segments_used = 0;
  uint64_t segments_free = 0;
  std::vector<uint64_t> segments_damaged;  // their numbers
  uint64_t epoch = 0;
  std::vector<RawWalLogInfo> logs;  // by id
};

// Says what is on a log device, without changing it. With `scan` every frame is read and verified, else
// the logs have no bytes and frames. A device in use may be looked at; what is said of a log that is being
// written is then approximate.
Status InspectLogDevice(const std::string& device, bool scan, RawWalDeviceInfo* info,
                        const RawWalProgress& progress = nullptr);

// Looks for the segments of a log device whose superblocks are gone, says what they tell, and, with options.force,
// writes the superblocks anew. Finds what version 2 of the format wrote. NotFound: no segments. InvalidArgument: the
// device has a superblock, or segments of several devices.
Status RecoverLogDevice(const RawWalOptions& options, RawWalDeviceInfo* info,
                        const RawWalProgress& progress = nullptr);

// Frees the segments of logs that nobody knows any more, such as those of a database that was deleted without
// RocksDB. All or, if one may be known, none. `removed`: what was freed; bytes and frames are not filled in.
// Busy: the device is open for writing in another process. NotFound: no such log. InvalidArgument: its file is
// there, or might be; not with options.force, which leaves a database without its log.
Status RemoveLogs(const RawWalOptions& options, const std::vector<std::string>& ids,
                  std::vector<RawWalLogInfo>* removed);

struct RawWalAdoption {
  std::vector<std::string>
      foreign;  // files of the database whose logs are another directory's, and would be this one's
  std::vector<std::string> losers;   // files there of the same logs
  std::vector<std::string> missing;  // files of the database whose log is not on the device
  // Logs, with their names, that are of this database by the path under which they were created, and that have no file in
  // it: a newer state of it may have had them. They stay on the device.
  std::vector<std::string> unnamed;
};

// Makes the logs of a closed database its own: of one that is not opened because it was copied, to another place or file
// system, or put back from a copy. Without options.force only says what would become of what: that there is another copy,
// perhaps a newer one, whose logs these are as well, only the operator can know.
// Busy, IOError: the device or the database is open. Corruption: the device is older than the database.
Status AdoptLogs(const RawWalOptions& options, const std::string& database, RawWalAdoption* result);

// Turns the logs of a closed database into plain files, so that stock RocksDB opens it. `database`: its folder;
// where its logs are, and their archive, is in its OPTIONS file (wal_dir). After a crash it can be run again. Bytes
// of progress. Corruption: a part of a log is missing; with options.force the plain log has bytes in its place that
// RocksDB reports by the rules of wal_recovery_mode. IOError: the database is open. InvalidArgument: there is no database.
Status ExportLogs(const RawWalOptions& options, const std::string& database, uint64_t* logs,
                  const RawWalProgress& progress = nullptr);

// Brings the plain logs of a closed database onto the device.
Status ImportLogs(const RawWalOptions& options, const std::string& database, uint64_t* logs,
                  const RawWalProgress& progress = nullptr);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
