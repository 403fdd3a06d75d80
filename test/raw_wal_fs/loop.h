// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>

namespace rocktier {

// A loop device with direct I/O over a file of its own. The kernel detaches it when the last
// descriptor is closed, so that neither a test that fails nor one that is killed leaves it behind.
// Linux, root.
class LoopDevice {
 public:
  LoopDevice() = default;
  ~LoopDevice() { Close(); }
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;

  // Over a new file `path`, which is unlinked at once. `sector`: bytes of a logical and physical
  // block. Returns why there can be none, "" if there is one.
  std::string Open(const std::string& path, uint64_t size, uint32_t sector);
  void Close();

  const std::string& path() const { return path_; }

 private:
  int fd_ = -1;
  std::string path_;
};

}  // namespace rocktier
