// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Linked into a RocksDB test with --wrap, puts the FileSystem of the URI in the environment
// variable ROCKTIER_FS_URI, if that is set, in the place of FileSystem::Default() and below
// Env::Default(), for tests that do not heed TEST_FS_URI.

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "env/composite_env_wrapper.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {

// The linker's --wrap=SYMBOL sends the callers of SYMBOL to __wrap_SYMBOL, and those of
// __real_SYMBOL to SYMBOL.
#define FS "_ZN7rocksdb10FileSystem7DefaultEv"
#define ENV "_ZN7rocksdb3Env7DefaultEv"
std::shared_ptr<FileSystem> RealFs() __asm__("__real_" FS);
std::shared_ptr<FileSystem> WrapFs() __asm__("__wrap_" FS);
Env* RealEnv() __asm__("__real_" ENV);
Env* WrapEnv() __asm__("__wrap_" ENV);

namespace {

// Ours asks for the default ones, too.
thread_local bool making = false;

bool UseReal() {
  static const bool unset = getenv("ROCKTIER_FS_URI") == nullptr;
  return unset || making;
}

// None is ever destroyed: RocksDB's are not, either.
struct Defaults {
  Defaults() {
    making = true;
    const Status s = FileSystem::CreateFromString(ConfigOptions(), getenv("ROCKTIER_FS_URI"), &fs);
    if (!s.ok()) {
      fprintf(stderr, "%s\n", s.ToString().c_str());
      abort();
    }
    env = new CompositeEnvWrapper(RealEnv(), fs);
    making = false;
  }

  std::shared_ptr<FileSystem> fs;
  Env* env;
};

const Defaults& Ours() {
  static const auto* const defaults = new Defaults();
  return *defaults;
}

}  // namespace

std::shared_ptr<FileSystem> WrapFs() { return UseReal() ? RealFs() : Ours().fs; }

Env* WrapEnv() { return UseReal() ? RealEnv() : Ours().env; }

}  // namespace ROCKSDB_NAMESPACE
