// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "test/crash/secondary_cache_2q/child.h"
#include "test/crash/secondary_cache_2q/observer.h"
#include "test/crash/secondary_cache_2q/site.h"

namespace rocktier {

// Set by main(): --seed=N or ROCKTIER_SEED, else drawn and printed.
extern uint64_t g_seed;
// How long the tests that kill at random may go on, all together: ROCKTIER_CRASH_SECONDS.
double CrashSeconds(double standard);

// A folder of its own for each test, removed if it passes.
class CrashTest : public ::testing::Test {
 protected:
  CrashTest();
  ~CrashTest() override;

  uint64_t Random(uint64_t below) { return random_() % below; }
  void Sleep(uint64_t milliseconds);

  // Makes the DB and its oracle. False if the kernel refuses the cache's way of I/O: then there is
  // nothing to test.
  bool Prepare(const std::string& cache_options, bool hyper_clock = false);

  Site site_;
  std::unique_ptr<Oracle> oracle_;
  std::mt19937_64 random_;
};

// The cache and the DB, opened by the test's own process.
struct Opened {
  std::shared_ptr<SecondaryCache> cache;
  std::shared_ptr<Observer> observer;
  std::unique_ptr<DB> db;

  // Errors of both.
  Status Open(const Site& site, bool read_only);
  CacheStats Stats() const { return StatsOf(cache.get()); }
};

}  // namespace rocktier
