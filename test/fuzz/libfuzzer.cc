// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Runs the target that the environment variable ROCKTIER_FUZZ_TARGET names under libFuzzer:
// scripts/fuzz.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "test/fuzz/target.h"

namespace {

const rocktier::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = getenv("ROCKTIER_FUZZ_TARGET");
  for (const rocktier::Target& target : rocktier::Targets()) {
    if (name == nullptr) {
      printf("%s\n", target.name);
    } else if (strcmp(name, target.name) == 0) {
      chosen = &target;
    }
  }
  if (chosen == nullptr) {
    exit(name == nullptr ? 0 : 1);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
