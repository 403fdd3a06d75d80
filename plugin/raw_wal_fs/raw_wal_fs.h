// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// raw_wal_fs: a FileSystem that keeps RocksDB's write-ahead logs on a log device, which is a block
// device or a preallocated file. A synchronous write then costs one device write and one flush, and
// no metadata of a file system. RocksDB, its log format and its recovery are unchanged.
//
// Source: "MyWAL: performance optimization by removing redundant input/output stack in key-value
// store", sections 3 and 4.
//
// Words: a stub is the plain file under a log's own name in the target FileSystem, which has all
// other files. A segment is the unit in which the device is shared out among logs, and a frame is a
// piece of a log in a segment. README.md is the introduction, REFERENCE.md has everything else.

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

// Says what happens to a log that finds no room on the device.
enum class OnFull {
  // The log goes to the target FileSystem: a new log as a plain file, one that is being written in
  // its stub. The LOG has a warning.
  kSpill,
  // The write fails with IOStatus::NoSpace, and so do all later ones until RocksDB resumes: by
  // itself after some seconds, or when DB::Resume() is called. RocksDB then flushes, deletes the
  // logs and goes on with a new one. What the old log had taken, and what is written to it again
  // when RocksDB resumes, goes to the target.
  kFail,
};

// Says when a write with sync is acknowledged, if there is a standby.
enum class Durable {
  kOne,   // when one has it: the device, or, while that stalls or fails, the standby
  kBoth,  // when both have it: a mirror. While one of them stalls or fails, when the other has it
};

// Options of a RawWalFileSystem and of the functions for tools. All but `force` and `dry_run` can
// be set by name from strings: "id=RawWalFileSystem;device=...;size=8G;...". Sizes there may end in
// K, M, G or T. A value out of range is InvalidArgument, which names the option. Not thread-safe:
// set them before they are used. Once a FileSystem has its device open, none can be set by name.
struct RawWalOptions {
  static const char* kName() { return "RawWalOptions"; }

  // Path of a block device or a regular file. Required. InvalidArgument if it is anything else, or
  // holds anything but a log device.
  std::string device;

  // Bytes of a regular file that is made if `device` does not exist, when it is first opened for
  // writing. It is rounded down to 1 MiB and whole segments, and written once, so that its blocks
  // are allocated. Default: 0, the device must exist. Range: 1 MiB and one segment, or more, up to
  // 2^24 segments. No effect on a device that exists: opening never formats one.
  uint64_t size = 0;

  // Bytes of a segment. Default: 4M. Range: a power of two from 64K to 1G. Each open log holds at
  // least one. Small ones waste less in small logs, large ones allow larger devices: a device has
  // at most 2^24 segments. No effect on a device that is formatted.
  uint64_t segment_size = 4 << 20;

  // Bytes of the unit of a write. Default: 0, which is 512 for a device whose physical blocks have
  // 512 bytes, else, and for regular files, 4096. Range: 0, 512, 4096. 512 saves space where syncs
  // are small, on devices that write 512 bytes without touching their neighbours. InvalidArgument
  // if direct I/O to the device needs larger units. No effect on a device that is formatted.
  uint32_t block_size = 0;

  // What happens when the device is full; "spill" or "fail" in strings. Default: spill.
  OnFull on_full = OnFull::kSpill;

  // Bytes of each open log that stay in the page cache until a sync, or until half of it is full.
  // Default: 512K. Range: a multiple of 8K from 32K to 64M. More means larger writes to the device
  // where nothing syncs; it costs memory and page cache per open log.
  uint64_t tail_size = 512 << 10;

  // Absolute path of a directory on another disk than `device`. Logs go on there when the device
  // takes longer than failover_latency, or fails; new ones begin there until it is well again. It
  // must exist, and belongs to one device. Default: empty, there is none. A log that was begun with
  // a standby is only read with it.
  std::string standby;

  // Whether each log is written to the device and to the standby, and a write with sync returns as
  // soon as one of them has it. The other one gets it as soon as it can: who loses a disk may lose
  // what was acknowledged last. Default: false. InvalidArgument without a standby, or with
  // Durable::kBoth.
  bool hedge = false;

