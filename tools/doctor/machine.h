// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the machine gives to a process besides its disks.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

struct Machine {
  uint64_t cpus = 0;        // that this process may run on
  double cpu_limit = 0;     // of its cgroup, in CPUs; 0: none
  uint64_t memory = 0;      // of the machine
  uint64_t available = 0;   // what is available, or the limit of a cgroup
  std::string from;         // which of them
  uint64_t open_files = 0;  // ulimit -n
  uint64_t most_open_files = 0;
  std::string io_uring;  // why it cannot be used; empty: it can
};

// `root`: where proc and sys are, instead of "", for tests.
Status LookAtMachine(const std::string& root, Machine* machine);

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
