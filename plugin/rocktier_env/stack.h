// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// FileSystems by the text that they were made of.

#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/convenience.h"
#include "rocksdb/file_system.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier_env {

// A FileSystem, with all those below it. Thread-safe.
class Stack {
 public:
  explicit Stack(std::shared_ptr<FileSystem>&& fs) : fs_(std::move(fs)) {}

  const std::shared_ptr<FileSystem>& file_system() const { return fs_; }

  // Has the FileSystem prepare its options, until it has succeeded once: later it may be in use.
  Status Prepare(const ConfigOptions& options);

 private:
  const std::shared_ptr<FileSystem> fs_;
  std::mutex mutex_;
  bool prepared_ = false;
};

// Finds the Stack of a text that FileSystem::CreateFromString() takes, or makes it. It is not
// prepared then. What has an error is not kept. A Stack is never destroyed.
Status FindStack(const ConfigOptions& options, const std::string& text, Stack** result);

// How many there are.
size_t CountStacks();

// A text that is the same for all that differ by the order of a FileSystem's options, or by blanks
// around them. The value of an option is left as it is, for its order may matter; only that of
// `target` is another FileSystem.
std::string Normalize(const std::string& text);

}  // namespace rocktier_env
}  // namespace ROCKSDB_NAMESPACE
