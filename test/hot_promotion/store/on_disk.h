// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// OnDisk: the files of a store at a moment, but for its LOG; those with two names once.
class OnDisk {
 public:
  // A thread that pauses in between sees files that were never there at once: it looks again.
  explicit OnDisk(const std::string& store) {
    for (int i = 0; i < kLooks && !Look(store); i++) {
    }
  }

  uint64_t bytes() const { return bytes_; }
  uint64_t ssts() const { return ssts_; }  // bytes
  const std::string& list() const { return list_; }

 private:
  static constexpr int kLooks = 1000;

  // Returns whether all files were there when the last one was seen.
  bool Look(const std::string& store) {
    bytes_ = 0;
    ssts_ = 0;
    list_.clear();
    std::map<ino_t, uint64_t> seen;
    std::map<std::string, ino_t> names;
    struct stat attributes {};
    std::error_code gone;
    for (std::filesystem::directory_iterator it(store, gone), end; !gone && it != end;
         it.increment(gone)) {
      const std::string name = it->path().filename();
      if (name.rfind("LOG", 0) == 0 || stat(it->path().c_str(), &attributes) != 0) {
        continue;
      }
      const auto size = static_cast<uint64_t>(attributes.st_size);
      if (seen.emplace(attributes.st_ino, size).second) {
        bytes_ += size;
        ssts_ += it->path().extension() == ".sst" ? size : 0;
      }
      list_ += " " + name + "=" + std::to_string(size);
      names[it->path()] = attributes.st_ino;
    }
    return std::all_of(names.begin(), names.end(), [&](const auto& name) {
      return stat(name.first.c_str(), &attributes) == 0 && attributes.st_ino == name.second;
    });
  }

  uint64_t bytes_ = 0;
  uint64_t ssts_ = 0;
  std::string list_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
