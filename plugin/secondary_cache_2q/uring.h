// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

class Ring;

// One read or write of a file.
struct Transfer {
  bool write = false;
  uint64_t offset = 0;
  char* data = nullptr;
  size_t size = 0;
  // Once done: bytes moved, or minus an errno. A transfer is complete when they equal `size`.
  int64_t result = 0;
  bool done = false;           // guarded by the ring's mutex while the transfer is under way
  std::shared_ptr<Ring> ring;  // the one it is under way in
};

// An io_uring for the transfers of one file. Transfers are queued by Start(), handed to the kernel
// together at the next Poll() or Wait() (or when the queue is full) and then run side by side.
//
// Thread-safe: another thread than the one that started a transfer may wait for it. But a ring is
// meant for one thread. The caller completes a short or failed transfer.
//
// A kernel may refuse io_uring from any moment on (a seccomp filter). The ring is broken then: what
// is queued fails, what the kernel already has is waited for, and nothing new is taken.
class Ring {
 public:
  // Null if the kernel has no io_uring or refuses it; *error is its errno, 0 in a build without
  // liburing.
  static std::shared_ptr<Ring> Create(int fd, int* error);
  virtual ~Ring() = default;

  // Whether the ring is of no more use: let go of it.
  virtual bool broken() const = 0;

  // The transfer must live until it is done.
  virtual void Start(Transfer* transfer) = 0;
  virtual bool Poll(const Transfer* transfer) = 0;
  virtual void Wait(const Transfer* transfer) = 0;

  static constexpr unsigned kDepth = 64;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
