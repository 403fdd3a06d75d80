// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "env/composite_env_wrapper.h"
#include "plugin/rocktier_env/stack.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier_env {

// Env::Default() over the FileSystem of a Stack. RocksDB makes it by its name alone, and configures
// it afterwards: so there is one for each time that it is read, and they share the Stack.
class RocktierEnv : public CompositeEnvWrapper {
 public:
  RocktierEnv();

  static const char* kClassName() { return "RocktierEnv"; }
  const char* Name() const override { return kClassName(); }

  Status PrepareOptions(const ConfigOptions& options) override;

 protected:
  Status ConfigureOptions(const ConfigOptions& options,
                          const std::unordered_map<std::string, std::string>& values,
                          std::unordered_map<std::string, std::string>* unused) override;

 private:
  Status Configure(const ConfigOptions& options,
                   const std::unordered_map<std::string, std::string>& values);
  Status UseStack(const ConfigOptions& options, const std::string& text);

  std::string text_;        // file_system
  Stack* stack_ = nullptr;  // null until it is configured
  Status status_;           // why it is not
};

// Makes a RocktierEnv that is never destroyed.
Env* MakeRocktierEnv();

// How many there are.
size_t CountRocktierEnvs();

}  // namespace rocktier_env
}  // namespace ROCKSDB_NAMESPACE
