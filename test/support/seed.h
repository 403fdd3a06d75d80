// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What a test that draws at random, or goes on for a while, takes from the environment.

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace rocktier {

// The number in an environment variable; `otherwise` if it is not set, or empty.
inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = getenv(name);
  return text != nullptr && *text != '\0' ? strtoull(text, nullptr, 10) : otherwise;
}

// The seed of a random test: ROCKTIER_SEED, or a new one each time. Printed, so that a failure can
// be replayed. Below 2^32, unless ROCKTIER_SEED is not.
inline uint64_t Seed() {
  const uint64_t seed = FromEnvironment("ROCKTIER_SEED", std::random_device()());
  printf("ROCKTIER_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

// How many rounds a random test makes: ROCKTIER_ROUNDS, or `otherwise`.
inline int Rounds(int otherwise) {
  return static_cast<int>(FromEnvironment("ROCKTIER_ROUNDS", static_cast<uint64_t>(otherwise)));
}

}  // namespace rocktier
