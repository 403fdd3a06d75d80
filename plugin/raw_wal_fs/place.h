// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Where a directory is, whatever the text of its path.

#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/posix.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Not known if there is none, or if it is not one of this machine's.
inline DirectoryId IdentityOf(const std::string& directory) {
  struct stat status;
  return stat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode)
             ? DirectoryId{status.st_dev, status.st_ino}
             : DirectoryId();
}

// With no link and no dots, if its directory exists.
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
