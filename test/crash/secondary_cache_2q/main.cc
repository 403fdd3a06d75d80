// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// crash_2q_test [--seed=N] [GoogleTest's flags]: kills processes that use TwoQSecondaryCache and
// looks at what they leave. The same program is the process that is killed; see child.h.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "port/stack_trace.h"
#include "test/crash/secondary_cache_2q/child.h"
#include "test/crash/secondary_cache_2q/fixture.h"

namespace {

constexpr unsigned kGrace = 1200;  // seconds

}  // namespace

int main(int argc, char** argv) {
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  if (rocktier::IsChild(argc, argv)) {
    return rocktier::ChildMain(argv);
  }
  ::testing::InitGoogleTest(&argc, argv);
  const std::string flag = "--seed=";
  const char* seed = getenv("ROCKTIER_SEED");
  for (int i = 1; i < argc; i++) {
    if (flag.compare(0, flag.size(), argv[i], flag.size()) == 0) {
      seed = argv[i] + flag.size();
    } else {
      fprintf(stderr, "unknown argument: %s\n", argv[i]);
      return 2;
    }
  }
  rocktier::g_seed = seed != nullptr ? strtoull(seed, nullptr, 10) : std::random_device()();
  printf("seed %llu (--seed, ROCKTIER_SEED)\n", static_cast<unsigned long long>(rocktier::g_seed));
  // A test that hangs has to end, whatever time it was given.
  alarm(kGrace + 2 * static_cast<unsigned>(rocktier::CrashSeconds(0)));
  return RUN_ALL_TESTS();
}
