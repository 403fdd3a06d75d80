// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/pmem/writable_files.h"

#include <algorithm>
#include <array>

#include "env/io_posix.h"
#include "plugin/tiered_env/pmem/file_length.h"
#include "plugin/tiered_env/pmem/header.h"
#include "plugin/tiered_env/pmem/readable_files.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint64_t kLeastStep = 64 << 10;
constexpr uint64_t kMostStep = 16 << 20;

// What is mapped at a time. Aligned so that a file system with DAX can use huge pages.
constexpr uint64_t kWindow = 64 << 20;

IOStatus MakeDurable(int fd, const std::string& path) {
  return fdatasync(fd) == 0 ? IOStatus::OK() : IOError("While syncing", path, errno);
}

}  // namespace

IOStatus PmemWritableFile::Open(const std::string& path, const FileOptions& options,
                                Existing existing, std::unique_ptr<FSWritableFile>* result) {
  int flags = O_RDWR | O_CREAT;
  if (existing == Existing::kReplace) {
    // O_TRUNC would end the processes that have the file mapped.
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      return IOError("While deleting", path, errno);
    }
    flags |= O_EXCL;
  }
  Descriptor fd;
  IOStatus s = OpenFile(path, flags, &fd);
  if (!s.ok()) {
    return s;
  }
  std::unique_ptr<PmemWritableFile> file(new PmemWritableFile(path, options, std::move(fd)));
  s = file->Start();
  if (s.ok() && existing == Existing::kReuse) {
    s = file->Truncate(0, IOOptions(), nullptr);
  }
  if (s.ok()) {
    *result = std::move(file);
  }
  return s;
}

PmemWritableFile::~PmemWritableFile() {
  PmemWritableFile::Close(IOOptions(), nullptr).PermitUncheckedError();
}

IOStatus PmemWritableFile::Start() {
  IOStatus s = SizeOf(fd_.get(), path_, &size_);
  if (s.ok() && size_ == 0) {
    s = GrowTo(kLeastStep);
  }
  if (s.ok() && size_ < kHeaderSize) {
    s = IOStatus::Corruption(path_, "too short for a file of a pmem tier");
  }
  if (s.ok()) {
    s = Mapping::Map(fd_.get(), path_, 0, kHeaderSize, /*writable=*/true, &header_);
  }
  if (!s.ok()) {
    return s;
  }
  s = header_->LoadWord(0) == 0 ? CreateHeader() : ReadHeader();
  if (!s.ok()) {
    header_.reset();
  }
  return s;
}

// The magic is the last: until it is there the file is empty.
IOStatus PmemWritableFile::CreateHeader() {
  std::array<char, kRootSize> root;
  EncodeRoot(root.data());
  memcpy(header_->data() + sizeof(kHeaderMagic), root.data() + sizeof(kHeaderMagic),
         kRootSize - sizeof(kHeaderMagic));
  SetLength(0);
  header_->Persist(0, kLengthOffset + sizeof(uint64_t));
  header_->StoreWord(0, kHeaderMagic);
  header_->Persist(0, sizeof(kHeaderMagic));
  return IOStatus::OK();
}

IOStatus PmemWritableFile::ReadHeader() {
  uint64_t length;
  IOStatus s = FileLength(fd_.get(), path_).Get(&length);
  if (s.ok()) {
    length_.store(length);
  }
  return s;
}

void PmemWritableFile::SetLength(uint64_t length) {
  header_->StoreWord(kLengthOffset, PackLength(length));
  length_.store(length);
}

IOStatus PmemWritableFile::Grow(uint64_t size) {
  if (size <= size_) {
    return IOStatus::OK();
  }
  IOStatus s = GrowTo(std::max(size, size_ + std::clamp(size_, kLeastStep, kMostStep)));
  return s.IsNoSpace() ? GrowTo(size) : s;
}

// Blocks are allocated, since a store to a hole for which there is no room would end the process;
// and the file system's data of them made durable before a length can cover them.
IOStatus PmemWritableFile::GrowTo(uint64_t size) {
  size = (size + kHeaderSize - 1) / kHeaderSize * kHeaderSize;
  int error;
  do {
    error = posix_fallocate(fd_.get(), static_cast<off_t>(size_), static_cast<off_t>(size - size_));
  } while (error == EINTR);
  if (error != 0) {
    return IOError("While allocating", path_, error);
  }
  IOStatus s = MakeDurable(fd_.get(), path_);
  if (s.ok()) {
    size_ = size;
  }
  return s;
}

IOStatus PmemWritableFile::Aim(uint64_t at) {
  const uint64_t begin = at / kWindow * kWindow;
  if (window_ != nullptr && window_begin_ == begin) {
    return IOStatus::OK();
  }
  window_.reset();
  window_begin_ = begin;
  // All of it, though the file may end before: what is beyond size_ is not touched.
  return Mapping::Map(fd_.get(), path_, begin, kWindow, /*writable=*/true, &window_);
}

