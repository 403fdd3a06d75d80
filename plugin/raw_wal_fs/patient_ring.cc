// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Writes to a device by io_uring.

#include "plugin/raw_wal_fs/patient.h"

#ifdef ROCKSDB_IOURING_PRESENT

#include <liburing.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kEntries = 2;

// A ring with one request at most.
class Ring {
 public:
  // Returns null if the kernel has no io_uring, refuses it here, or cannot wait with a limit.
  static std::unique_ptr<Ring> New() {
    std::unique_ptr<Ring> ring(new Ring());
    if (io_uring_queue_init(kEntries, &ring->ring_, IORING_SETUP_COOP_TASKRUN) < 0 &&
        io_uring_queue_init(kEntries, &ring->ring_, 0) < 0) {
      ring->ring_.ring_fd = -1;
      return nullptr;
    }
    return (ring->ring_.features & IORING_FEAT_EXT_ARG) != 0 ? std::move(ring) : nullptr;
  }
  // Waits for the request, if it has not ended.
  ~Ring() {
    if (ring_.ring_fd < 0) {
      return;
    }
    while (is_busy_ && io_uring_wait_cqe(&ring_, &ended_) == -EINTR) {
    }
    io_uring_queue_exit(&ring_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Does the work from its byte `done` on. Returns what the kernel says; -ETIME if the request has
  // not ended, and kRefused if the kernel takes none any more.
  static constexpr int kRefused = -100000;
  int Run(int fd, const DeviceWork& work, size_t done, Clock::time_point deadline) {
    io_uring_sqe* const request = io_uring_get_sqe(&ring_);
    if (request == nullptr) {
      return kRefused;
    }
    if (work.size == 0) {
      io_uring_prep_fsync(request, fd, IORING_FSYNC_DATASYNC);
    } else {
      io_uring_prep_write(request, fd, work.from + done, static_cast<unsigned>(work.size - done),
                          work.offset + done);
      request->rw_flags = work.durable ? RWF_DSYNC : 0;
    }
    is_busy_ = true;
    int result = 0;
    do {
      const auto left = std::max<Clock::duration>(deadline - Clock::now(), Clock::duration(1));
      const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
      __kernel_timespec limit = {ns / 1000000000, ns % 1000000000};
      ended_ = nullptr;
      result = io_uring_submit_and_wait_timeout(&ring_, &ended_, 1, &limit, nullptr);
    } while (ended_ == nullptr && (result == -EINTR || (result >= 0 && Clock::now() < deadline)));
    if (ended_ != nullptr) {
      result = ended_->res;
      io_uring_cqe_seen(&ring_, ended_);
      is_busy_ = false;
      return result;
    }
    if (result < 0 && result != -ETIME && io_uring_sq_ready(&ring_) > 0) {
      is_busy_ = false;  // seccomp forbids it, or there is no memory: nothing was begun
      return kRefused;
    }
    return -ETIME;
  }

 private:
  Ring() = default;

  io_uring ring_ = {};
  io_uring_cqe* ended_ = nullptr;
  bool is_busy_ = false;
};

// Returns whether a write to a file is begun without waiting where its file system is frozen. Older
// kernels wait in the call that begins it.
bool BeginsWithoutWaiting() {
  utsname name;
  int major = 0;
  int minor = 0;
  return uname(&name) == 0 && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 12));
}

class RingWriter : public PatientWriter {
 public:
  RingWriter(Device* device, std::unique_ptr<Ring> ring)
      : device_(device), ring_(std::move(ring)) {}

  IOStatus Run(const DeviceWork& work, std::chrono::milliseconds limit) override {
    const Clock::time_point deadline = Clock::now() + limit;
    size_t done = 0;
    while (instead_ == nullptr) {
      const int n = ring_->Run(device_->fd(), work, done, deadline);
      if (n == Ring::kRefused) {
        instead_ = NewThreadWriter(device_);
        if (instead_ == nullptr) {
          return IOStatus::IOError("device=" + device_->path(), "no thread to write to it");
        }
        break;
      }
      const bool again = n == -EINTR || n == -EAGAIN;
      if (again && Clock::now() < deadline) {
        continue;
      }
      if (n == -ETIME || again) {
        return TimedOut(*device_, limit);
      }
      if (n < 0 || (n == 0 && work.size > 0)) {
        return PosixError(
            work.size == 0 ? "flush" : "write at " + std::to_string(work.offset + done),
            device_->path(), n < 0 ? -n : EIO);
      }
      done += static_cast<size_t>(n);
      if (done >= work.size) {
        return IOStatus::OK();
      }
    }
    return instead_->Run(work, limit);
  }

  void GiveUp(std::shared_ptr<void> keep, Buffer buffer) override {
    if (instead_ != nullptr) {
      instead_->GiveUp(std::move(keep), std::move(buffer));
      return;
    }
    auto* const given = new Given{std::move(keep), std::move(buffer), std::move(ring_)};
    // Without a thread nobody knows when the kernel has done with the buffer.
    Detach([given] { delete given; });
  }

 private:
  // Destroyed from below: the ring first, which waits.
  struct Given {
    std::shared_ptr<void> keep;
    Buffer buffer;
    std::unique_ptr<Ring> ring;
  };

  Device* const device_;
  std::unique_ptr<Ring> ring_;
  std::unique_ptr<PatientWriter> instead_;  // once the kernel has refused a request
};

}  // namespace

std::unique_ptr<PatientWriter> NewRingWriter(Device* device) {
  static const bool begins_without_waiting = BeginsWithoutWaiting();
  const bool may = device->fd() >= 0 && (device->info().is_block_device || begins_without_waiting);
  std::unique_ptr<Ring> ring = may ? Ring::New() : nullptr;
  return ring != nullptr ? std::make_unique<RingWriter>(device, std::move(ring)) : nullptr;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE

#else

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

std::unique_ptr<PatientWriter> NewRingWriter(Device*) { return nullptr; }

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE

#endif