  // With kBoth, "durable=both", the standby is a mirror: each log is whole on the device and in the
  // standby. One that takes longer than failover_latency, or fails, is left out until the next log
  // is begun; the LOG has a warning, and RawWalStats::degraded is not 0. Default: kOne, "one".
  // InvalidArgument without a standby.
  Durable durable = Durable::kOne;

  // Milliseconds that a write to the device may take if there is a standby; with `hedge` or
  // Durable::kBoth one to the standby, too. Default: 100. Range: 1
  // to 60000. It is well again when it answers within a quarter of it.
  uint64_t failover_latency = 100;

  // Seconds for which the device must be well before new logs begin there again. Default: 15.
  // Range: 0 to 86400.
  uint64_t failback_after = 15;

  // Seconds after which the statistics file of each open database is renewed: OpenMetrics' text. It
  // goes when the database is closed. Default: 1. Range: up to 86400; 0: there is none.
  uint64_t metrics_interval = 1;

  // Absolute path of one file for all databases, in the place of rocktier_raw_wal_fs.prom in the
  // directory of each. Ends in ".prom"; its directory must exist. Default: empty.
  std::string metrics_file;

  // Only for the functions for tools; cannot be set by name. Default: false.
  // FormatLogDevice(), RemoveLogs(): do it even if that destroys something.
  // ExportLogs(): take logs of which a part is missing, too.
  // RecoverLogDevice(), AdoptLogs(): change something instead of only saying what there is.
  bool force = false;

  // Only for the functions for tools; cannot be set by name. Default: false. FormatLogDevice(),
  // RemoveLogs(), RecoverLogDevice(), AdoptLogs(), ExportLogs(), ImportLogs(): change nothing, and
  // say what they would do. They refuse what they would refuse without it, as far as that can be
  // known before anything is written.
  bool dry_run = false;
};

// X(name, type, unit, description). Counters count from the moment at which this process opened the
// device, gauges are as it is now. All FileSystems of the process that write to the device share
// them. Properties, metrics and the block in the LOG follow from the list.
#define RAW_WAL_STATS(X)                                                                        \
  X(appends, counter, "count", "appends to logs on the device")                                 \
  X(appended_bytes, counter, "bytes", "bytes appended to logs on the device")                   \
  X(syncs, counter, "count", "syncs that had something to do")                                  \
  X(frames, counter, "count", "frames written")                                                 \
  X(written_bytes, counter, "bytes", "bytes written to the device: frames, headers, padding")   \
  X(padding_bytes, counter, "bytes", "bytes written that are neither header nor of a log")      \
  X(repeated_bytes, counter, "bytes", "bytes written again to share a block with new ones")     \
  X(logs_created, counter, "count", "logs created on the device")                               \
  X(logs_deleted, counter, "count", "logs deleted from the device")                             \
  X(logs_spilled, counter, "count", "logs that went to the target FileSystem for want of room") \
  X(failovers, counter, "count", "logs that went on, or began, in the standby")                 \
  X(copies_lost, counter, "count", "logs that lost one of two copies (hedge, durable=both)")    \
  X(degraded, gauge, "count", "logs being written with one copy instead of two")                \
  X(stalls, counter, "count", "times that the device stalled or failed beside a standby")       \
  X(stalled, gauge, "count", "1 while new logs begin in the standby")                           \
  X(io_errors, counter, "count", "failed reads, writes and flushes of the device")              \
  X(segments, gauge, "count", "segments on the device")                                         \
  X(segments_used, gauge, "count", "segments that belong to a log")                             \
  X(segments_damaged, gauge, "count", "segments with a damaged header: neither used nor free")  \
  X(sync_p50_us, gauge, "us", "median of the time of a sync")                                   \
  X(sync_p99_us, gauge, "us", "99th percentile of the time of a sync")                          \
  X(sync_max_us, gauge, "us", "longest time of a sync")

// A snapshot of the counters: a plain value.
struct RawWalStats {
#define X(name, type, unit, description) uint64_t name = 0;
  RAW_WAL_STATS(X)
#undef X
  // Returns one line per counter: "    name : value unit".
  std::string ToString() const;
  // Returns one JSON object on one line.
  std::string ToJson() const;
};

