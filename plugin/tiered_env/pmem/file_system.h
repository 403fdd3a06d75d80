// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The tier of kind pmem.

#pragma once

#include <memory>
#include <string>

#include "plugin/tiered_env/compat.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Files in directories of `target` that can be mapped, on file systems with DAX above all: what is
// appended goes past the processor's caches into a mapping, a sync writes back one cache line, and
// with allow_mmap_reads reads copy nothing. The format is in FORMAT.md. Works without DAX too, then
// with fdatasync(); the environment variable PMEM_IS_PMEM_FORCE=1 says that mapped memory is
// persistent nevertheless.
//
// Each file that it creates is of this format, but for those of NewLogger() and LockFile(); a file
// that is not is Corruption. Directories and names are the target's, which has the same paths as
// the operating system. Thread-safe.
class PmemFileSystem : public FileSystemWrapper {
 public:
  static const char* kClassName() { return "PmemFileSystem"; }

  explicit PmemFileSystem(const std::shared_ptr<FileSystem>& target) : FileSystemWrapper(target) {}

  const char* Name() const override { return kClassName(); }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override;
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override;
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override;
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override;
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override;
  // Within the length of the file.
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override;
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override;

  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override;
  // A file of another format has the size that the target gives it.
  IOStatus GetChildrenFileAttributes(const std::string& directory, const IOOptions& options,
                                     std::vector<FileAttributes>* result,
                                     IODebugContext* dbg) override;
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override;
#ifdef TIERED_HAS_SYNC_FILE
  IOStatus SyncFile(const std::string& path, const FileOptions& file_options,
                    const IOOptions& options, bool use_fsync, IODebugContext* dbg) override;
#endif
};

// Checks that files in `directory`, which exists, can be mapped. NotSupported if they cannot, or if
// the build has no libpmem. `persistent`, if given: whether a sync needs no system call there.
IOStatus NewPmemFileSystem(const std::shared_ptr<FileSystem>& target, const std::string& directory,
                           std::shared_ptr<FileSystem>* result, bool* persistent = nullptr);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
