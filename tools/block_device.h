// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the kernel tells of a disk, in sysfs.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

struct BlockDevice {
  std::string name;  // "nvme0n1"
  std::string model;
  bool rotates = false;
  uint64_t sector = 512;  // bytes: the unit of direct I/O

  // Whether its model is that of a cloud's network volume.
  bool IsNetworkVolume() const;
};

// "259:2".
std::string DeviceNumber(dev_t device);

// Reads what is known of a disk by its number; a partition has its disk's. False if the kernel
// knows no disk of this number, as with file systems of several. `root`: instead of "", for tests.
bool ReadBlockDevice(const std::string& root, const std::string& number, BlockDevice* device);

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
