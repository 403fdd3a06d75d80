// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/standby.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/raw_wal_fs/stub.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr char kFramesName[] = ".frames";
constexpr char kLockName[] = "/STANDBY.lock";  // a database's is called LOCK

// The standbys that this process has open for writing, by uuid of the device and directory.
struct OpenTable {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<Standby>> standbys;
};

// Never destroyed: a FileSystem may be a static object that outlives it.
OpenTable& OpenStandbys() {
  static auto* table = new OpenTable();
  return *table;
}

std::string HexOf(const std::string& bytes) { return Slice(bytes).ToString(/*hex=*/true); }

IOStatus ReadMark(FileSystem* fs, const std::string& directory, StandbyMark* mark) {
  const std::string path = directory + Standby::kMarkName;
  std::unique_ptr<FSRandomAccessFile> file;
  IOStatus s = fs->NewRandomAccessFile(path, FileOptions(), &file, nullptr);
  if (!s.ok()) {
    return s.IsPathNotFound() ? IOStatus::NotFound(path) : s;
  }
  char scratch[StandbyMark::kSize];
  Slice bytes;
  s = file->Read(0, sizeof(scratch), IOOptions(), &bytes, scratch, nullptr);
  return s.ok() ? status_to_io_status(StandbyMark::Decode(bytes, path, mark)) : s;
}

// Tells directories apart, whatever their paths.
std::string KeyOf(const std::string& directory) {
  struct stat status;
  return stat(directory.c_str(), &status) == 0
             ? std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino)
             : directory;
}

// Takes the lock of who writes. Waits for a moment: another thread may be about to let go of it.
// Without `create` there is no lock, with OK, where there is no file: nobody has it then. Not by
// FileSystem::LockFile(): a FileSystem may be a static object, and what RocksDB knows of its locks
// is gone before that is.
IOStatus Lock(const std::string& directory, bool create, Descriptor* lock) {
  constexpr int kTries = 100;
  constexpr auto kPause = std::chrono::milliseconds(10);
  const std::string path = directory + kLockName;
  Descriptor fd(open(path.c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0644));
  if (fd.get() < 0) {
    return !create && errno == ENOENT
               ? IOStatus::OK()
               : IOStatus::IOError("standby=" + directory + ": open " + path, strerror(errno));
  }
  for (int i = 1; flock(fd.get(), LOCK_EX | LOCK_NB) != 0; i++) {
    if (errno != EWOULDBLOCK) {
      return IOStatus::IOError("standby=" + directory + ": lock " + path, strerror(errno));
    }
    if (i == kTries) {
      return IOStatus::Busy("standby=" + directory,
                            "is open for writing in another process; see 'fuser -v " + path + "'");
    }
    std::this_thread::sleep_for(kPause);
  }
  *lock = std::move(fd);
  return IOStatus::OK();
}

// Reads the mark of a device's standby. NotFound: the directory is nobody's. InvalidArgument: it is
// another device's.
IOStatus ReadMarkOf(FileSystem* fs, const std::string& directory, const std::string& uuid,
                    StandbyMark* mark) {
  IOStatus s = ReadMark(fs, directory, mark);
  return s.ok() && mark->uuid != uuid
             ? IOStatus::InvalidArgument("standby=" + directory,
                                         "is that of another log device, with uuid " +
                                             HexOf(mark->uuid) +
                                             ": give each device a directory of its own")
             : s;
}

IOStatus NoMark(const std::string& directory) {
  return IOStatus::InvalidArgument(
      "standby=" + directory,
      "has no file STANDBY: is it the right directory, and is its disk mounted?");
}

// Makes a directory that is nobody's the standby of a device.
IOStatus MakeMark(FileSystem* fs, const std::string& directory, const std::string& uuid,
                  StandbyMark* mark) {
  std::vector<std::string> names;
  IOStatus s = fs->GetChildren(directory, IOOptions(), &names, nullptr);
  for (const std::string& name : names) {
    if (s.ok() && Slice(name).ends_with(kFramesName)) {
      s = IOStatus::InvalidArgument("standby=" + directory,
                                    "has " + name + " of a log, and no file STANDBY: is it whole?");
    }
  }
  mark->uuid = uuid;
  s = s.ok() ? RandomBytes(kUuidSize, &mark->id) : s;
  return s.ok() ? ReplaceFile(fs, directory + Standby::kMarkName, mark->Encode()) : s;
}

}  // namespace

