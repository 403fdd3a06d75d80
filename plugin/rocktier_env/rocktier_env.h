// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// RocktierEnv: an Env by whose name an OPTIONS file, or any other string of DBOptions, names a
// FileSystem:
//
//   [DBOptions]
//     env={id=RocktierEnv;file_system={id=RawWalFileSystem;device=/dev/wal}}
//
// RocksDB reads such a line, and refuses its own CompositeEnv there: whoever reads options has no
// place for the owner of an Env. A RocktierEnv has none, and is never destroyed.
//
// Options:
//   file_system   the FileSystem, as FileSystem::CreateFromString() takes it: any one that is in
//                 the program, RocksDB's own included, with its `target`. Required.
//   clock         the SystemClock, as SystemClock::CreateFromString() takes it; that of
//                 Env::Default(). RocksDB's own option, for tests.
//
// The same file_system gives the same FileSystem in the whole process. Neither the order of its
// options matters nor blanks around them. Threads, thread pools and all else are those of
// Env::Default().
//
// In C++:
//
//   Env* env = nullptr;
//   Status s = Env::CreateFromString(
//       ConfigOptions(), "id=RocktierEnv;file_system={id=RawWalFileSystem;device=/dev/wal}", &env);
//
// A program that may let go of its FileSystem earlier takes NewCompositeEnv().
//
// README.md has what works with which program, and what a second opening costs.

#pragma once

#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier_env {

// What the process keeps until it ends.
struct RocktierEnvStats {
  // FileSystems: one for each text of file_system.
  uint64_t file_systems = 0;
  // Envs, of some hundred bytes each: one for each time that a RocktierEnv was read from a string.
  uint64_t envs = 0;
};

// Returns the numbers of now. Thread-safe.
RocktierEnvStats GetRocktierEnvStats();

}  // namespace rocktier_env
}  // namespace ROCKSDB_NAMESPACE
