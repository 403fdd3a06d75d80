// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Which directory is for what.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "tools/doctor/place.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

// Null: there is none.
struct Pair {
  const Place* fast = nullptr;
  const Place* slow = nullptr;
};

struct Roles {
  const Place* home = nullptr;    // the disk with the most room
  const Place* device = nullptr;  // where a log device's writes take the least
  const Place* memory = nullptr;  // the memory with the most room
  Pair disks;                     // the one clearly faster than the other
  Pair network;                   // a disk of this machine, and a network volume
  Pair pmem;                      // persistent memory, and a disk

  explicit Roles(const std::vector<Place>& places);
};

// "93 us".
std::string Micros(double micros);

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
