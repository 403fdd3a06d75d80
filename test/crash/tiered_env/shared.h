// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What a child that will be killed tells its parent.

#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace rocktier {

// In a file that parent and child map.
struct Shared {
  std::atomic<uint64_t> issued{0};        // writes [0, issued) may have happened
  std::atomic<uint64_t> acknowledged{0};  // writes [0, acknowledged) were acknowledged
  std::atomic<uint64_t> failed{0};
  // Of tiers in memory, of all children.
  std::atomic<uint64_t> rebuilt{0};  // SSTs
  std::atomic<uint64_t> trims{0};
  std::atomic<uint64_t> references{0};
};

inline Shared* MapShared(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || ftruncate(fd, sizeof(Shared)) != 0) {
    abort();
  }
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) {
    abort();
  }
  return static_cast<Shared*>(memory);
}

}  // namespace rocktier
