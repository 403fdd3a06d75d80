// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/device.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/secondary_cache_2q/pmem.h"
#include "plugin/secondary_cache_2q/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// How long another owner of the file's lock may take to let go of it.
constexpr auto kPatience = std::chrono::milliseconds(500);

// Whether a direct read works. It is tried, since some file systems accept O_DIRECT and refuse the
// read.
bool DirectWorks(int fd, size_t alignment) {
  AlignedBuffer buffer(4096);
  return buffer.data() != nullptr && pread(fd, buffer.data(), alignment, 0) >= 0;
}

}  // namespace

AlignedBuffer::AlignedBuffer(size_t size) {
  data_.reset(static_cast<char*>(aligned_alloc(4096, (size + 4095) / 4096 * 4096)));
}

void AlignedBuffer::Free::operator()(char* memory) const { free(memory); }

uint32_t Device::BlockSize(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_DIRECT) != 0) {
    return 512;  // no O_DIRECT, so no alignment
  }
  uint32_t result = 512;
  while (result < 4096 && !DirectWorks(fd, result)) {
    result *= 2;
  }
  fcntl(fd, F_SETFL, flags);
  return result;
}

Status Device::Open(const TwoQSecondaryCacheOptions& options, const std::string& path,
                    Descriptor file, const Superblock& superblock,
                    std::unique_ptr<Device>* result) {
  std::unique_ptr<Device> device(new Device(path, std::move(file)));
  Status s = device->Lock();
  if (s.ok() && options.direct_io) {
    s = device->OpenDirect();
  }
  if (s.ok()) {
    s = device->index_.Open(device->file_.get(), path, superblock.IndexEnd());
  }
  if (s.ok()) {
    s = device->OpenIo(options.io, superblock.FileSize());
  }
  if (s.ok()) {
    *result = std::move(device);
  }
  return s;
}

Device::~Device() { UnmapPmem(pmem_, pmem_size_); }

// Opens a second descriptor, with O_DIRECT, which is not for the index. It must be of the same file
// as the first one.
Status Device::OpenDirect() {
  Descriptor direct(open(path_.c_str(), O_RDWR | O_DIRECT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (direct.get() < 0) {
    return Status::OK();  // not on this file system
  }
  struct stat opened;
  if (fstat(direct.get(), &opened) != 0) {
    return PosixError("stat", path_, errno);
  }
  Status s = CheckSame(opened);
  if (s.ok() && DirectWorks(direct.get(), 4096)) {
    direct_ = std::move(direct);
  }
  return s;
}

// Whether what was opened by the path is the file that is locked.
Status Device::CheckSame(const struct stat& other) const {
  struct stat ours;
  if (fstat(file_.get(), &ours) != 0) {
    return PosixError("stat", path_, errno);
  }
  return ours.st_dev == other.st_dev && ours.st_ino == other.st_ino
             ? Status::OK()
             : Status::IOError("path=" + path_, "was replaced meanwhile; open again");
}

// Maps the file. libpmem does so by the path: what has that afterwards is what was mapped, for
// nobody puts the file back that was there before.
Status Device::OpenPmem(uint64_t file_size) {
  TEST_SYNC_POINT("TwoQDevice::OpenPmem");
  Status s = MapPmem(path_, &pmem_, &pmem_size_);
  if (!s.ok()) {
    return s;
  }
  struct stat mapped;
  if (lstat(path_.c_str(), &mapped) != 0) {
    return PosixError("stat", path_, errno);
  }
  s = CheckSame(mapped);
  if (s.ok() && pmem_size_ < file_size) {
    s = Status::Corruption("path=" + path_, "is shorter than its superblock says; delete it");
  }
  return s;
}

Status Device::OpenIo(Io io, uint64_t file_size) {
  if (io == Io::kPmem || (io == Io::kAuto && IsDax(file_.get()))) {
    return OpenPmem(file_size);
  }
  if (io == Io::kPread) {
    return Status::OK();
  }
  int error = 0;
  uring_ = Ring::Create(data_fd(), &error) != nullptr;
  if (!uring_ && io == Io::kUring) {
    return Status::NotSupported(
        "TwoQSecondaryCache: io=uring: io_uring is not available",
        error == 0 ? "RocksDB was built without liburing" : strerror(error));
  }
  return Status::OK();
}

Status Device::ReadIndex(uint64_t offset, size_t size, char* bytes) const {
  IndexRead read{offset, size, 0};
  size_t done = 0;
  while (done < size && read.error == 0) {
    const ssize_t n =
        pread(file_.get(), bytes + done, size - done, static_cast<off_t>(offset + done));
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      read.error = n == 0 ? EIO : errno;
    }
  }
  TEST_SYNC_POINT_CALLBACK("TwoQDevice::ReadIndex", &read);
  return read.error == 0 ? Status::OK() : PosixError("read the index", path_, read.error);
}

Status Device::WriteIndex(uint64_t offset, const Slice& bytes) const {
  const ssize_t n = pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  return n == static_cast<ssize_t>(bytes.size())
             ? Status::OK()
             : PosixError("write the index", path_, n < 0 ? errno : EIO);
}

// Locks the inode. The caller holds the lock file of this path, but the same file may have another
// path, by a link. Waits a moment: the mapping and the rings of a killed process hold this lock,
// and the kernel drops them some time after the parent was told.
Status Device::Lock() const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
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

std::shared_ptr<Ring> Device::ThreadRing() {
  struct ThreadsRing {
    std::weak_ptr<char> device;
    std::shared_ptr<Ring> ring;
  };
  // A thread owns its rings, one per device; a transfer under way shares in it.
  thread_local std::vector<ThreadsRing> rings;
  for (const ThreadsRing& known : rings) {
    if (known.device.lock() == alive_ && !known.ring->broken()) {
      return known.ring;
    }
  }
  rings.erase(std::remove_if(rings.begin(), rings.end(),
                             [](const ThreadsRing& known) {
                               return known.device.expired() || known.ring->broken();
                             }),
              rings.end());
  int error = 0;
  std::shared_ptr<Ring> ring = Ring::Create(data_fd(), &error);
  if (ring != nullptr) {
    rings.push_back({alive_, ring});
  } else if (error == EPERM || error == EACCES || error == ENOSYS) {
    uring_ = false;  // forbidden, and not just short of something at the moment
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
    const ssize_t n = transfer->write ? pwrite(data_fd(), data, left, offset)
                                      : pread(data_fd(), data, left, offset);
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
    return Status::IOError(std::string(operation) + ": " + path_, "cut short");
  }
  return Status::OK();
}

std::string Device::ToString() const {
  if (pmem_ != nullptr) {
    return "pmem";
  }
  return std::string(uring_ ? "uring" : "pread") + (direct_.get() >= 0 ? ", direct" : ", buffered");
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
