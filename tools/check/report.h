// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What `rocktier check` finds, and what finds it.

#pragma once

#include <string>
#include <vector>

#include "tools/check/options_text.h"
#include "tools/check/stack.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

struct Report {
  std::vector<std::string> refused;  // the opening would fail
  std::vector<std::string> room;     // it cannot hold
  std::vector<std::string> notes;    // it works, and gains less
};

struct Subject {
  std::string database;  // its directory
  OptionsText options;
  Stack stack;
  uint64_t memory = 0;  // that RocksDB may have
};

// What DB::Open, or whatever makes the FileSystem, would refuse.
void CheckRefusals(const Subject& subject, Report* report);

// Sums of what shares a file system, the log device, and memory.
void CheckRoom(const Subject& subject, Report* report);

// Devices at the wrong place.
void CheckDevices(const Subject& subject, Report* report);

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
