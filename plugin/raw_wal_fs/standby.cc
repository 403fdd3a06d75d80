// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/standby.h"

#include "plugin/raw_wal_fs/stub.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr char kMarkName[] = "/STANDBY";
constexpr char kFramesName[] = ".frames";

std::string HexOf(const std::string& bytes) { return Slice(bytes).ToString(/*hex=*/true); }

IOStatus WriteFile(FileSystem* fs, const std::string& path, const Slice& bytes) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs->NewWritableFile(path, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Append(bytes, IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Fsync(IOOptions(), nullptr);
  }
  return s.ok() ? file->Close(IOOptions(), nullptr) : s;
}

// Makes the directory the standby of a device: it has its mark, or it has none.
IOStatus WriteMark(FileSystem* fs, const std::string& directory, const StandbyMark& mark) {
  const std::string path = directory + kMarkName;
  IOStatus s = WriteFile(fs, path + ".tmp", mark.Encode());
  if (s.ok()) {
    s = fs->RenameFile(path + ".tmp", path, IOOptions(), nullptr);
  }
  return s.ok() ? SyncDirectory(fs, directory) : s;
}

IOStatus ReadMark(FileSystem* fs, const std::string& directory, StandbyMark* mark) {
  const std::string path = directory + kMarkName;
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

}  // namespace

IOStatus Standby::Open(FileSystem* fs, const std::string& directory, const std::string& uuid,
                       bool create, std::shared_ptr<Standby>* result) {
  bool is_directory = false;
  if (!fs->IsDirectory(directory, IOOptions(), &is_directory, nullptr).ok() || !is_directory) {
    return IOStatus::InvalidArgument("standby=" + directory,
                                     "is no directory: make it, or mount its disk");
  }
  StandbyMark mark;
  IOStatus s = ReadMark(fs, directory, &mark);
  if (s.IsNotFound() && create) {
    mark.uuid = uuid;
    s = RandomBytes(kUuidSize, &mark.id);
    s = s.ok() ? WriteMark(fs, directory, mark) : s;
  }
  if (s.ok() && mark.uuid != uuid) {
    s = IOStatus::InvalidArgument("standby=" + directory,
                                  "is that of another log device, with uuid " + HexOf(mark.uuid) +
                                      ": give each device a directory of its own");
  }
  if (s.ok()) {
    result->reset(new Standby(fs, directory, mark));
  }
  return s;
}

IOStatus Standby::OfStub(FileSystem* fs, const std::string& directory, const std::string& path,
                         const Stub& stub, std::shared_ptr<Standby>* result) {
  if (stub.standby.empty()) {
    result->reset();
    return IOStatus::OK();
  }
  const std::string wanted = "may go on in the standby with id " + HexOf(stub.standby);
  if (directory.empty()) {
    return IOStatus::InvalidArgument(path, wanted + ": give its directory as standby=");
  }
  IOStatus s = *result != nullptr ? IOStatus::OK()
                                  : Open(fs, directory, stub.uuid, /*create=*/false, result);
  if (s.IsNotFound() || (s.ok() && (*result)->id() != stub.standby)) {
    s = IOStatus::InvalidArgument(
        path, wanted + "; standby=" + directory + " is not that one: is its disk mounted?");
  }
  return s;
}

std::string Standby::PathOf(LogId log) const {
  return directory_ + "/" + log.ToString() + kFramesName;
}

// Does not make the header durable: the frames behind it are, before anything is acknowledged.
IOStatus Standby::Begin(SegmentHeader header, const Superblock& superblock,
                        std::unique_ptr<Spill>* result) const {
  header.segment = SegmentHeader::kInStandby;
  std::string block(kFramesAt, '\0');
  header.Encode(superblock, block.data());
  const std::string path = PathOf(header.log);
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs_->NewWritableFile(path, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Append(block, IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Close(IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = SyncDirectory(fs_, directory_);
  }
  return s.ok() ? Spill::Create(fs_, path, kFramesAt, result) : s;
}

IOStatus Standby::Find(const Stub& stub, const Superblock& superblock, Frames* frames,
                       std::unique_ptr<Spill>* result) const {
  SegmentHeader header;
  IOStatus s = Describe(stub.log, &header);
  if (s.IsNotFound()) {
    return IOStatus::OK();
  }
  return s.ok() ? Spill::Find(fs_, PathOf(stub.log), kFramesAt, stub, superblock, frames, result)
                : s;
}

IOStatus Standby::Describe(LogId log, SegmentHeader* result) const {
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
  const bool is_ours = SegmentHeader::Decode(bytes.data(), uuid_, result) && result->log == log &&
                       result->segment == SegmentHeader::kInStandby;
  return is_ours ? s : IOStatus::Corruption(path, "has a damaged header");
}

IOStatus Standby::Adopt(LogId log, const DirectoryId& directory, const std::string& name,
                        const Superblock& superblock) const {
  SegmentHeader header;
  IOStatus s = Describe(log, &header);
  if (!s.ok()) {
    return s.IsNotFound() ? IOStatus::OK() : s;
  }
  header.directory = directory;
  header.name = name;
  std::string bytes(SegmentHeader::kSize, '\0');
  header.Encode(superblock, bytes.data());
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
  return fs_->FileExists(path, IOOptions(), nullptr).ok()
             ? fs_->DeleteFile(path, IOOptions(), nullptr)
             : IOStatus::OK();
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
