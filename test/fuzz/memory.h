// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Files in memory, for targets that read files.

#pragma once

#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "test/fuzz/target.h"

namespace rocktier {

class MemoryFiles {
 public:
  MemoryFiles() : env_(rocksdb::NewMemEnv(rocksdb::Env::Default())) {
    Require(fs()->CreateDirIfMissing(folder(), rocksdb::IOOptions(), nullptr).ok(), "a folder");
  }

  rocksdb::Env* env() const { return env_.get(); }
  rocksdb::FileSystem* fs() const { return env_->GetFileSystem().get(); }
  std::string folder() const { return "/folder"; }
  std::string PathOf(const std::string& name) const { return folder() + "/" + name; }

  void Write(const std::string& name, const std::string& bytes) const {
    const auto s = rocksdb::WriteStringToFile(env_.get(), bytes, PathOf(name));
    Require(s.ok(), "a file in memory is written");
  }
  std::string Read(const std::string& name) const {
    std::string bytes;
    const auto s = rocksdb::ReadFileToString(env_.get(), PathOf(name), &bytes);
    Require(s.ok(), "a file in memory is read");
    return bytes;
  }

 private:
  const std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace rocktier
