// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace rocktier {

// A small file system in memory, for the time of a test: its ENOSPC is a real one.
class Mount {
 public:
  Mount(const std::string& folder, const std::string& options) : folder_(folder) {
    std::filesystem::create_directories(folder);
    ok_ = mount("rocktier", folder.c_str(), "tmpfs", 0, options.c_str()) == 0;
    error_ = errno;
  }
  ~Mount() {
    if (ok_) {
      umount2(folder_.c_str(), MNT_DETACH);
    }
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;

  bool ok() const { return ok_; }
  // Why it is not there.
  const char* error() const { return strerror(error_); }
  // Changes its size.
  bool Remount(const std::string& options) const {
    return mount("rocktier", folder_.c_str(), "tmpfs", MS_REMOUNT, options.c_str()) == 0;
  }

 private:
  const std::string folder_;
  bool ok_;
  int error_;
};

}  // namespace rocktier
