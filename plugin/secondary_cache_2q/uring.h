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
// Thread-safe: a transfer may be waited for by another thread than started it, but a ring is meant for
// one thread. A short transfer is completed by the caller.
class Ring {
 public:
  // Null if the kernel has no io_uring or refuses it; *why tells.
  static std::shared_ptr<Ring> Create(int fd, std::string* why);
  virtual ~Ring() = default;

  // The transfer must live until it is done.
  virtual void Start(Transfer* transfer) = 0;
  virtual bool Poll(const Transfer* transfer) = 0;
  virtual void Wait(const Transfer* transfer) = 0;

  static constexpr unsigned kDepth = 64;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
