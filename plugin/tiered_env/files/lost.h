// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/tier/policy.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// What seemed to be nobody's in a database's folders, and was put aside there instead of being
// deleted: FOLDER/lost/NAME.TIME, the seconds since 1970 when it was found. Not thread-safe.
class Lost {
 public:
  struct File {
    Tier* tier = nullptr;
    std::string name;    // in the folder, as it was
    std::string path;    // where it is
    uint64_t since = 0;  // seconds since 1970
    uint64_t size = 0;   // bytes
  };

  Lost(const Tiers& tiers, std::string folder) : tiers_(tiers), folder_(std::move(folder)) {}

  // The oldest first. What has no name of ours is left out.
  std::vector<File> List() const;
  // Puts a file of the folder aside. Replaces nothing that is there.
  IOStatus Take(const Place& place) const;
  IOStatus TakeDurably(const Place& place) const;
  // Puts it back, durably, under the name that it had.
  IOStatus BringBack(const File& file) const;

 private:
  std::string PathIn(const Tier& tier) const {
    return Folders::PathIn(tier, folder_ + "/" + kLostName);
  }

  const Tiers& tiers_;
  const std::string folder_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
