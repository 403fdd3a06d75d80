// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/raw_wal_fs/loop.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rocktier {

namespace {

// Other processes ask for free devices, too.
constexpr int kTries = 100;

std::string Error(const std::string& operation) { return operation + ": " + strerror(errno); }

}  // namespace

std::string LoopDevice::Open(const std::string& path, uint64_t size, uint32_t sector) {
  Close();
  const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  if (control < 0) {
    return Error("open /dev/loop-control");
  }
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
  std::string error;
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
    error = Error("create " + path + " for direct I/O");
  }
  for (int i = 0; error.empty() && fd_ < 0; i++) {
    const int number = ioctl(control, LOOP_CTL_GET_FREE);
    if (number < 0) {
      error = Error("ask for a loop device");
      break;
    }
    path_ = "/dev/loop" + std::to_string(number);
    fd_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (fd_ < 0) {
      error = Error("open " + path_);
      break;
    }
    loop_config config = {};
    config.fd = static_cast<uint32_t>(file);
    config.block_size = sector;
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
    if (ioctl(fd_, LOOP_CONFIGURE, &config) != 0) {
      error = errno == EBUSY && i < kTries ? "" : Error("configure " + path_);
      Close();
    }
  }
  loop_info64 info = {};
  if (error.empty() && ioctl(fd_, LOOP_GET_STATUS64, &info) != 0) {
    error = Error("ask for the state of " + path_);
  } else if (error.empty() && (info.lo_flags & LO_FLAGS_DIRECT_IO) == 0) {
    error = "no direct I/O with blocks of " + std::to_string(sector) + " bytes over " + path;
  }
  if (!error.empty()) {
    Close();
  }
  unlink(path.c_str());
  if (file >= 0) {
    close(file);
  }
  close(control);
  return error;
}

void LoopDevice::Close() {
  if (fd_ >= 0) {
    close(fd_);
    fd_ = -1;
  }
}

}  // namespace rocktier
