// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/uring.h"

#include <cstring>
#include <string>

#ifdef ROCKSDB_IOURING_PRESENT
#include <liburing.h>
#endif

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

#ifdef ROCKSDB_IOURING_PRESENT

namespace {

class KernelRing : public Ring {
 public:
  KernelRing(int fd, const io_uring& ring) : fd_(fd), ring_(ring) {}
  ~KernelRing() override { io_uring_queue_exit(&ring_); }

  void Start(Transfer* transfer) override {
    std::lock_guard<std::mutex> lock(mutex_);
    // No more under way than the completion queue surely holds.
    while (pending_ >= kDepth) {
      Reap(/*wait=*/true);
    }
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    if (sqe == nullptr) {
      Submit();
      sqe = io_uring_get_sqe(&ring_);
    }
    if (sqe == nullptr) {
      Fail(transfer, EBUSY);
      return;
    }
    const auto size = static_cast<unsigned>(transfer->size);
    if (transfer->write) {
      io_uring_prep_write(sqe, fd_, transfer->data, size, transfer->offset);
    } else {
      io_uring_prep_read(sqe, fd_, transfer->data, size, transfer->offset);
    }
    io_uring_sqe_set_data(sqe, transfer);
    transfer->done = false;
    pending_++;
    queued_++;
  }

  bool Poll(const Transfer* transfer) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!transfer->done) {
      Reap(/*wait=*/false);
    }
    return transfer->done;
  }

  void Wait(const Transfer* transfer) override {
    std::lock_guard<std::mutex> lock(mutex_);
    while (!transfer->done) {
      Reap(/*wait=*/true);
    }
  }

 private:
  static void Fail(Transfer* transfer, int error) {
    transfer->result = -error;
    transfer->done = true;
  }

  void Submit() {
    while (queued_ > 0) {
      const int submitted = io_uring_submit(&ring_);
      if (submitted > 0) {
        queued_ -= static_cast<unsigned>(submitted);
      } else if (submitted != -EINTR && pending_ > queued_) {
        return;  // the entries stay queued until some of those under way are done
      }
    }
  }

  void Reap(bool wait) {
    Submit();
    io_uring_cqe* cqe = nullptr;
    if (wait) {
      if (io_uring_wait_cqe(&ring_, &cqe) != 0) {
        return;  // interrupted
      }
    } else if (io_uring_peek_cqe(&ring_, &cqe) != 0) {
      return;
    }
    while (cqe != nullptr) {
      auto* transfer = static_cast<Transfer*>(io_uring_cqe_get_data(cqe));
      transfer->result = cqe->res;
      transfer->done = true;
      pending_--;
      io_uring_cqe_seen(&ring_, cqe);
      if (io_uring_peek_cqe(&ring_, &cqe) != 0) {
        cqe = nullptr;
      }
    }
  }

  const int fd_;
  std::mutex mutex_;
  // Guarded by mutex_.
  io_uring ring_;
  unsigned pending_ = 0;  // started and not reaped
  unsigned queued_ = 0;   // of these, not yet handed to the kernel
};

}  // namespace

std::shared_ptr<Ring> Ring::Create(int fd, std::string* why) {
  io_uring ring;
  const int result = io_uring_queue_init(kDepth, &ring, 0);
  if (result != 0) {
    *why = strerror(-result);
    return nullptr;
  }
  // A sandbox may allow the set-up and not the use.
  io_uring_cqe* cqe = nullptr;
  io_uring_prep_nop(io_uring_get_sqe(&ring));
  const int used = io_uring_submit(&ring) == 1 ? io_uring_wait_cqe(&ring, &cqe) : -EPERM;
  if (used != 0) {
    *why = strerror(-used);
    io_uring_queue_exit(&ring);
    return nullptr;
  }
  io_uring_cqe_seen(&ring, cqe);
  return std::make_shared<KernelRing>(fd, ring);
}

#else

std::shared_ptr<Ring> Ring::Create(int /*fd*/, std::string* why) {
  *why = "RocksDB was built without liburing";
  return nullptr;
}

#endif

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
