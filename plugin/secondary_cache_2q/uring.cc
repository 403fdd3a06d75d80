// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/uring.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#ifdef ROCKSDB_IOURING_PRESENT
#include <liburing.h>
#endif

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

#ifdef ROCKSDB_IOURING_PRESENT

namespace {

class KernelRing : public Ring {
 public:
  KernelRing(int fd, const io_uring& ring) : fd_(fd), ring_(ring) { queued_.reserve(kDepth); }
  ~KernelRing() override { io_uring_queue_exit(&ring_); }

  bool broken() const override { return error_.load(std::memory_order_relaxed) != 0; }

  void Start(Transfer* transfer) override {
    std::lock_guard<std::mutex> lock(mutex_);
    transfer->done = false;
    // Waits: no more may be under way than the completion queue surely holds.
    while (pending_ >= kDepth && !broken()) {
      Reap(/*wait=*/true);
    }
    io_uring_sqe* sqe = broken() ? nullptr : io_uring_get_sqe(&ring_);
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
    pending_++;
    queued_.push_back(transfer);
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

  // Gives the ring up: the kernel takes no more. What the kernel has not taken stays in its queue,
  // which it is never asked to look at again. The caller does those transfers over.
  void Break(int error) {
    error_.store(error, std::memory_order_relaxed);
    for (Transfer* transfer : queued_) {
      Fail(transfer, error);
    }
    pending_ -= static_cast<unsigned>(queued_.size());
    queued_.clear();
  }

  void Submit() {
    while (!queued_.empty()) {
      const int submitted = io_uring_submit(&ring_);
      const bool passing = submitted == -EAGAIN || submitted == -EBUSY || submitted == 0;
      if (submitted > 0) {
        queued_.erase(queued_.begin(), queued_.begin() + submitted);
      } else if (passing && pending_ > queued_.size()) {
        return;  // the entries stay queued until some of those under way are done
      } else if (submitted != -EINTR) {
        Break(submitted == 0 ? EAGAIN : -submitted);
      }
    }
  }

  void Reap(bool wait) {
    Submit();
    if (pending_ == 0) {
      return;
    }
    io_uring_cqe* cqe = nullptr;
    if (wait && !broken()) {
      const int result = io_uring_wait_cqe(&ring_, &cqe);
      if (result != 0) {
        if (result != -EINTR) {
          Break(-result);
        }
        return;
      }
    } else if (io_uring_peek_cqe(&ring_, &cqe) != 0) {
      if (wait) {
        std::this_thread::sleep_for(kNap);  // completions come without our asking
      }
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

  static constexpr std::chrono::microseconds kNap{50};

  const int fd_;
  std::atomic<int> error_{0};  // an errno, once broken
  std::mutex mutex_;
  // Guarded by mutex_.
  io_uring ring_;
  unsigned pending_ = 0;           // started and not reaped
  std::vector<Transfer*> queued_;  // of these, not yet handed to the kernel, in order
};

}  // namespace

std::shared_ptr<Ring> Ring::Create(int fd, int* error) {
  io_uring ring;
  const int result = io_uring_queue_init(kDepth, &ring, 0);
  if (result != 0) {
    *error = -result;
    return nullptr;
  }
  // A sandbox may allow the set-up and not the use.
  io_uring_cqe* cqe = nullptr;
  io_uring_prep_nop(io_uring_get_sqe(&ring));
  const int used = io_uring_submit(&ring) == 1 ? io_uring_wait_cqe(&ring, &cqe) : -EPERM;
  if (used != 0) {
    *error = -used;
    io_uring_queue_exit(&ring);
    return nullptr;
  }
  io_uring_cqe_seen(&ring, cqe);
  return std::make_shared<KernelRing>(fd, ring);
}

#else

std::shared_ptr<Ring> Ring::Create(int /*fd*/, int* error) {
  *error = 0;
  return nullptr;
}

#endif

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
