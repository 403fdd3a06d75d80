// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the tool checks before it begins.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "shared/load.h"
#include "tools/command.h"

namespace rocktier {

void AfterLoad(const std::string& mismatch) {
  if (!mismatch.empty()) {
    std::_Exit(ROCKSDB_NAMESPACE::rocktier::kExitError);  // stderr has it
  }
  // The tool hides its own. Two of each plugin would not know what the other one has open.
  if (dlsym(RTLD_DEFAULT, "rocktier_status") != nullptr) {
    std::fprintf(stderr, "rocktier: librocktier.so is in this process, too: unset LD_PRELOAD\n");
    std::_Exit(ROCKSDB_NAMESPACE::rocktier::kExitError);
  }
}

}  // namespace rocktier
