// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// OnDisk: the files of a store at a moment, but for its LOG; those with two names once.
class OnDisk {
 public:
  explicit OnDisk(const std::string& store) {
    std::map<ino_t, uint64_t> seen;
    std::error_code gone;
    for (std::filesystem::directory_iterator it(store, gone), end; !gone && it != end;
         it.increment(gone)) {
      const std::string name = it->path().filename();
      struct stat attributes {};
      if (name.rfind("LOG", 0) == 0 || stat(it->path().c_str(), &attributes) != 0) {
        continue;
      }
      const auto size = static_cast<uint64_t>(attributes.st_size);
      if (seen.emplace(attributes.st_ino, size).second) {
        bytes_ += size;
        ssts_ += it->path().extension() == ".sst" ? size : 0;
      }
      list_ += " " + name + "=" + std::to_string(size);
    }
  }

  uint64_t bytes() const { return bytes_; }
  uint64_t ssts() const { return ssts_; }  // bytes
  const std::string& list() const { return list_; }

 private:
  uint64_t bytes_ = 0;
  uint64_t ssts_ = 0;
  std::string list_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
