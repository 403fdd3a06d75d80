// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The limits of the cgroups that this process is in, of version 1 and 2. `root`: instead of "", for
// tests.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

struct Cgroup {
  std::string directory;
  int version = 2;
};

// The cgroups of a controller, "memory": the one that this process is in, and those above it. One
// that cannot be seen, as in a container, counts as the hierarchy's root.
std::vector<Cgroup> CgroupsOf(const std::string& root, const std::string& controller);

// Reads digits at the beginning of a small file; false if there are none, as with "max".
bool ReadNumber(const std::string& path, uint64_t* number);

// The least limit of memory; false if there is none. `file`: that has it, "memory.max".
bool ReadMemoryLimit(const std::string& root, uint64_t* bytes, std::string* file);

// The least limit of time in CPUs, "1.5"; false if there is none.
bool ReadCpuLimit(const std::string& root, double* cpus);

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