IOStatus Standby::OpenForWriting(const std::shared_ptr<FileSystem>& fs,
                                 const std::string& directory, const std::string& uuid,
                                 std::shared_ptr<Standby>* result) {
  bool is_directory = false;
  if (!fs->IsDirectory(directory, IOOptions(), &is_directory, nullptr).ok() || !is_directory) {
    return IOStatus::InvalidArgument("standby=" + directory,
                                     "is no directory: make it, or mount its disk");
  }
  return Open(fs, directory, uuid, Purpose::kLogs, result);
}

IOStatus Standby::OpenForReading(const std::shared_ptr<FileSystem>& fs,
                                 const std::string& directory, const std::string& uuid,
                                 std::shared_ptr<Standby>* result) {
  StandbyMark mark;
  IOStatus s = uuid.empty() ? ReadMark(fs.get(), directory, &mark)
                            : ReadMarkOf(fs.get(), directory, uuid, &mark);
  if (s.ok()) {
    result->reset(new Standby(fs, directory, mark, Descriptor()));
  }
  return s.IsNotFound() ? NoMark(directory) : s;
}

IOStatus Standby::OpenForTool(const std::shared_ptr<FileSystem>& fs, const std::string& directory,
                              const std::string& uuid, bool dry_run,
                              std::shared_ptr<Standby>* result) {
  return Open(fs, directory, uuid, dry_run ? Purpose::kDryRun : Purpose::kTool, result);
}

IOStatus Standby::Open(const std::shared_ptr<FileSystem>& fs, const std::string& directory,
                       const std::string& uuid, Purpose purpose, std::shared_ptr<Standby>* result) {
  std::lock_guard<std::mutex> guard(OpenStandbys().mutex);
  std::weak_ptr<Standby>& known = OpenStandbys().standbys[{uuid, KeyOf(directory)}];
  StandbyMark mark;
  IOStatus s = ReadMarkOf(fs.get(), directory, uuid, &mark);
  std::shared_ptr<Standby> open = known.lock();
  if (open != nullptr && s.ok() && mark.id == open->id()) {
    *result = std::move(open);
    return s;
  }
  open.reset();
  if (s.IsNotFound() && purpose != Purpose::kLogs) {
    return NoMark(directory);
  }
  Descriptor lock;
  if (s.ok() || s.IsNotFound()) {
    s = Lock(directory, /*create=*/purpose != Purpose::kDryRun, &lock);
  }
  if (s.ok()) {
    s = ReadMarkOf(fs.get(), directory, uuid, &mark);  // nobody else writes it now
  }
  const bool had_mark = s.ok();
  if (s.IsNotFound()) {
    s = purpose == Purpose::kLogs ? MakeMark(fs.get(), directory, uuid, &mark) : NoMark(directory);
  }
  std::shared_ptr<Standby> opened;
  if (s.ok()) {
    opened.reset(new Standby(fs, directory, mark, std::move(lock)));
  }
  if (had_mark && purpose == Purpose::kLogs) {
    s = KeepMark(opened);
  }
  if (s.ok()) {  // else nobody finds it, although the thread of KeepMark() may have it still
    if (purpose != Purpose::kDryRun) {
      known = opened;
    }
    *result = std::move(opened);
  }
  return s;
}

// Makes the name of a mark durable, which stubs will name: who made it may have been killed before
// that was so. Goes on if that takes too long, as it does while the standby does not answer.
IOStatus Standby::KeepMark(const std::shared_ptr<Standby>& standby) {
  IOStatus s = InTime(standby, kPatience,
                      [standby] { return SyncDirectory(standby->fs_.get(), standby->directory_); });
  return s.IsTimedOut() ? IOStatus::OK() : s;
}

