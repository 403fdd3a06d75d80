// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <memory>
#include <string>

#include "plugin/rocktier_env/env.h"
#include "plugin/rocktier_env/rocktier_env.h"
#include "plugin/rocktier_env/stack.h"
#include "rocksdb/utilities/object_registry.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier_env {

namespace {

int Register(ObjectLibrary& library) {
  // Leaves the guard empty: RocksDB takes only such an Env from an OPTIONS file.
  library.AddFactory<Env>(ObjectLibrary::PatternEntry(RocktierEnv::kClassName()),
                          [](const std::string& /*uri*/, std::unique_ptr<Env>* /*guard*/,
                             std::string* /*error*/) { return MakeRocktierEnv(); });
  // A string whose braces do not match is a name for RocksDB. It would not find that one, and go on
  // with Env::Default().
  for (const char* const opening : {"id=", "{id="}) {
    library.AddFactory<Env>(
        ObjectLibrary::PatternEntry(std::string(opening) + RocktierEnv::kClassName(), false)
            .AddSeparator(";"),
        [](const std::string& /*uri*/, std::unique_ptr<Env>* /*guard*/,
           std::string* error) -> Env* {
          *error = "RocktierEnv: braces do not match, or an option has no value";
          return nullptr;
        });
  }
  size_t types;
  return static_cast<int>(library.GetFactoryCount(&types));
}

}  // namespace

RocktierEnvStats GetRocktierEnvStats() {
  RocktierEnvStats stats;
  stats.file_systems = CountStacks();
  stats.envs = CountRocktierEnvs();
  return stats;
}

}  // namespace rocktier_env
}  // namespace ROCKSDB_NAMESPACE

extern "C" int register_rocktier_env(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                     const std::string& /*arg*/) {
  return ROCKSDB_NAMESPACE::rocktier_env::Register(library);
}
