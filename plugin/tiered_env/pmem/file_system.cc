// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/pmem/file_system.h"

#include <cstdlib>

#include "env/io_posix.h"
#include "plugin/tiered_env/pmem/file_length.h"
#include "plugin/tiered_env/pmem/header.h"
#include "plugin/tiered_env/pmem/readable_files.h"
#include "plugin/tiered_env/pmem/writable_files.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Maps a file that has no name any more.
IOStatus Probe(const std::string& directory, bool* persistent) {
  std::string path = directory + "/rocktier.XXXXXX";
  Descriptor fd(mkostemp(path.data(), O_CLOEXEC));
  if (fd.get() < 0) {
    return IOError("While creating a file", directory, errno);
  }
  unlink(path.c_str());
  const int error = posix_fallocate(fd.get(), 0, kHeaderSize);
  if (error != 0) {
    return IOError("While allocating", directory, error);
  }
  std::unique_ptr<Mapping> mapping;
  IOStatus s = Mapping::Map(fd.get(), path, 0, kHeaderSize, /*writable=*/true, &mapping);
  if (!s.ok()) {
    return IOStatus::NotSupported("kind=pmem, path=" + directory + ": files cannot be mapped",
                                  s.ToString());
  }
  *persistent = mapping->pmem();
  return s;
}

}  // namespace

IOStatus PmemFileSystem::NewSequentialFile(const std::string& path, const FileOptions&,
                                           std::unique_ptr<FSSequentialFile>* result,
                                           IODebugContext*) {
  return PmemSequentialFile::Open(path, result);
}

IOStatus PmemFileSystem::NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                             std::unique_ptr<FSRandomAccessFile>* result,
                                             IODebugContext*) {
  return PmemRandomAccessFile::Open(path, options, result);
}

IOStatus PmemFileSystem::NewWritableFile(const std::string& path, const FileOptions& options,
                                         std::unique_ptr<FSWritableFile>* result, IODebugContext*) {
  return PmemWritableFile::Open(path, options, Existing::kReplace, result);
}

IOStatus PmemFileSystem::ReopenWritableFile(const std::string& path, const FileOptions& options,
                                            std::unique_ptr<FSWritableFile>* result,
                                            IODebugContext*) {
  return PmemWritableFile::Open(path, options, Existing::kContinue, result);
}

IOStatus PmemFileSystem::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                           const FileOptions& options,
                                           std::unique_ptr<FSWritableFile>* result,
                                           IODebugContext* dbg) {
  IOStatus s = target()->RenameFile(old_path, path, options.io_options, dbg);
  return s.ok() ? PmemWritableFile::Open(path, options, Existing::kReuse, result) : s;
}

IOStatus PmemFileSystem::NewRandomRWFile(const std::string& path, const FileOptions&,
                                         std::unique_ptr<FSRandomRWFile>* result, IODebugContext*) {
  return PmemRandomRWFile::Open(path, result);
}

IOStatus PmemFileSystem::NewMemoryMappedFileBuffer(const std::string& path,
                                                   std::unique_ptr<MemoryMappedFileBuffer>*) {
  return IOStatus::NotSupported(path, "a mapped buffer of a file of a pmem tier");
}

IOStatus PmemFileSystem::GetFileSize(const std::string& path, const IOOptions&, uint64_t* size,
                                     IODebugContext*) {
  return LengthOf(path, size);
}

IOStatus PmemFileSystem::GetChildrenFileAttributes(const std::string& directory,
                                                   const IOOptions& options,
                                                   std::vector<FileAttributes>* result,
                                                   IODebugContext* dbg) {
  IOStatus s = target()->GetChildrenFileAttributes(directory, options, result, dbg);
  if (s.ok()) {
    for (FileAttributes& file : *result) {
      uint64_t length;
      if (LengthOf(directory + "/" + file.name, &length).ok()) {
        file.size_bytes = length;
      }
    }
  }
  return s;
}

IOStatus PmemFileSystem::Truncate(const std::string& path, size_t size, const IOOptions& options,
                                  IODebugContext* dbg) {
  IOStatus s = target()->FileExists(path, options, dbg);
  std::unique_ptr<FSWritableFile> file;
  if (s.ok()) {
    s = ReopenWritableFile(path, FileOptions(), &file, dbg);
  }
  if (s.ok()) {
    s = file->Truncate(size, options, dbg);
  }
  return s.ok() ? file->Close(options, dbg) : s;
}

#ifdef TIERED_HAS_SYNC_FILE
IOStatus PmemFileSystem::SyncFile(const std::string& path, const FileOptions& file_options,
                                  const IOOptions& options, bool use_fsync, IODebugContext* dbg) {
  return FileSystem::SyncFile(path, file_options, options, use_fsync, dbg);
}
#endif

IOStatus NewPmemFileSystem(const std::shared_ptr<FileSystem>& target, const std::string& directory,
                           std::shared_ptr<FileSystem>* result, bool* persistent) {
  if (!HaveLibpmem()) {
    return IOStatus::NotSupported("kind=pmem, path=" + directory,
                                  "this build has no libpmem; kind=path needs none");
  }
  bool unused;
  IOStatus s = Probe(directory, persistent != nullptr ? persistent : &unused);
  if (s.ok()) {
    *result = std::make_shared<PmemFileSystem>(target);
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
