// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/preset/machine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "tools/cgroup.h"
#include "tools/mounts.h"
#include "tools/small_file.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

Status ErrorAt(const std::string& path) { return Status::IOError(path, strerror(errno)); }

constexpr uint64_t kMemInfo = 1 << 20;  // the most that is read

}  // namespace

Status FreeBytes(const std::string& directory, uint64_t* bytes) {
  struct statvfs room;
  if (statvfs(directory.c_str(), &room) != 0) {
    return ErrorAt(directory);
  }
  *bytes = static_cast<uint64_t>(room.f_bavail) * room.f_frsize;
  return Status::OK();
}

Status DeviceBytes(const std::string& path, uint64_t* bytes) {
  // Not a FIFO, which an opening would wait for.
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    return ErrorAt(path);
  }
  if (!S_ISBLK(info.st_mode) && !S_ISREG(info.st_mode)) {
    return Status::InvalidArgument(path, "is neither a block device nor a file");
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return ErrorAt(path);
  }
  const off_t end = lseek(fd, 0, SEEK_END);
  const Status s = end < 0 ? ErrorAt(path) : Status::OK();
  close(fd);
  *bytes = end < 0 ? 0 : static_cast<uint64_t>(end);
  return s;
}

Status MemInfo(const std::string& root, const std::string& name, uint64_t* bytes) {
  const std::string path = root + "/proc/meminfo";
  std::string text;
  const Status s = ReadSmallFile(path, kMemInfo, &text);
  std::istringstream lines(text);
  for (std::string line; s.ok() && std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (words >> word >> *bytes && word == name + ":" && *bytes <= UINT64_MAX / 1024) {
      *bytes *= 1024;
      return s;
    }
  }
  return Status::NotFound(path, "has no " + name);
}

Status AvailableMemory(const std::string& root, uint64_t* bytes, std::string* from) {
  const Status s = MemInfo(root, "MemAvailable", bytes);
  *from = "MemAvailable";
  uint64_t limit = 0;
  std::string file;
  if (s.ok() && ReadMemoryLimit(root, &limit, &file) && limit < *bytes) {
    *bytes = limit;
    *from = "limit of a cgroup, " + file;
  }
  return s;
}

bool OnOneFileSystem(const std::string& directory, const std::string& other) {
  struct stat a;
  struct stat b;
  return stat(directory.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev;
}

bool HasDax(const std::string& directory) {
  char real[PATH_MAX];
  if (realpath(directory.c_str(), real) == nullptr) {
    return false;
  }
  std::vector<Mount> mounts;
  const Mount* const mount =
      ReadMounts(/*root=*/"", &mounts).ok() ? MountOf(real, mounts) : nullptr;
  return mount != nullptr && mount->IsDax();
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
