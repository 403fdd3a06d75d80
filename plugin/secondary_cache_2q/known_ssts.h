// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Which SST is at which path. Several paths have the same one if it was ingested twice, or copied:
// then their blocks have the same keys. An SST is known by what all of these begin with, which is
// never 0 (see FileKeys). Not thread-safe.
class KnownSsts {
 public:
  // Notes that the SST is at the path, in the place of any other one.
  void Add(const std::string& path, uint64_t file) {
    Remove(path);
    files_[path] = file;
    paths_[file]++;
  }

  // Forgets the path. Returns the SST that was there; 0 if none is known.
  uint64_t Remove(const std::string& path) {
    const auto it = files_.find(path);
    if (it == files_.end()) {
      return 0;
    }
    const uint64_t file = it->second;
    files_.erase(it);
    const auto paths = paths_.find(file);
    if (--paths->second == 0) {
      paths_.erase(paths);
    }
    return file;
  }

  // Whether the SST is at some path.
  bool Has(uint64_t file) const { return paths_.count(file) > 0; }

 private:
  std::unordered_map<std::string, uint64_t> files_;  // by path
  std::unordered_map<uint64_t, size_t> paths_;       // how many have the SST
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
