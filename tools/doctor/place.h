// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A directory in which a database, or a part of it, could be.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"
#include "tools/block_device.h"
#include "tools/doctor/probe.h"
#include "tools/mounts.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

// The least that is free where a probe is made, or a database is put.
constexpr uint64_t kLeastFree = 1ull << 30;

enum class Kind {
  kDisk,      // the kernel says that nothing rotates
  kRotating,  // virtual disks are often called so, too
  kNetwork,
  kMemory,
  kUnknown,  // the kernel tells of no disk, as with file systems of several
};

struct Place {
  std::string directory;  // absolute, without links
  Mount mount;
  BlockDevice device;  // empty if it is unknown
  Kind kind = Kind::kUnknown;
  uint64_t size = 0;
  uint64_t free = 0;  // for users
  bool writable = false;
  ProbeResult probe;

  bool HasRoom() const { return free >= kLeastFree; }
};

const char* NameOf(Kind kind);

// Looks at a directory, without its probe. `root`: where sys is, instead of "", for tests.
Status LookAt(const std::string& root, const std::string& directory,
              const std::vector<Mount>& mounts, Place* place);

// Directories on local file systems that this process may write to; one for each file system.
// Memory and a container's image are none.
std::vector<std::string> LocalDirectories(const std::vector<Mount>& mounts);

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
