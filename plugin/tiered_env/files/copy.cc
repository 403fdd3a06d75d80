// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/files/copy.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "plugin/tiered_env/files/io.h"
#include "test_util/sync_point.h"
#include "util/aligned_buffer.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kChunk = 1 << 20;  // bytes that are copied at once

bool IsSet(const std::atomic<bool>* stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

void Wait(RateLimiter* limiter, size_t bytes, const std::atomic<bool>* stop) {
  while (limiter != nullptr && bytes > 0 && !IsSet(stop)) {
    const size_t part =
        std::min<size_t>(bytes, static_cast<size_t>(limiter->GetSingleBurstBytes()));
    limiter->Request(static_cast<int64_t>(part), Env::IO_LOW, nullptr, RateLimiter::OpType::kWrite);
    bytes -= part;
  }
}

IOStatus AppendChunk(FSWritableFile* to, uint64_t offset, const Slice& bytes) {
  return to->use_direct_io() ? to->PositionedAppend(bytes, offset, IOOptions(), nullptr)
                             : to->Append(bytes, IOOptions(), nullptr);
}

// Gives a copy the time at which the file was written, by which rules of an age go. It is no error
// where a FileSystem has no such files: the copy seems new then when the database is opened again.
void KeepTime(const Place& from, const Place& to) {
  uint64_t written = 0;
  if (from.fs()->GetFileModificationTime(from.path, IOOptions(), &written, nullptr).ok()) {
    timespec times[2] = {};
    times[0].tv_nsec = UTIME_OMIT;  // when it was read
    times[1].tv_sec = static_cast<time_t>(written);
    utimensat(AT_FDCWD, to.path.c_str(), times, 0);
  }
}

}  // namespace

// Copies in whole pages, for files with direct I/O: those that are copied to one are of whole
// pages.
IOStatus Copy(FileSystem* fs, const std::string& from, uint64_t size, FSWritableFile* to,
              RateLimiter* limiter, const std::atomic<bool>* stop) {
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = fs->NewSequentialFile(from, FileOptions(), &file, nullptr);
  AlignedBuffer buffer;
  buffer.Alignment(std::max<size_t>(to->GetRequiredBufferAlignment(), kDefaultPageSize));
  buffer.AllocateNewBuffer(kChunk);
  for (uint64_t done = 0; s.ok() && done < size;) {
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(kChunk, size - done));
    size_t got = 0;
    if (IsSet(stop)) {
      return IOStatus::Aborted(from, "is no longer copied");
    }
    while (s.ok() && got < wanted) {
      Slice bytes;
      char* const at = buffer.BufferStart() + got;
      s = file->Read(wanted - got, IOOptions(), &bytes, at, nullptr);
      if (s.ok() && bytes.empty()) {
        return IOStatus::Corruption(from, "ends at " + std::to_string(done + got) + " of " +
                                              std::to_string(size) + " bytes");
      }
      if (s.ok() && bytes.data() != at) {
        memcpy(at, bytes.data(), bytes.size());
      }
      got += bytes.size();
    }
    TEST_SYNC_POINT("Copy:Chunk");
    Wait(limiter, got, stop);
    if (s.ok()) {
      s = AppendChunk(to, done, Slice(buffer.BufferStart(), got));
    }
    done += got;
  }
  return s;
}

IOStatus CopyToNew(const Place& from, uint64_t size, const Place& to, RateLimiter* limiter,
                   const std::atomic<bool>* stop) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = to.fs()->NewWritableFile(to.path, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = Copy(from, size, file.get(), limiter, stop);
  }
  s = SyncAndClose(s, file.get());
  if (s.ok()) {
    KeepTime(from, to);
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
