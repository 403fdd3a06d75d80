// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>

#include "plugin/tiered_env/pmem/mapping.h"
#include "plugin/tiered_env/pmem/posix.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// How long a file of a pmem tier is, for those that read it; another process may append to it
// meanwhile. Not thread-safe.
class FileLength {
 public:
  FileLength(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  // The length as it is now. 0 if the file was not created to the end. Corruption: not a file of a
  // pmem tier, a damaged header, or a length beyond the end of the file.
  IOStatus Get(uint64_t* result);

  // Size of the file itself, as far as Get() saw to it: at least header and data.
  uint64_t size() const { return size_; }

 private:
  // Maps the header once it is there: header_ is null while it is not.
  IOStatus Find();

  const int fd_;
  const std::string path_;
  std::unique_ptr<Mapping> header_;
  uint64_t size_ = 0;
};

// The length of the file with this name.
IOStatus LengthOf(const std::string& path, uint64_t* result);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