// Makes a FileSystem whose write-ahead logs are on options.device and whose other files are in
// `target` (FileSystem::Default() if null). Checks the options and looks at the device, and changes
// nothing: the device is made, if it must be, and opened for writing when a database is locked or
// the first log is written. It stays open until the last FileSystem of this process that uses it is
// gone. The result is thread-safe, as all FileSystems are.
//
// InvalidArgument: an option is not sound, or the device holds something else; both are named.
// NotSupported: the device has another version of the format. Corruption: a damaged superblock.
// Later, from DB::Open(), Busy: the device is open for writing in another process.
Status NewRawWalFileSystem(const RawWalOptions& options, const std::shared_ptr<FileSystem>& target,
                           std::shared_ptr<FileSystem>* result);

// Copies the counters of `fs`, which is a RawWalFileSystem or wraps one; else InvalidArgument. All
// are 0 before the device was opened. Thread-safe.
Status GetRawWalStats(const FileSystem* fs, RawWalStats* stats);

// Sets *value to one of these figures, in base units: "rocktier.raw_wal_fs.NAME", as in
// "rocktier.raw_wal_fs.appended_bytes". The names are in docs/metrics.md. False, and *value stays:
// there is no such property, or `fs` is not a RawWalFileSystem, and wraps none. Thread-safe.
bool GetRawWalProperty(const FileSystem* fs, const std::string& property, std::string* value);

// Returns all figures in OpenMetrics' text format, with the device as the label `device`. Empty if
// `fs` is not a RawWalFileSystem, and wraps none. Thread-safe.
std::string RawWalMetricsText(const FileSystem* fs);

// --- For tools. None of these needs an open database. They use the default FileSystem. ---
//
// Each may be called from any thread. `progress` is called by the calling thread.

// Is told how many units are done, of all.
using RawWalProgress = std::function<void(uint64_t done, uint64_t total)>;

// A frame, as `rocktier wal dump` shows it.
struct RawWalFrame {
  uint64_t position = 0;  // bytes from the beginning of the device
  uint64_t offset = 0;    // in the log, of the frame's first byte
  uint32_t length = 0;    // bytes of the log in the frame
  uint64_t durable = 0;   // bytes of the log that were durable before the frame was written
};

// A log on the device, or in its standby. Without a scan `id`, `name` and `segments` are filled in,
// and what is known of a log that is in the standby alone.
struct RawWalLogInfo {
  std::string id;         // 32 hexadecimal digits; "EPOCH:COUNTER" if version 1 wrote it
  std::string name;       // the path under which it was created or adopted, or the end of that
  uint64_t segments = 0;  // of the device that it has
  uint64_t bytes = 0;     // on the device; what is only in the stub comes on top
  uint64_t durable = 0;   // bytes that some frame says were durable
  std::vector<RawWalFrame> frames;  // by position
  std::string problem;              // empty if it is sound
  std::string file;                 // where its stub is now, if that is known
  // The directory in which the log was created is there, and neither it nor its archive has the
  // stub. A stub that was moved elsewhere, as to lost/ by RepairDB(), is not seen.
  bool missing = false;
  std::string unknown;  // why it is not known whether there is a stub
  // Whether it has a file in the standby, if that was looked at: alone if it has no segments.
  bool in_standby = false;
  uint64_t standby_bytes = 0;  // of that file
  uint64_t standby_time = 0;   // when it was written last, in seconds since 1970
};

// Describes a log device, as its superblock and its headers do.
struct RawWalDeviceInfo {
  std::string uuid;                        // hexadecimal
  uint32_t block_size = 0;                 // bytes; frames begin at a multiple of it
  uint64_t segment_size = 0;               // bytes
  uint64_t segments = 0;                   // of the device
  uint64_t segments_used = 0;              // that logs have
  uint64_t segments_free = 0;              // that a log can get
  std::vector<uint64_t> segments_damaged;  // their numbers
  uint64_t epoch = 0;                      // raised each time the device is opened for writing
  std::vector<RawWalLogInfo> logs;         // by id; those that are in the standby alone come last
};

// Makes an empty log device of options.device. If nothing is there, makes a file of options.size
// bytes; a size is refused if something is there. `made`, if not null: what it has, or would have
// with options.dry_run; `uuid` is empty then, and no logs are looked for. Progress: bytes.
// InvalidArgument: an option is not sound, there is no room for a segment, or, unless
// options.force, the device is not blank: log devices are not. Busy: it is mounted, or open for
// writing in another process.
Status FormatLogDevice(const RawWalOptions& options, const RawWalProgress& progress = nullptr,
                       RawWalDeviceInfo* made = nullptr);

