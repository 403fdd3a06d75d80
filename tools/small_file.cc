// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

constexpr size_t kChunk = 64 << 10;

Status Error(const std::string& path) {
  return errno == ENOENT || errno == ENOTDIR ? Status::NotFound(path, strerror(errno))
                                             : Status::IOError(path, strerror(errno));
}

// Reads up to the end, or one byte more than `most`.
Status ReadAll(int fd, const std::string& path, uint64_t most, std::string* text) {
  text->clear();
  while (text->size() <= most) {
    const size_t before = text->size();
    const size_t wanted = std::min<uint64_t>(kChunk, most + 1 - before);
    text->resize(before + wanted);
    const ssize_t n = read(fd, &(*text)[before], wanted);
    text->resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n < 0 && errno != EINTR) {
      return Error(path);
    }
    if (n == 0) {
      break;
    }
  }
  return Status::OK();
}

}  // namespace

Status ReadSmallFile(const std::string& path, uint64_t most, std::string* text) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    return Error(path);
  }
  struct stat info {};
  Status s;
  if (fstat(fd, &info) != 0) {
    s = Error(path);
  } else if (!S_ISREG(info.st_mode)) {
    s = Status::InvalidArgument(path, "is no regular file");
  } else {
    s = ReadAll(fd, path, most, text);
  }
  close(fd);
  if (s.ok() && text->size() > most) {
    s = Status::InvalidArgument(path, "has more than " + std::to_string(most) + " bytes");
  }
  return s;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
