// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/doctor/place.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <set>

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

namespace {

Status ErrorAt(const std::string& path) { return Status::IOError(path, strerror(errno)); }

// The number of the disk: of the mount, or of what it names, as with btrfs.
std::string DiskOf(const Mount& mount) {
  struct stat info;
  return mount.number.rfind("0:", 0) == 0 && mount.source.rfind("/dev/", 0) == 0 &&
                 stat(mount.source.c_str(), &info) == 0 && S_ISBLK(info.st_mode)
             ? DeviceNumber(info.st_rdev)
             : mount.number;
}

Kind KindOf(const Place& place) {
  if (place.mount.IsMemory()) {
    return Kind::kMemory;
  }
  if (place.mount.IsNetwork() || place.device.IsNetworkVolume()) {
    return Kind::kNetwork;
  }
  return place.device.name.empty() ? Kind::kUnknown
         : place.device.rotates    ? Kind::kRotating
                                   : Kind::kDisk;
}

// Whether a mount is of a disk of this machine. Those that have no device number have file systems
// of several disks, or none.
bool IsLocal(const Mount& mount) {
  const bool numbered = mount.number.rfind("0:", 0) != 0;
  return !mount.IsMemory() && !mount.IsNetwork() &&
         (numbered || mount.type == "btrfs" || mount.type == "zfs" || mount.type == "bcachefs");
}

bool IsDirectory(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// A directory of a mount that this process may write to; empty if there is none. Nobody has a
// database at "/" itself.
std::string DirectoryOn(const Mount& mount, const std::vector<Mount>& mounts) {
  char current[PATH_MAX];
  const char* const home = getenv("HOME");
  for (const std::string& path :
       {std::string(mount.point == "/" ? "" : mount.point),
        std::string(getcwd(current, sizeof(current)) == nullptr ? "" : current),
        std::string(home == nullptr ? "" : home), std::string("/var/tmp")}) {
    char real[PATH_MAX];
    if (realpath(path.c_str(), real) != nullptr && MountOf(real, mounts) == &mount &&
        IsDirectory(real) && access(real, W_OK | X_OK) == 0) {
      return real;
    }
  }
  return "";
}

}  // namespace

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kDisk:
      return "disk";
    case Kind::kRotating:
      return "rotating";
    case Kind::kNetwork:
      return "network";
    case Kind::kMemory:
      return "memory";
    case Kind::kUnknown:
      break;
  }
  return "unknown";
}

Status LookAt(const std::string& root, const std::string& directory,
              const std::vector<Mount>& mounts, Place* place) {
  char real[PATH_MAX];
  struct statvfs room;
  if (realpath(directory.c_str(), real) == nullptr || statvfs(real, &room) != 0) {
    return ErrorAt(directory);
  }
  if (!IsDirectory(real)) {
    errno = ENOTDIR;
    return ErrorAt(directory);
  }
  place->directory = real;
  place->size = static_cast<uint64_t>(room.f_blocks) * room.f_frsize;
  place->free = static_cast<uint64_t>(room.f_bavail) * room.f_frsize;
  place->writable = access(real, W_OK | X_OK) == 0;
  const Mount* const mount = MountOf(real, mounts);
  if (mount != nullptr) {
    place->mount = *mount;
    ReadBlockDevice(root, DiskOf(*mount), &place->device);
  }
  place->kind = KindOf(*place);
  return Status::OK();
}

std::vector<std::string> LocalDirectories(const std::vector<Mount>& mounts) {
  std::set<std::string> seen;
  std::vector<std::string> directories;
  for (const Mount& mount : mounts) {
    const std::string directory = IsLocal(mount) ? DirectoryOn(mount, mounts) : "";
    // A file system may be mounted at several points.
    if (!directory.empty() && seen.insert(mount.number + " " + mount.source).second) {
      directories.push_back(directory);
    }
  }
  return directories;
}

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
