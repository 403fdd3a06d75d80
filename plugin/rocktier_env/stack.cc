// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/rocktier_env/stack.h"

#include <map>
#include <unordered_map>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace rocktier_env {

namespace {

struct Stacks {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Stack>> by_text;
};

// Never destroyed: databases that are open when the process ends use what is in it.
Stacks& AllStacks() {
  static auto* stacks = new Stacks();
  return *stacks;
}

Status Make(const ConfigOptions& options, const std::string& text,
            std::shared_ptr<FileSystem>* result) {
  // With what RocksDB ignores by default there would be no FileSystem, or another one than meant.
  ConfigOptions strict = options;
  strict.ignore_unknown_options = false;
  strict.ignore_unsupported_options = false;
  strict.invoke_prepare_options = false;
  Status s = FileSystem::CreateFromString(strict, text, result);
  if (s.IsNotSupported()) {
    return Status::NotSupported(s.getState(),
                                "has it a typo, or is the plugin not built into this program?");
  }
  return s;
}

}  // namespace

std::string Normalize(const std::string& text) {
  std::unordered_map<std::string, std::string> options;
  if (text.find('=') == std::string::npos || !StringToMap(text, &options).ok()) {
    return "id={" + text + "};";
  }
  std::string result;
  for (const auto& [name, value] :
       std::map<std::string, std::string>(options.begin(), options.end())) {
    result.append(name).append("={").append(name == "target" ? Normalize(value) : value);
    result.append("};");
  }
  return result;
}

Status Stack::Prepare(const ConfigOptions& options) {
  std::lock_guard<std::mutex> lock(mutex_);
  Status s;
  if (!prepared_) {
    s = fs_->PrepareOptions(options);
    prepared_ = s.ok();
  }
  return s;
}

Status FindStack(const ConfigOptions& options, const std::string& text, Stack** result) {
  Stacks& stacks = AllStacks();
  const std::string key = Normalize(text);
  {
    std::lock_guard<std::mutex> lock(stacks.mutex);
    const auto it = stacks.by_text.find(key);
    if (it != stacks.by_text.end()) {
      *result = it->second.get();
      return Status::OK();
    }
  }
  std::shared_ptr<FileSystem> fs;
  Status s = Make(options, text, &fs);
  if (s.ok()) {
    // If another thread was faster, fs goes: it was not prepared, and has done nothing.
    auto stack = std::make_unique<Stack>(std::move(fs));
    std::lock_guard<std::mutex> lock(stacks.mutex);
    *result = stacks.by_text.try_emplace(key, std::move(stack)).first->second.get();
  }
  return s;
}

size_t CountStacks() {
  Stacks& stacks = AllStacks();
  std::lock_guard<std::mutex> lock(stacks.mutex);
  return stacks.by_text.size();
}

}  // namespace rocktier_env
}  // namespace ROCKSDB_NAMESPACE
