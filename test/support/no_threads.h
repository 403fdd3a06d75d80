// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <pthread.h>

#include <cstddef>

#include "gtest/gtest.h"

namespace rocktier {

// No thread can be had in this process as long as this lives: std::thread throws std::system_error,
// as where a limit of threads is reached. Each would need a stack as large as all addresses.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t attributes;
    EXPECT_EQ(pthread_getattr_default_np(&attributes), 0);
    EXPECT_EQ(pthread_attr_getstacksize(&attributes, &stack_), 0);
    pthread_attr_destroy(&attributes);
    SetStack(size_t{1} << 47);
  }
  ~NoThreads() { SetStack(stack_); }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  static void SetStack(size_t bytes) {
    pthread_attr_t attributes;
    EXPECT_EQ(pthread_getattr_default_np(&attributes), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
    EXPECT_EQ(pthread_setattr_default_np(&attributes), 0);
    pthread_attr_destroy(&attributes);
  }

  size_t stack_ = 0;
};

}  // namespace rocktier
