// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace rocktier {

// A folder of its own for each test.
inline std::string NewFolder() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_case_name()) + "." + test->name();
  for (char& c : name) {
    c = c == '/' ? '_' : c;
  }
  const char* base = getenv("TEST_TMPDIR");
  const std::string folder = std::string(base != nullptr ? base : "/tmp") + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

// Printed; ROCKTIER_SEED sets it.
inline uint64_t NewSeed() {
  const char* text = getenv("ROCKTIER_SEED");
  const uint64_t seed =
      text != nullptr && *text != '\0' ? strtoull(text, nullptr, 10) : std::random_device()();
  printf("seed %llu (ROCKTIER_SEED)\n", static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace rocktier