IOStatus PmemWritableFile::Append(const Slice& data, const IOOptions&, IODebugContext*) {
  return Write(length_.load(std::memory_order_relaxed), data);
}

IOStatus PmemWritableFile::PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                                            IODebugContext*) {
  return offset <= length_.load(std::memory_order_relaxed)
             ? Write(offset, data)
             : IOStatus::InvalidArgument(path_, "has no bytes before what is appended");
}

IOStatus PmemWritableFile::Write(uint64_t offset, const Slice& data) {
  if (header_ == nullptr || data.size() > kMaxLength - offset) {
    return IOStatus::InvalidArgument(path_, header_ == nullptr ? "is closed" : "too long");
  }
  uint64_t at = kHeaderSize + offset;
  IOStatus s = Grow(at + data.size());
  for (Slice left = data; s.ok() && !left.empty();) {
    s = Aim(at);
    if (s.ok()) {
      const size_t begin = static_cast<size_t>(at - window_begin_);
      const size_t n = std::min(left.size(), static_cast<size_t>(kWindow) - begin);
      window_->Copy(begin, left.data(), n);
      at += n;
      left.remove_prefix(n);
    }
  }
  if (s.ok()) {
    header_->Drain();
    SetLength(std::max(length_.load(std::memory_order_relaxed), offset + data.size()));
  }
  return s;
}

// Calls fdatasync() where there is no pmem, not pmem_msync(): it also finds what is not mapped
// any more.
IOStatus PmemWritableFile::Sync(const IOOptions&, IODebugContext*) {
  if (header_ == nullptr) {
    return IOStatus::InvalidArgument(path_, "is closed");
  }
  if (!header_->pmem()) {
    return MakeDurable(fd_.get(), path_);
  }
  header_->Persist(kLengthOffset, sizeof(uint64_t));
  return IOStatus::OK();
}

IOStatus PmemWritableFile::Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) {
  if (header_ == nullptr) {
    return IOStatus::InvalidArgument(path_, "is closed");
  }
  const uint64_t length = length_.load();
  if (size < length) {
    // Durable before the bytes beyond it are written again.
    SetLength(size);
    header_->Persist(kLengthOffset, sizeof(uint64_t));
  }
  static constexpr std::array<char, 64 << 10> kZeros = {};
  IOStatus s;
  for (uint64_t at = length; s.ok() && at < size; at = length_.load()) {
    s = Append(Slice(kZeros.data(), std::min<uint64_t>(kZeros.size(), size - at)), options, dbg);
  }
  return s;
}

IOStatus PmemWritableFile::Allocate(uint64_t offset, uint64_t n, const IOOptions&,
                                    IODebugContext*) {
  const uint64_t size = kHeaderSize + offset + n;
  return allow_fallocate_ && header_ != nullptr && size > size_ ? GrowTo(size) : IOStatus::OK();
}

IOStatus PmemWritableFile::Close(const IOOptions&, IODebugContext*) {
  IOStatus s;
  if (header_ != nullptr) {
    header_->Persist(kLengthOffset, sizeof(uint64_t));
    const uint64_t end = kHeaderSize + length_.load();
    if (size_ > end && ftruncate(fd_.get(), static_cast<off_t>(end)) != 0) {
      s = IOError("While cutting off the room", path_, errno);
    }
  }
  window_.reset();
  header_.reset();
  fd_.Reset();
  return s;
}

IOStatus PmemRandomRWFile::Open(const std::string& path, std::unique_ptr<FSRandomRWFile>* result) {
  Descriptor fd;
  IOStatus s = OpenFile(path, O_RDWR, &fd);
  if (!s.ok()) {
    return s;
  }
  std::unique_ptr<PmemRandomRWFile> file(new PmemRandomRWFile(path, std::move(fd)));
  s = FileLength(file->fd_.get(), path).Get(&file->length_);
  if (s.ok()) {
    *result = std::move(file);
  }
  return s;
}

IOStatus PmemRandomRWFile::Write(uint64_t offset, const Slice& data, const IOOptions&,
                                 IODebugContext*) {
  if (offset > length_ || data.size() > length_ - offset) {
    return IOStatus::NotSupported(path_, "a write beyond the end of a file of a pmem tier");
  }
  return WriteFully(fd_.get(), path_, kHeaderSize + offset, data);
}

IOStatus PmemRandomRWFile::Read(uint64_t offset, size_t n, const IOOptions&, Slice* result,
                                char* scratch, IODebugContext*) const {
  n = static_cast<size_t>(std::min<uint64_t>(n, length_ - std::min(length_, offset)));
  IOStatus s = ReadFully(fd_.get(), path_, kHeaderSize + offset, n, scratch);
  *result = Slice(scratch, s.ok() ? n : 0);
  return s;
}

IOStatus PmemRandomRWFile::Sync(const IOOptions&, IODebugContext*) {
  return MakeDurable(fd_.get(), path_);
}

IOStatus PmemRandomRWFile::Close(const IOOptions&, IODebugContext*) {
  fd_.Reset();
  return IOStatus::OK();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
