// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/rocktier_env/env.h"

#include <memory>
#include <mutex>
#include <vector>

#include "env/fs_readonly.h"
#include "rocksdb/system_clock.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier_env {

namespace {

constexpr char kFileSystem[] = "file_system";
constexpr char kClock[] = "clock";

struct Envs {
  std::mutex mutex;
  std::vector<std::unique_ptr<RocktierEnv>> all;
};

Envs& AllEnvs() {
  static auto* envs = new Envs();
  return *envs;
}

// Never says NotFound or NotSupported: RocksDB would go on with Env::Default(). `text`: RocksDB
// 9.10 takes the braces off, 11.8 leaves them.
Status Refuse(const std::string& option, const std::string& text, const Status& reason) {
  const std::string value = Slice(text).starts_with("{") ? text : "{" + text + "}";
  return Status::InvalidArgument("RocktierEnv: " + option + "=" + value, reason.ToString());
}

}  // namespace

RocktierEnv::RocktierEnv() : CompositeEnvWrapper(Env::Default()) {}

// RocksDB's reader of OPTIONS files calls it with invoke_prepare_options=false, and afterwards
// PrepareOptions().
Status RocktierEnv::ConfigureOptions(const ConfigOptions& options,
                                     const std::unordered_map<std::string, std::string>& values,
                                     std::unordered_map<std::string, std::string>* /*unused*/) {
  if (stack_ != nullptr) {
    return Status::InvalidArgument("RocktierEnv: cannot be changed", "make another one");
  }
  status_ = Configure(options, values);
  if (!status_.ok()) {
    // Who takes no notice of the error makes no database in plain files.
    file_system_ = std::make_shared<ReadOnlyFileSystem>(FileSystem::Default());
  }
  if (options.invoke_prepare_options) {
    return PrepareOptions(options);
  }
  // RocksDB would ignore it here, and go on with Env::Default(): PrepareOptions() tells it.
  return options.ignore_unknown_options ? Status::OK() : status_;
}

Status RocktierEnv::Configure(const ConfigOptions& options,
                              const std::unordered_map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    if (name == kClock) {
      const Status s = SystemClock::CreateFromString(options, value, &system_clock_);
      if (!s.ok()) {
        return Refuse(name, value, s);
      }
    } else if (name != kFileSystem) {
      return Status::InvalidArgument("RocktierEnv: " + name, "is no option; file_system is one");
    }
  }
  const auto text = values.find(kFileSystem);
  if (text == values.end() || text->second.empty()) {
    return Status::InvalidArgument("RocktierEnv: file_system", "is required");
  }
  return UseStack(options, text->second);
}

Status RocktierEnv::UseStack(const ConfigOptions& options, const std::string& text) {
  text_ = text;
  const Status s = FindStack(options, text, &stack_);
  if (!s.ok()) {
    return Refuse(kFileSystem, text, s);
  }
  file_system_ = stack_->file_system();
  return s;
}

Status RocktierEnv::PrepareOptions(const ConfigOptions& options) {
  if (stack_ == nullptr) {
    return status_;
  }
  const Status s = stack_->Prepare(options);
  return s.ok() ? s : Refuse(kFileSystem, text_, s);
}

Env* MakeRocktierEnv() {
  auto env = std::make_unique<RocktierEnv>();
  Env* const result = env.get();
  Envs& envs = AllEnvs();
  std::lock_guard<std::mutex> lock(envs.mutex);
  envs.all.push_back(std::move(env));
  return result;
}

size_t CountRocktierEnvs() {
  Envs& envs = AllEnvs();
  std::lock_guard<std::mutex> lock(envs.mutex);
  return envs.all.size();
}

}  // namespace rocktier_env
}  // namespace ROCKSDB_NAMESPACE
