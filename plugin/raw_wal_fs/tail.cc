// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/tail.h"

#include <algorithm>
#include <cstring>

#include "plugin/raw_wal_fs/coding.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/stub.h"
#include "plugin/raw_wal_fs/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// The least room at the end of a half that is worth a chunk, in bytes.
constexpr size_t kLeastChunk = Chunk::kSize + 64;

uint32_t LengthOf(const char* chunk) { return DecodeFixed32(chunk + 4); }

}  // namespace

IOStatus Tail::Create(FileSystem* target, const std::string& path, const Stub& stub,
                      std::unique_ptr<Tail>* result) {
  std::unique_ptr<Tail> tail(new Tail(target, path, stub));
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = target->NewWritableFile(path, FileOptions(), &file, nullptr);
  if (s.ok()) {
    // Zeros are written, so that an append cannot fail for want of space.
    const std::string bytes = stub.Encode() + std::string(stub.tail_size, '\0');
    s = file->Append(bytes, IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Close(IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = target->NewRandomRWFile(path, FileOptions(), &tail->file_, nullptr);
  }
  if (s.ok()) {
    *result = std::move(tail);
  } else if (file != nullptr) {  // a part of a stub would keep the database from being opened
    target->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
  }
  return s;
}

IOStatus Tail::MakeDurable() {
  if (durable_) {
    return IOStatus::OK();
  }
  IOStatus s = file_->Fsync(IOOptions(), nullptr);
  if (s.ok()) {
    s = SyncDirectory(target_, DirectoryOf(path_));
  }
  durable_ = s.ok();
  TEST_SYNC_POINT_CALLBACK("Tail::Durable", const_cast<std::string*>(&path_));
  return s;
}

IOStatus Tail::SetDurable(uint64_t bytes) {
  char word[8];
  told_ = std::max(told_, bytes);  // of two syncs, the one of fewer bytes may be the last to end
  EncodeFixed64(word, told_);
  return file_->Write(Stub::kDurableAt, Slice(word, sizeof(word)), IOOptions(), nullptr);
}

IOStatus Tail::SetPlace(uint64_t place, uint64_t bytes) {
  IOStatus s = WritePlace(file_.get(), place, bytes);
  TEST_SYNC_POINT_CALLBACK("Tail::Durable", const_cast<std::string*>(&path_));
  return s;
}

IOStatus Tail::CheckWhole() const {
  const std::string begin = stub_.Encode().substr(0, Stub::kSealed);
  char scratch[Stub::kSealed];
  Slice bytes;
  IOStatus s = file_->Read(0, begin.size(), IOOptions(), &bytes, scratch, nullptr);
  bool whole = s.ok() && bytes == begin;
  if (whole) {
    s = file_->Read(stub_.SpillOffset() - 1, 1, IOOptions(), &bytes, scratch, nullptr);
    whole = bytes.size() == 1;
  }
  return whole || !s.ok()
             ? s
             : IOStatus::IOError(path_, "was cut off or written over while its log was written");
}

IOStatus Tail::Close(bool truncate) {
  IOStatus closed = file_->Close(IOOptions(), nullptr);
  file_.reset();
  // A log that was deleted or renamed meanwhile must not be made anew under its name.
  if (!closed.ok() || !truncate || !target_->FileExists(path_, IOOptions(), nullptr).ok()) {
    return closed;
  }
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = target_->ReopenWritableFile(path_, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Truncate(Stub::kSize, IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Close(IOOptions(), nullptr);
  }
  return s;
}

IOStatus Tail::Append(uint64_t offset, const Slice& data, size_t* n) {
  *n = 0;
  Half& half = halves_[active_];
  const size_t room = half_size_ - half.used;
  if (half.busy || room < std::min(kLeastChunk, Chunk::kSize + data.size())) {
    return IOStatus::OK();
  }
  Chunk chunk;
  chunk.log = stub_.log;
  chunk.offset = offset;
  chunk.length = static_cast<uint32_t>(std::min(data.size(), room - Chunk::kSize));
  char* const to = half.base + half.used;
  memcpy(to + Chunk::kSize, data.data(), chunk.length);
  chunk.Seal(stub_.uuid, to);
  const size_t size = Chunk::kSize + chunk.length;
  IOStatus s = file_->Write(Stub::kSize + static_cast<size_t>(to - memory_.get()), Slice(to, size),
                            IOOptions(), nullptr);
  if (!s.ok()) {
    return s;
  }
  if (half.empty()) {
    half.begin = offset;
  }
  half.used += size;
  half.end = offset + chunk.length;
  *n = chunk.length;
  return s;
}

bool Tail::Switch() {
  if (!halves_[1 - active_].empty()) {
    return false;
  }
  active_ = 1 - active_;
  return true;
}

Tail::Half* Tail::Take() {
  Half* half = &halves_[1 - active_];
  if (half->empty()) {
    half = &halves_[active_];
    if (half->empty()) {
      return nullptr;
    }
    Switch();
  }
  half->busy = true;
  return half;
}

void Tail::Give(Half* half) {
  half->used = 0;
  half->busy = false;
}

size_t Tail::Read(uint64_t offset, size_t n, char* to) const {
  for (const Half& half : halves_) {
    if (half.empty() || offset < half.begin || offset >= half.end) {
      continue;
    }
    uint64_t at = half.begin;
    for (const char* chunk = half.base;; chunk += Chunk::kSize + LengthOf(chunk)) {
      const uint32_t length = LengthOf(chunk);
      if (offset < at + length) {
        const size_t got = std::min<uint64_t>(n, at + length - offset);
        memcpy(to, chunk + Chunk::kSize + (offset - at), got);
        return got;
      }
      at += length;
    }
  }
  return 0;
}

void Gather::Copy(size_t n, char* to) {
  while (n > 0) {
    const size_t length = LengthOf(at_);
    const size_t part = std::min(n, length - done_);
    memcpy(to, at_ + Chunk::kSize + done_, part);
    to += part;
    n -= part;
    done_ += part;
    if (done_ == length) {
      at_ += Chunk::kSize + length;
      done_ = 0;
    }
  }
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
