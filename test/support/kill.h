// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What tests share that kill a child: a program that runs itself again.

#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "test_util/sync_point.h"

namespace rocktier {

// A file that parent and child map: of zeros, if it is new.
template <typename Shared>
Shared* MapShared(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || ftruncate(fd, sizeof(Shared)) != 0) {
    abort();
  }
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) {
    abort();
  }
  return static_cast<Shared*>(memory);
}

// From now on this process kills itself when it comes to this point for the n-th time; never, if
// the point is empty. `last`: what it does before, if anything.
inline void DieAt(const std::string& point, int hits, const std::function<void()>& last = nullptr) {
  if (point.empty()) {
    return;
  }
  auto* const sync_point = ROCKSDB_NAMESPACE::SyncPoint::GetInstance();
  const auto left = std::make_shared<std::atomic<int>>(hits);
  sync_point->SetCallBack(point, [left, last](void*) {
    if (--*left == 0) {
      if (last) {
        last();
      }
      kill(getpid(), SIGKILL);
    }
  });
  sync_point->EnableProcessing();
}

// Kills the child after so many microseconds, if it has not died by then. Returns whether it had.
inline bool KillAfter(pid_t pid, uint64_t micros, int* status) {
  constexpr uint64_t kStep = 1000;
  for (uint64_t waited = 0; waited < micros; waited += kStep) {
    usleep(kStep);
    if (waitpid(pid, status, WNOHANG) == pid) {
      return true;
    }
  }
  kill(pid, SIGKILL);
  if (waitpid(pid, status, 0) != pid) {
    abort();
  }
  return false;
}

}  // namespace rocktier
