// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "gtest/gtest.h"

namespace rocktier {

// This process gets no more than so many bytes of memory as long as this lives: more is
// std::bad_alloc. With a sanitizer, which takes addresses as it likes, it does nothing.
class MemoryLimit {
 public:
  explicit MemoryLimit(uint64_t bytes) {
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    EXPECT_GT(pages, 0u);
    EXPECT_EQ(getrlimit(RLIMIT_AS, &before_), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + bytes;
    EXPECT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
#else
    (void)bytes;
#endif
  }
  ~MemoryLimit() { EXPECT_EQ(setrlimit(RLIMIT_AS, &before_), 0); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace rocktier
