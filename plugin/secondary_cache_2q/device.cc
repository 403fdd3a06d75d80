// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/device.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "plugin/secondary_cache_2q/pmem.h"
#include "plugin/secondary_cache_2q/posix.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// How long another owner of the file's lock may take to let go of it.
constexpr auto kPatience = std::chrono::milliseconds(500);

// O_DIRECT is tried for real: file systems accept the flag and refuse the read.
bool DirectWorks(int fd, size_t alignment) {
  AlignedBuffer buffer(4096);
  return buffer.data() != nullptr && pread(fd, buffer.data(), alignment, 0) >= 0;
}

}  // namespace

AlignedBuffer::AlignedBuffer(size_t size) {
  data_.reset(static_cast<char*>(aligned_alloc(4096, (size + 4095) / 4096 * 4096)));
}

void AlignedBuffer::Free::operator()(char* memory) const { free(memory); }

uint32_t Device::BlockSize(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (fd < 0) {
    return 512;  // no O_DIRECT, so no alignment
  }
  uint32_t result = 512;
  while (result < 4096 && !DirectWorks(fd, result)) {
    result *= 2;
  }
  close(fd);
  return result;
}

Status Device::Open(const TwoQSecondaryCacheOptions& options, uint64_t index_end,
                    std::unique_ptr<Device>* result) {
  int fd = -1;
  bool direct = options.direct_io;
  if (direct) {
    fd = open(options.path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
    if (fd >= 0 && !DirectWorks(fd, 4096)) {
      close(fd);
      fd = -1;
    }
  }
  if (fd < 0) {
    direct = false;
    fd = open(options.path.c_str(), O_RDWR | O_CLOEXEC);
  }
  if (fd < 0) {
    return PosixError("open", options.path, errno);
  }
  std::unique_ptr<Device> device(new Device(options.path, fd));
  device->direct_ = direct;
  Status s = device->Lock();
  if (s.ok()) {
    s = device->MapIndex(index_end);
  }
  if (s.ok() && (options.io == Io::kPmem || (options.io == Io::kAuto && IsDax(fd)))) {
    s = device->MapPmem();
  }
  if (s.ok() && device->pmem_ == nullptr && options.io != Io::kPread) {
    std::string why;
    device->uring_ = Ring::Create(fd, &why) != nullptr;
    if (!device->uring_ && options.io == Io::kUring) {
      s = Status::NotSupported("io=uring: io_uring is not available", why);
    }
  }
  if (s.ok()) {
    *result = std::move(device);
  }
  return s;
}

Device::~Device() {
  if (index_ != nullptr) {
    munmap(index_, index_size_);
  }
  UnmapPmem(pmem_, pmem_size_);
  close(fd_);
}

// The lock file, which the caller holds, is of this path; the same file may have another one, by a link.
// The kernel takes a moment to drop the mapping and the rings of a process that was killed, after its
// parent was told, and they hold this lock.
Status Device::Lock() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return PosixError("lock", path_, errno);
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return Status::Busy("path=" + path_, "is in use by another cache");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Status::OK();
}

Status Device::MapIndex(uint64_t index_end) {
  void* memory = mmap(nullptr, index_end, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED) {
    return PosixError("mmap", path_, errno);
  }
  index_ = static_cast<char*>(memory);
  index_size_ = index_end;
  return Status::OK();
}

Status Device::MapPmem() { return secondary_cache_2q::MapPmem(path_, &pmem_, &pmem_size_); }

std::shared_ptr<Ring> Device::ThreadRing() {
  struct ThreadsRing {
    std::weak_ptr<char> device;
    std::shared_ptr<Ring> ring;
  };
  // A thread owns its rings, one per device; a transfer under way shares in it.
  thread_local std::vector<ThreadsRing> rings;
  for (const ThreadsRing& known : rings) {
    if (known.device.lock() == alive_) {
      return known.ring;
    }
  }
  rings.erase(std::remove_if(rings.begin(), rings.end(),
                             [](const ThreadsRing& known) { return known.device.expired(); }),
              rings.end());
  std::string why;
  std::shared_ptr<Ring> ring = Ring::Create(fd_, &why);
  if (ring != nullptr) {
    rings.push_back({alive_, ring});
  }
  return ring;
}

void Device::Start(Transfer* transfer, bool async) {
  transfer->done = false;
  transfer->ring = nullptr;
  if (async && uring_) {
    transfer->ring = ThreadRing();
  }
  if (transfer->ring != nullptr) {
    transfer->ring->Start(transfer);
  } else {
    Run(transfer);
  }
}

bool Device::Poll(Transfer* transfer) {
  return transfer->ring == nullptr || transfer->ring->Poll(transfer);
}

void Device::Wait(Transfer* transfer) {
  if (transfer->ring == nullptr) {
    return;
  }
  transfer->ring->Wait(transfer);
  transfer->ring = nullptr;
  if (transfer->result != static_cast<int64_t>(transfer->size)) {
    Run(transfer);  // cut short, cancelled or refused for the moment: do it over
  }
}

void Device::Run(Transfer* transfer) const {
  size_t moved = 0;
  while (moved < transfer->size) {
    char* data = transfer->data + moved;
    const size_t left = transfer->size - moved;
    const auto offset = static_cast<off_t>(transfer->offset + moved);
    if (pmem_ != nullptr && transfer->write) {
      CopyToPmem(pmem_ + offset, data, left);
      moved += left;
      continue;
    }
    const ssize_t n =
        transfer->write ? pwrite(fd_, data, left, offset) : pread(fd_, data, left, offset);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      transfer->result = n < 0 ? -errno : static_cast<int64_t>(moved);
      transfer->done = true;
      return;
    }
    moved += static_cast<size_t>(n);
  }
  transfer->result = static_cast<int64_t>(moved);
  transfer->done = true;
}

Status Device::Check(const Transfer& transfer) const {
  const char* operation = transfer.write ? "write" : "read";
  if (transfer.result < 0) {
    return PosixError(operation, path_, static_cast<int>(-transfer.result));
  }
  if (static_cast<size_t>(transfer.result) < transfer.size) {
    return Status::IOError(std::string(operation) + " " + path_, "cut short");
  }
  return Status::OK();
}

std::string Device::ToString() const {
  if (pmem_ != nullptr) {
    return "pmem";
  }
  return std::string(uring_ ? "uring" : "pread") + (direct_ ? ", direct" : ", buffered");
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