// Says what is on a log device, and changes nothing. With `scan` every frame is read and verified,
// and the logs' stubs are looked for. A device in use may be looked at; what is said of a log that
// is being written is approximate then. `standby`: the directory of the device's standby, if its
// files are wanted, too; their frames are not read. Progress: segments.
// InvalidArgument: it is no log device; says what it holds. Or the standby is not this device's.
// Corruption: a damaged superblock.
Status InspectLogDevice(const std::string& device, bool scan, RawWalDeviceInfo* info,
                        const RawWalProgress& progress = nullptr, const std::string& standby = "");

// Looks for the segments of a log device whose superblocks are gone, and says what they tell. With
// options.force writes the superblocks anew, and nothing else. Finds what version 2 of the format
// wrote. `info->segments_used`: segments that have a header. Progress: bytes.
// NotFound: no segments. InvalidArgument: the device has a superblock, or segments of several
// devices. Busy, with options.force: it is open for writing in another process.
Status RecoverLogDevice(const RawWalOptions& options, RawWalDeviceInfo* info,
                        const RawWalProgress& progress = nullptr);

// Frees the segments of logs that nobody knows any more, such as those of a database that was
// deleted without RocksDB, and, with options.standby, deletes their files there. If one of them may
// be known, none is freed. `removed`: what was freed; only id, name, segments and what is of the
// standby are filled in. Opens the device for writing, which raises its epoch, but not with
// options.dry_run.
// Busy: the device or the standby is open for writing in another process, or this one writes the
// log. NotFound: no such log. InvalidArgument: no id of a log, or its stub is there, or might be;
// or the standby is not this device's. Whether there is a stub is not asked with options.force,
// which leaves a database without its log.
Status RemoveLogs(const RawWalOptions& options, const std::vector<std::string>& ids,
                  std::vector<RawWalLogInfo>* removed);

// Says what an adoption does, or would do.
struct RawWalAdoption {
  // Stubs of the database whose logs are another directory's, and would be this one's.
  std::vector<std::string> foreign;
  std::vector<std::string> losers;   // stubs in that directory of the same logs
  std::vector<std::string> missing;  // stubs of the database whose log is not on the device
  // Logs, with their names, that were created under a path of this database and have no stub in it:
  // a newer state of it may have had them. They stay on the device.
  std::vector<std::string> unnamed;
};

// Makes the logs of a closed database its own. For a database that is refused because it was
// copied, moved to another file system, or put back from a copy. Deletes nothing. Without
// options.force only says what would become of what: only the operator can know whether there is a
// newer copy, which would lose these logs. Opens the device for writing in either case, which
// raises its epoch; not with options.dry_run, which is else the same as without options.force.
// After a crash it can be run again.
// Busy: the device or the standby is open for writing in another process, or a log is being
// written. IOError: the database is open. Corruption: the device is older than the database.
// InvalidArgument: there is no database, or its logs are on another device.
Status AdoptLogs(const RawWalOptions& options, const std::string& database, RawWalAdoption* result);

// Turns the logs of a closed database into plain files, so that stock RocksDB opens it. `database`
// is its folder; the newest OPTIONS file there says where the logs and their archive are (wal_dir).
// `logs`: how many there are, or, with options.dry_run, would be. After a crash it can be run
// again. Opens the device for writing, but not with options.dry_run. Progress: bytes.
// Corruption: a part of a log is missing. With options.force the plain log has bytes in its place
// that RocksDB reports by the rules of wal_recovery_mode. Busy: the device is open for writing in
// another process. IOError: the database is open. InvalidArgument: there is no database, or it is a
// copy whose logs are another directory's.
Status ExportLogs(const RawWalOptions& options, const std::string& database, uint64_t* logs,
                  const RawWalProgress& progress = nullptr);

// Brings the plain logs of a closed database onto the device: the way back from ExportLogs(), with
// the same arguments and errors. NoSpace: the device has no room for a log; those before it were
// moved. With options.dry_run room is not looked for.
Status ImportLogs(const RawWalOptions& options, const std::string& database, uint64_t* logs,
                  const RawWalProgress& progress = nullptr);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
