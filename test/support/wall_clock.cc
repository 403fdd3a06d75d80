// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/support/wall_clock.h"

#include <sys/time.h>

#include <ctime>

namespace rocktier {

std::atomic<int64_t> wall_clock_ahead{0};

}  // namespace rocktier

// Takes the place of the C library's, which RocksDB's Env asks.
extern "C" int gettimeofday(struct timeval* now, void* /*zone*/) noexcept {
  struct timespec right;
  clock_gettime(CLOCK_REALTIME, &right);
  now->tv_sec = right.tv_sec + rocktier::wall_clock_ahead.load();
  now->tv_usec = right.tv_nsec / 1000;
  return 0;
}
