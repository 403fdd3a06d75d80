// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/stub.h"

#include <algorithm>
#include <memory>

#include "plugin/raw_wal_fs/coding.h"
#include "plugin/raw_wal_fs/name.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// Returns the valid chunks of one half, as one run.
Run ParseHalf(const Slice& half, const Stub& stub) {
  Run run;
  Slice left = half;
  Chunk chunk;
  while (Chunk::Decode(left, stub.uuid, stub.log, &chunk)) {
    if (run.bytes.empty()) {
      run.begin = chunk.offset;
    } else if (chunk.offset != run.end()) {
      break;
    }
    run.bytes.append(left.data() + Chunk::kSize, chunk.length);
    left.remove_prefix(Chunk::kSize + chunk.length);
  }
  return run;
}

}  // namespace

IOStatus SyncDirectory(FileSystem* fs, const std::string& path) {
  std::unique_ptr<FSDirectory> directory;
  IOStatus s = fs->NewDirectory(path, IOOptions(), &directory, nullptr);
  return s.ok() ? directory->FsyncWithDirOptions(IOOptions(), nullptr, DirFsyncOptions()) : s;
}

IOStatus WritePlace(FSRandomRWFile* stub, uint64_t place, uint64_t bytes) {
  char words[16];  // of one sector
  EncodeFixed64(words, place);
  EncodeFixed64(words + 8, bytes);
  static_assert(Stub::kPlaceAt + 8 == Stub::kDurableAt, "written at once");
  IOStatus s = stub->Write(Stub::kPlaceAt, Slice(words, sizeof(words)), IOOptions(), nullptr);
  return s.ok() ? stub->Fsync(IOOptions(), nullptr) : s;
}

IOStatus ReplaceFile(FileSystem* fs, const std::string& path, const Slice& bytes) {
  const std::string next = path + ".tmp";
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs->NewWritableFile(next, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Append(bytes, IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Fsync(IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Close(IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = fs->RenameFile(next, path, IOOptions(), nullptr);
  }
  return s.ok() ? SyncDirectory(fs, DirectoryOf(path)) : s;
}

IOStatus ReadStub(FileSystem* target, const std::string& path, bool contents, StubFile* result) {
  uint64_t size = 0;
  if (!IsLogName(path) && target->GetFileSize(path, IOOptions(), &size, nullptr).ok() &&
      size < Stub::kSize) {
    return IOStatus::NotFound(path);  // a pipe is one: opening it would wait for its writer
  }
  std::unique_ptr<FSRandomAccessFile> file;
  IOStatus s = target->NewRandomAccessFile(path, FileOptions(), &file, nullptr);
  if (!s.ok()) {
    return s.IsPathNotFound() ? IOStatus::NotFound(path) : s;
  }
  std::string scratch(Stub::kSize, '\0');
  Slice bytes;
  s = file->Read(0, Stub::kSize, IOOptions(), &bytes, scratch.data(), nullptr);
  bool is_directory = false;
  if (!s.ok() && target->IsDirectory(path, IOOptions(), &is_directory, nullptr).ok() &&
      is_directory) {
    return IOStatus::NotFound(path);
  }
  if (s.ok()) {
    s = status_to_io_status(Stub::Decode(bytes, path, &result->stub));
  }
  if (!s.ok() || !contents) {
    return s;
  }
  scratch.resize(result->stub.tail_size);
  s = file->Read(Stub::kSize, scratch.size(), IOOptions(), &bytes, scratch.data(), nullptr);
  if (!s.ok()) {
    return s;
  }
  const size_t half = scratch.size() / 2;
  for (size_t begin = 0; begin < bytes.size(); begin += half) {
    Run run =
        ParseHalf(Slice(bytes.data() + begin, std::min(half, bytes.size() - begin)), result->stub);
    if (!run.bytes.empty()) {
      result->runs.push_back(std::move(run));
    }
  }
  std::sort(result->runs.begin(), result->runs.end(),
            [](const Run& a, const Run& b) { return a.begin < b.begin; });
  return s;
}

bool IsOfEmptyLog(FileSystem* target, const std::string& path) {
  StubFile file;
  return ReadStub(target, path, /*contents=*/true, &file).ok() && file.stub.durable == 0 &&
         file.runs.empty();
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
