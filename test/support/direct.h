// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace ROCKSDB_NAMESPACE {

// Whether files of this folder, which must be there, can be opened with direct I/O.
inline bool CanDirectIo(const std::string& folder) {
  const std::string path = folder + "/direct";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
  if (file >= 0) {
    close(file);
    unlink(path.c_str());
  }
  return file >= 0;
}

}  // namespace ROCKSDB_NAMESPACE
