// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the disk has of a database in tiers, without the plugin but for its codec of stubs.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rocktier {

// The tiers of the tests of changed placements, below their folder. `middle` has two directories.
std::string TiersBelow(const std::string& folder);
// Makes their directories, which are not there.
void MakeTiersBelow(const std::string& folder);
// The name of the tier that this is a directory of: "middle" of "middle.2".
std::string WholeTier(const std::string& tier);

// A file where it really is.
struct DiskFile {
  std::string tier;  // a whole one
  std::string path;
  uint64_t size = 0;  // bytes
  dev_t device = 0;
  ino_t inode = 0;
  int64_t written = 0;  // seconds since 1970
};

// What there is. Paths are absolute.
struct Disk {
  // By name at home: what has a stub, and the SSTs and blob files at home.
  std::map<std::string, DiskFile> files;
  std::vector<std::string> nameless;   // files in tiers that no stub names
  std::vector<std::string> temporary;  // files on their way, in tiers and at home
  std::vector<std::string> lost;       // what was put aside
  std::vector<std::string> faults;     // stubs that lead nowhere, are damaged, or name one file
};

// Requires that nobody changes anything meanwhile.
Disk LookAtDisk(const std::string& folder);

// Keeps files open: their inodes are not given to others, and who has the same is the same file.
// Not thread-safe.
class HeldFiles {
 public:
  explicit HeldFiles(const Disk& disk);
  ~HeldFiles();
  HeldFiles(const HeldFiles&) = delete;
  HeldFiles& operator=(const HeldFiles&) = delete;

  const Disk& disk() const { return disk_; }

 private:
  const Disk disk_;
  std::vector<int> descriptors_;
};

}  // namespace rocktier
