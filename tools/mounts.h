// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What is mounted, as this process sees it.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

struct Mount {
  std::string number;  // of the device, "259:2"
  std::string folder;  // of the file system, that is mounted; "/" but for a bind mount
  std::string point;
  std::string type;
  std::string source;   // "/dev/nvme0n1p2"
  std::string options;  // "rw,noatime,dax=always"

  bool Has(const std::string& option) const;
  bool IsDax() const { return Has("dax") || Has("dax=always"); }
  // Whether the file system is memory.
  bool IsMemory() const { return type == "tmpfs" || type == "ramfs"; }
  // Whether it is on another machine.
  bool IsNetwork() const;
};

// Reads /proc/self/mountinfo; lines that are none are left out. `root`: instead of "", for tests.
Status ReadMounts(const std::string& root, std::vector<Mount>* mounts);

// The mount that a path is on, which is absolute and without links; null if there is none.
const Mount* MountOf(const std::string& path, const std::vector<Mount>& mounts);

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
