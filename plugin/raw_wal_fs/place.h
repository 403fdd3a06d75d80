// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tells directories apart, whatever the text of their paths.

#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/posix.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// A directory as this machine sees it now.
struct Directory {
  DirectoryId id;
  // The device of its file system. A start of the machine may change it, so that it is not kept. It
  // tells a file system that was copied block by block from the original while both are mounted.
  uint64_t device = 0;
};

// Returns what is at a path: id not known() if there is no directory that this machine can look at.
inline Directory DirectoryAt(const std::string& path) {
  struct statx status;
  Directory directory;
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_TYPE | STATX_INO | STATX_BTIME, &status) != 0 ||
      !S_ISDIR(status.stx_mode)) {
    return directory;
  }
  directory.id.inode = status.stx_ino;
  if ((status.stx_mask & STATX_BTIME) != 0) {
    directory.id.born =
        static_cast<uint64_t>(status.stx_btime.tv_sec) * 1000000000 + status.stx_btime.tv_nsec;
  }
  directory.device = static_cast<uint64_t>(status.stx_dev_major) << 32 | status.stx_dev_minor;
  return directory;
}

inline DirectoryId IdentityOf(const std::string& path) { return DirectoryAt(path).id; }

// Returns whether two paths lead to one directory. Not if there is none.
inline bool IsSameDirectory(const std::string& path, const std::string& other) {
  const Directory a = DirectoryAt(path);
  const Directory b = DirectoryAt(other);
  return a.id.known() && a.id == b.id && a.device == b.device;
}

// Returns whether two directories have one identity in two file systems: one of these is a copy of
// the other, block by block, as a snapshot of a volume that is mounted besides.
inline bool IsClone(const std::string& path, const std::string& other) {
  const Directory a = DirectoryAt(path);
  const Directory b = DirectoryAt(other);
  return a.id.known() && a.id == b.id && a.device != b.device;
}

// Returns the path without links and dots, if its directory exists; else the path as it is.
inline std::string AbsolutePath(const std::string& path) {
  const std::unique_ptr<char, Free> directory(realpath(DirectoryOf(path).c_str(), nullptr));
  if (directory == nullptr) {
    return path;
  }
  const std::string parent = directory.get();
  return (parent == "/" ? parent : parent + "/") + path.substr(path.rfind('/') + 1);
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