// A child that was forked meanwhile has the descriptor still, and must not keep the lock. Nor does
// it let go of it when it ends.
Standby::~Standby() {
  if (lock_.get() >= 0 && getpid() == opened_by_) {
    flock(lock_.get(), LOCK_UN);
  }
}

IOStatus Standby::OfStub(const std::shared_ptr<FileSystem>& fs, const std::string& directory,
                         const std::string& path, const Stub& stub,
                         std::shared_ptr<Standby>* result) {
  if (stub.standby.empty() || (stub.on_device && directory.empty())) {
    result->reset();
    return IOStatus::OK();
  }
  const std::string wanted = "may go on in the standby with id " + HexOf(stub.standby);
  if (directory.empty()) {
    return IOStatus::InvalidArgument(path, wanted + ": give its directory as standby=");
  }
  IOStatus s;
  if (*result == nullptr || (*result)->id() != stub.standby) {
    StandbyMark mark;
    s = ReadMark(fs.get(), directory, &mark);
    result->reset(s.ok() ? new Standby(fs, directory, mark, Descriptor()) : nullptr);
  }
  if (s.IsNotFound() || (s.ok() && (*result)->id() != stub.standby)) {
    s = IOStatus::InvalidArgument(
        path, wanted + "; standby=" + directory +
                  " is not that one: is its disk mounted? If it is lost, 'rocktier wal export "
                  "--force', without --standby, takes what the device has");
  }
  if (!s.ok() && stub.on_device) {  // it needs none
    result->reset();
    s = IOStatus::OK();
  }
  return s;
}

std::string Standby::PathOf(LogId log) const {
  return directory_ + "/" + log.ToString() + kFramesName;
}

IOStatus Standby::CheckMark() const {
  StandbyMark mark;
  IOStatus s = ReadMark(fs_.get(), directory_, &mark);
  return s.IsNotFound() || (s.ok() && mark.id != id_)
             ? IOStatus::IOError("standby=" + directory_,
                                 "is another directory now: was it unmounted?")
             : s;
}

