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
#include <fstream>
#include <sstream>

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

Status ErrorAt(const std::string& path) { return Status::IOError(path, strerror(errno)); }

// Reads one number; false if there is none, as with "max".
bool ReadNumber(const std::string& path, uint64_t* number) {
  std::ifstream file(path);
  return static_cast<bool>(file >> *number);
}

bool ReadMemAvailable(const std::string& root, uint64_t* bytes) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    if (words >> name >> *bytes && name == "MemAvailable:") {
      *bytes *= 1024;
      return true;
    }
  }
  return false;
}

// Lowers `bytes` to the least limit of a cgroup and of those above it. `mount`: where the hierarchy
// is; a cgroup that cannot be seen, as in a container, counts as the hierarchy's root.
void LowerToLimit(const std::string& mount, std::string group, const std::string& file,
                  uint64_t* bytes, std::string* from) {
  while (true) {
    uint64_t limit = 0;
    if (ReadNumber(mount + group + "/" + file, &limit) && limit < *bytes) {
      *bytes = limit;
      *from = "limit of a cgroup, " + file;
    }
    if (group.empty()) {
      return;
    }
    group.resize(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
  }
}

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

Status AvailableMemory(const std::string& root, uint64_t* bytes, std::string* from) {
  if (!ReadMemAvailable(root, bytes)) {
    return Status::NotFound(root + "/proc/meminfo", "has no MemAvailable");
  }
  *from = "MemAvailable";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1) == "/" ? "" : line.substr(second + 1);
    if (controllers.empty()) {
      LowerToLimit(root + "/sys/fs/cgroup", group, "memory.max", bytes, from);
    } else if (controllers == "memory") {
      LowerToLimit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", bytes, from);
    }
  }
  return Status::OK();
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
  const std::string path = std::string(real) + "/";
  std::ifstream mounts("/proc/self/mounts");
  size_t longest = 0;
  bool dax = false;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string source, point, type, options;
    words >> source >> point >> type >> options;
    const std::string begin = point == "/" ? point : point + "/";
    // The last of several at one point is the one that is seen.
    if (begin.size() >= longest && path.compare(0, begin.size(), begin) == 0) {
      longest = begin.size();
      options = "," + options + ",";
      dax = options.find(",dax,") != std::string::npos ||
            options.find(",dax=always,") != std::string::npos;
    }
  }
  return dax;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
