// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/posix.h"
#include "plugin/raw_wal_fs/spill.h"
#include "plugin/raw_wal_fs/volume.h"
#include "rocksdb/file_system.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Why nobody knows whose a file in a standby is.
constexpr char kSaysNothing[] = "its file in the standby does not say whose it is";

// What a log has in the standby.
enum class StandbyMode : uint8_t {
  kFailover,  // its end, if the device stalls or fails
  kHedge,     // a copy of it; what one of the two has is acknowledged
  kMirror,    // a copy of it; what both have is acknowledged
};

// The directory of standby=, on another disk than the device: logs go on there while the device
// stalls or fails, or have a copy there. It has a file of each such log: the header of a segment,
// which says whose log it is, then frames. RawWalFileSystem opens it; LogWriter and StandbyCopy
// write to it. One device has it, and one process at a time writes to it; all FileSystems of that
// process share it.
//
// Constant once it is open. Thread-safe; one caller at a time for each log.
class Standby {
 public:
  // The file that says which device's a standby is.
  static constexpr char kMarkName[] = "/STANDBY";

  // Opens the directory for writing. It becomes the device's if it is nobody's, and holds nothing
  // of logs. InvalidArgument: it is not there, or another device's. Busy: another process writes to
  // it.
  static IOStatus OpenForWriting(const std::shared_ptr<FileSystem>& fs,
                                 const std::string& directory, const std::string& uuid,
                                 std::shared_ptr<Standby>* result);
  // Opens the device's standby for a tool that looks at it; any device's if `uuid` is empty.
  // InvalidArgument: it is not there, nobody's, or another device's.
  static IOStatus OpenForReading(const std::shared_ptr<FileSystem>& fs,
                                 const std::string& directory, const std::string& uuid,
                                 std::shared_ptr<Standby>* result);
  // Opens the device's standby for a tool that changes it. With `dry_run` it only keeps other
  // processes from writing to it as long as it is open. InvalidArgument as of OpenForReading();
  // Busy: another process writes to it.
  static IOStatus OpenForTool(const std::shared_ptr<FileSystem>& fs, const std::string& directory,
                              const std::string& uuid, bool dry_run,
                              std::shared_ptr<Standby>* result);
  // Finds the standby that the stub at `path` names: null, with OK, if it names none, or one that
  // is not at hand and not needed. Opens that of `directory` for reading, if *result is not open.
  // InvalidArgument: there is none, or it is another one.
  static IOStatus OfStub(const std::shared_ptr<FileSystem>& fs, const std::string& directory,
                         const std::string& path, const Stub& stub,
                         std::shared_ptr<Standby>* result);
  ~Standby();
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  // Begins the file of a log, whose header is `header`. Its name is durable when this returns, and
  // its frames have blocks of kBlockSize. IOError: the directory is not the one that was opened, as
  // after its disk was unmounted.
  IOStatus Begin(SegmentHeader header, const Superblock& superblock,
                 std::unique_ptr<Spill>* result) const;
  // Finds the frames of a log that is not being written, as Spill::Find() does. NotFound: there is
  // nothing of it here.
  IOStatus Find(const Stub& stub, const Superblock& superblock, Frames* frames,
                std::unique_ptr<Spill>* result) const;
  // Finds whose log it is. NotFound: there is nothing of the log here. Corruption: a damaged
  // header.
  IOStatus Describe(LogId log, SegmentHeader* result) const;
  // Writes another directory and name into a log's header, durably. OK if there is nothing of it.
  IOStatus Adopt(LogId log, const DirectoryId& directory, const std::string& name,
                 const Superblock& superblock) const;
  // Deletes what is here of a log, if anything is.
  IOStatus Delete(LogId log) const;
  // The same, and waits for kPatience at most. TimedOut: it goes on. Holds the standby meanwhile.
  // IOError: no thread can be had for it.
  static IOStatus DeleteInTime(const std::shared_ptr<const Standby>& standby, LogId log);
  // Makes durable what an earlier process has written of a log, and waits for `limit` at most, as
  // DeleteInTime() does.
  static IOStatus SyncInTime(const std::shared_ptr<const Standby>& standby, LogId log,
                             std::chrono::milliseconds limit);
  // Finds what the newest log says of the device: uuid, geometry and epoch. NotFound: no log.
  IOStatus DescribeDevice(Superblock* result) const;

  // Notes that a call has not come back in time, as long as the result lives.
  std::shared_ptr<void> NoteStuck() const;
  // Returns whether all calls have come back.
  bool answers() const { return stuck_->load(std::memory_order_acquire) == 0; }
  // Returns the error for one that has not.
  IOStatus TimedOut(std::chrono::milliseconds limit) const;
  // Returns the error for a call that cannot be made with a limit.
  IOStatus NoThread() const;

  // A log's file, whatever is in it.
  struct File {
    LogId log;
    uint64_t bytes = 0;
    uint64_t time = 0;  // when it was written last, in seconds since 1970
  };
  // Lists the files of logs, by id.
  IOStatus List(std::vector<File>* files) const;
  // Finds how long a log's file is, and how old. NotFound: there is none.
  IOStatus Measure(LogId log, File* result) const;

  const std::string& id() const { return id_; }
  const std::string& directory() const { return directory_; }

 private:
  // How long it may take to delete, or to open: nobody waits for that who writes.
  static constexpr std::chrono::milliseconds kPatience{5000};
  // Where the frames begin in a log's file, and the unit of their size.
  static constexpr uint64_t kFramesAt = 4096;
  static constexpr uint32_t kBlockSize = 512;

  Standby(std::shared_ptr<FileSystem> fs, std::string directory, const StandbyMark& mark,
          Descriptor lock)
      : fs_(std::move(fs)),
        directory_(std::move(directory)),
        uuid_(mark.uuid),
        id_(mark.id),
        lock_(std::move(lock)) {}
  // Why a directory is opened.
  enum class Purpose : uint8_t { kLogs, kTool, kDryRun };
  static IOStatus Open(const std::shared_ptr<FileSystem>& fs, const std::string& directory,
                       const std::string& uuid, Purpose purpose, std::shared_ptr<Standby>* result);
  static IOStatus KeepMark(const std::shared_ptr<Standby>& standby);
  // Calls work(), and waits for `limit` at most. TimedOut: it goes on. Holds the standby meanwhile.
  // NoThread(): it was not called.
  static IOStatus InTime(const std::shared_ptr<const Standby>& standby,
                         std::chrono::milliseconds limit, const std::function<IOStatus()>& work);
  IOStatus SyncFound(LogId log) const;
  std::string PathOf(LogId log) const;
  // Reads a log's header, and what it says of the device and of its frames. Errors as of
  // Describe().
  IOStatus ReadHeader(LogId log, SegmentHeader* header, Superblock* superblock) const;
  // Checks that the directory is the one that was opened.
  IOStatus CheckMark() const;

  const std::shared_ptr<FileSystem> fs_;
  const std::string directory_;
  const std::string uuid_;  // the device's
  const std::string id_;
  const Descriptor lock_;  // none: for reading, or a dry run where nobody has written yet
  const pid_t opened_by_ = getpid();
  // How many calls have not come back.
  const std::shared_ptr<std::atomic<int>> stuck_ = std::make_shared<std::atomic<int>>(0);
};

// Finds the header of a log that is in the standby alone. False if there is none, or no standby.
bool DescribeInStandby(const Standby* standby, LogId log, Volume::Segment* result);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