// Does not make the header durable: the frames behind it are, before anything is acknowledged.
IOStatus Standby::Begin(SegmentHeader header, const Superblock& superblock,
                        std::unique_ptr<Spill>* result) const {
  header.segment = SegmentHeader::kInStandby;
  Superblock of_file = superblock;
  of_file.block_size = kBlockSize;
  std::string block(kFramesAt, '\0');
  header.Encode(of_file, block.data());
  const std::string path = PathOf(header.log);
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = CheckMark();
  if (s.ok()) {
    s = fs_->NewWritableFile(path, FileOptions(), &file, nullptr);
  }
  if (s.ok()) {
    s = file->Append(block, IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Close(IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = SyncDirectory(fs_.get(), directory_);
  }
  if (s.ok()) {
    s = CheckMark();  // again: this is where the file is
  }
  return s.ok() ? Spill::Create(fs_.get(), path, kFramesAt, kBlockSize, result) : s;
}

IOStatus Standby::Find(const Stub& stub, const Superblock& superblock, Frames* frames,
                       std::unique_ptr<Spill>* result) const {
  SegmentHeader header;
  Superblock of_file;
  IOStatus s = ReadHeader(stub.log, &header, &of_file);
  if (!s.ok()) {
    return s;
  }
  of_file.segments = superblock.segments;
  of_file.segment_size = superblock.segment_size;
  return Spill::Find(fs_.get(), PathOf(stub.log), kFramesAt, stub, of_file, frames, result);
}

IOStatus Standby::Describe(LogId log, SegmentHeader* result) const {
  Superblock superblock;
  return ReadHeader(log, result, &superblock);
}

IOStatus Standby::ReadHeader(LogId log, SegmentHeader* header, Superblock* superblock) const {
  const std::string path = PathOf(log);
  std::unique_ptr<FSRandomAccessFile> file;
  IOStatus s = fs_->NewRandomAccessFile(path, FileOptions(), &file, nullptr);
  if (!s.ok()) {
    return s.IsPathNotFound() ? IOStatus::NotFound(path) : s;
  }
  std::string scratch(SegmentHeader::kSize, '\0');
  Slice bytes;
  s = file->Read(0, scratch.size(), IOOptions(), &bytes, scratch.data(), nullptr);
  if (!s.ok()) {
    return s;
  }
  // A loss of power may have left nothing but the name: nothing in it was acknowledged then.
  if (bytes.size() < SegmentHeader::kSize || IsZero(bytes.data(), SegmentHeader::kSize)) {
    return IOStatus::NotFound(path);
  }
  const bool is_ours = SegmentHeader::DecodeAny(bytes.data(), header, superblock) &&
                       superblock->uuid == uuid_ && header->log == log &&
                       header->segment == SegmentHeader::kInStandby;
  return is_ours ? s : IOStatus::Corruption(path, "has a damaged header");
}

IOStatus Standby::Adopt(LogId log, const DirectoryId& directory, const std::string& name,
                        const Superblock& superblock) const {
  SegmentHeader header;
  Superblock of_file;
  IOStatus s = ReadHeader(log, &header, &of_file);
  if (!s.ok()) {
    return s.IsNotFound() ? IOStatus::OK() : s;
  }
  header.directory = directory;
  header.name = name;
  of_file.epoch = superblock.epoch;
  std::string bytes(SegmentHeader::kSize, '\0');
  header.Encode(of_file, bytes.data());
  std::unique_ptr<FSRandomRWFile> file;
  s = fs_->NewRandomRWFile(PathOf(log), FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Write(0, bytes, IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Fsync(IOOptions(), nullptr);
  }
  return s.ok() ? file->Close(IOOptions(), nullptr) : s;
}

IOStatus Standby::Delete(LogId log) const {
  const std::string path = PathOf(log);
  IOStatus s;
  if (fs_->FileExists(path, IOOptions(), nullptr).ok()) {
    s = fs_->DeleteFile(path, IOOptions(), nullptr);
    s = s.ok() ? SyncDirectory(fs_.get(), directory_) : s;
  }
  return s;
}

IOStatus Standby::DescribeDevice(Superblock* result) const {
  std::vector<File> files;
  IOStatus s = List(&files);
  *result = Superblock();
  for (const File& file : files) {
    SegmentHeader header;
    Superblock superblock;
    if (s.ok() && ReadHeader(file.log, &header, &superblock).ok() &&
        (result->uuid.empty() || superblock.epoch > result->epoch)) {
      *result = superblock;
    }
  }
  return s.ok() && result->uuid.empty()
             ? IOStatus::NotFound("standby=" + directory_, "has nothing of a log")
             : s;
}

IOStatus Standby::List(std::vector<File>* files) const {
  std::vector<std::string> names;
  IOStatus s = fs_->GetChildren(directory_, IOOptions(), &names, nullptr);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    LogId log;
    if (!s.ok() || !LogId::Parse(name.substr(0, name.find('.')), &log) ||
        name != log.ToString() + kFramesName) {
      continue;
    }
    File file;
    s = Measure(log, &file);
    if (s.ok()) {
      files->push_back(file);
    }
    s = s.IsNotFound() ? IOStatus::OK() : s;  // deleted meanwhile
  }
  return s;
}

IOStatus Standby::Measure(LogId log, File* result) const {
  const std::string path = PathOf(log);
  result->log = log;
  IOStatus s = fs_->GetFileSize(path, IOOptions(), &result->bytes, nullptr);
  if (s.ok()) {
    s = fs_->GetFileModificationTime(path, IOOptions(), &result->time, nullptr);
  }
  return s.IsPathNotFound() ? IOStatus::NotFound(path) : s;
}

bool DescribeInStandby(const Standby* standby, LogId log, Volume::Segment* result) {
  SegmentHeader header;
  if (standby == nullptr || !standby->Describe(log, &header).ok()) {
    return false;
  }
  result->directory = header.directory;
  result->name = header.name;
  result->whole_name = header.whole_name;
  return true;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
