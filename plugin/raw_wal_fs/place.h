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

// Returns the identity of a directory: not known() if there is none that this machine can look at.
inline DirectoryId IdentityOf(const std::string& directory) {
  struct statx status;
  if (statx(AT_FDCWD, directory.c_str(), 0, STATX_TYPE | STATX_INO | STATX_BTIME, &status) != 0 ||
      !S_ISDIR(status.stx_mode)) {
    return DirectoryId();
  }
  DirectoryId id;
  id.inode = status.stx_ino;
  if ((status.stx_mask & STATX_BTIME) != 0) {
    id.born =
        static_cast<uint64_t>(status.stx_btime.tv_sec) * 1000000000 + status.stx_btime.tv_nsec;
  }
  return id;
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
