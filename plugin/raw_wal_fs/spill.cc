// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/spill.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "plugin/raw_wal_fs/posix.h"
#include "plugin/raw_wal_fs/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// Tells where holes of a file end: there are no frames in them, and somebody may have made it as
// large as a file can be, of which nobody could read all. Knows none of a file that is not found
// under its path.
class Holes {
 public:
  Holes(const std::string& path, uint64_t size)
      : size_(size), fd_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    struct stat status;
    is_known_ = fd_.get() >= 0 && fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                static_cast<uint64_t>(status.st_size) == size;
  }

  // Returns the first byte from `at` on that is in no hole, the size of the file if there is none.
  uint64_t EndAt(uint64_t at) const {
    if (!is_known_) {
      return at;
    }
    const off_t next = lseek(fd_.get(), static_cast<off_t>(at), SEEK_DATA);
    if (next < 0) {
      return errno == ENXIO ? size_ : at;
    }
    return std::max(at, static_cast<uint64_t>(next));
  }

 private:
  const uint64_t size_;
  const Descriptor fd_;
  bool is_known_ = false;
};

}  // namespace

IOStatus Spill::Create(FileSystem* target, const std::string& path, uint64_t begin,
                       uint32_t block_size, std::unique_ptr<Spill>* result) {
  std::unique_ptr<Spill> spill(new Spill(path, begin, block_size));
  IOStatus s = target->ReopenWritableFile(path, FileOptions(), &spill->writer_, nullptr);
  if (s.ok()) {
    s = target->NewRandomAccessFile(path, FileOptions(), &spill->reader_, nullptr);
  }
  if (s.ok()) {
    *result = std::move(spill);
  }
  return s;
}

IOStatus Spill::Find(FileSystem* target, const std::string& path, uint64_t begin, const Stub& stub,
                     const Superblock& superblock, Frames* frames, std::unique_ptr<Spill>* result) {
  const uint32_t block_size = superblock.block_size;
  uint64_t size;
  IOStatus s = target->GetFileSize(path, IOOptions(), &size, nullptr);
  if (!s.ok() || size <= begin) {
    return s;
  }
  std::unique_ptr<Spill> spill(new Spill(path, size, block_size));
  s = target->NewRandomAccessFile(path, FileOptions(), &spill->reader_, nullptr);
  if (!s.ok()) {
    return s;
  }
  const Holes holes(path, size);
  std::string frame;
  bool whole = true;  // frames follow one another; the first that is not whole is the end
  for (uint64_t at = begin; s.ok() && at + block_size <= size;) {
    FrameHeader header;
    s = spill->ReadFrame(at, stub, &frame, &header);
    if (s.IsNotFound()) {
      s = IOStatus::OK();
      whole = false;
      at += block_size;
      at += (holes.EndAt(at) - at) / block_size * block_size;
      continue;
    }
    if (s.ok()) {
      s = status_to_io_status(header.CheckBounds(superblock.Capacity() + size,
                                                 path + ": frame at " + std::to_string(at)));
    }
    if (s.ok() && whole) {
      frames->extents.push_back({header.offset, kPosition + at, FrameHeader::kSize, header.length});
      frames->headers.push_back(header);
    }
    if (s.ok()) {
      frames->claimed = std::max(frames->claimed, header.durable);
      at += header.FrameSize(block_size);
    }
  }
  *result = std::move(spill);
  return s;
}

IOStatus Spill::ReadFrame(uint64_t at, const Stub& stub, std::string* frame,
                          FrameHeader* header) const {
  frame->resize(block_size_);
  IOStatus s = Read(kPosition + at, block_size_, frame->data());
  const uint64_t limit = std::min(end_ - at, FrameHeader::FrameSize(kMaxPayload, block_size_));
  if (!s.ok() || !FrameHeader::Parse(frame->data(), stub.log, limit, block_size_, header)) {
    return s.ok() ? IOStatus::NotFound() : s;
  }
  frame->resize(header->FrameSize(block_size_));
  s = Read(kPosition + at, frame->size(), frame->data());
  return !s.ok() || header->Verify(stub.uuid, block_size_, frame->data()) ? s
                                                                          : IOStatus::NotFound();
}

IOStatus Spill::Append(const Slice& frame, uint64_t* position) {
  IOStatus s = writer_->Append(frame, IOOptions(), nullptr);
  if (s.ok()) {
    s = writer_->Flush(IOOptions(), nullptr);
  }
  TEST_SYNC_POINT_CALLBACK("Spill::Append", &s);
  *position = kPosition + end_;
  end_ += frame.size();
  return s;
}

IOStatus Spill::AppendBytes(const std::string& uuid, const FrameHeader& from, const Slice& bytes,
                            std::vector<Extent>* extents) {
  FrameHeader header = from;
  std::string frame;
  IOStatus s;
  for (Slice left = bytes; s.ok() && !left.empty(); left.remove_prefix(header.length)) {
    header.offset = from.offset + (bytes.size() - left.size());
    header.length = static_cast<uint32_t>(std::min<uint64_t>(left.size(), kMaxPayload));
    frame.resize(header.FrameSize(block_size_));
    memcpy(frame.data() + FrameHeader::kSize, left.data(), header.length);
    header.Seal(uuid, block_size_, frame.data());
    uint64_t position = 0;
    s = Append(frame, &position);
    extents->push_back({header.offset, position, FrameHeader::kSize, header.length});
  }
  return s;
}

IOStatus Spill::Sync() {
  IOStatus s;
  TEST_SYNC_POINT_CALLBACK("Spill::Sync", &s);
  if (s.ok()) {
    s = writer_->Sync(IOOptions(), nullptr);
  }
  if (s.ok()) {
    TEST_SYNC_POINT_CALLBACK("Spill::Sync:Done", this);
  }
  return s;
}

IOStatus Spill::SyncFound(FileSystem* target) const {
  std::unique_ptr<FSRandomRWFile> file;
  IOStatus s = target->NewRandomRWFile(path_, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Fsync(IOOptions(), nullptr);
  }
  return s.ok() ? file->Close(IOOptions(), nullptr) : s;
}

IOStatus Spill::Read(uint64_t position, size_t n, char* to) const {
  Slice bytes;
  IOStatus s = reader_->Read(position - kPosition, n, IOOptions(), &bytes, to, nullptr);
  if (s.ok() && bytes.size() < n) {
    s = IOStatus::Corruption(path_, "ends within a frame");
  }
  if (s.ok() && bytes.data() != to) {
    memcpy(to, bytes.data(), n);
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
