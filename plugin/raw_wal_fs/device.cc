// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/device.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "plugin/raw_wal_fs/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// udev locks a block device for a moment when its last writer closes it, and the kernel takes a
// moment to end the I/O of a process that was killed.
constexpr int kLockTries = 100;
constexpr auto kLockPause = std::chrono::milliseconds(10);

constexpr uint32_t kLargestUnit = 64 << 10;  // bytes; of direct I/O, as far as it is tried

class PosixDevice : public Device {
 public:
  // Takes over `behind`: what is locked besides.
  PosixDevice(std::string path, const DeviceInfo& info, Descriptor fd,
              std::vector<Descriptor> behind)
      : path_(std::move(path)), info_(info), fd_(std::move(fd)), behind_(std::move(behind)) {}
  // Unlocks explicitly, since a forked child may still have the descriptors. A child that ends does
  // not unlock.
  ~PosixDevice() override {
    if (getpid() != opened_by_) {
      return;
    }
    flock(fd_.get(), LOCK_UN);
    for (const Descriptor& each : behind_) {
      flock(each.get(), LOCK_UN);
    }
  }

  IOStatus Read(uint64_t offset, size_t size, char* to) const override {
    TEST_SYNC_POINT("PosixDevice::Read");
    size_t done = 0;
    while (done < size) {
      const ssize_t n = pread(fd_.get(), to + done, size - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) {
        continue;
      }
      if (n < 0) {
        return PosixError("read at " + std::to_string(offset), path_, errno);
      }
      if (n == 0) {
        return IOStatus::Corruption(
            "device=" + path_,
            "ends at " + std::to_string(offset + done) + ", where more should be: was it cut off?");
      }
      done += static_cast<size_t>(n);
    }
    return IOStatus::OK();
  }

  // Writes with one system call. A linked io_uring write and fsync would wake a worker thread of
  // the kernel for the fsync.
  IOStatus Write(uint64_t offset, size_t size, const char* from, bool durable) override {
    IOStatus s;
    TEST_SYNC_POINT_CALLBACK("PosixDevice::Write", &s);
    if (!s.ok()) {
      return s;
    }
    size_t done = 0;
    while (done < size) {
      iovec left = {const_cast<char*>(from) + done, size - done};
      const ssize_t n =
          pwritev2(fd_.get(), &left, 1, static_cast<off_t>(offset + done), durable ? RWF_DSYNC : 0);
      if (n < 0 && errno == EINTR) {
        continue;
      }
      if (n <= 0) {
        return PosixError("write at " + std::to_string(offset), path_, n < 0 ? errno : EIO);
      }
      done += static_cast<size_t>(n);
    }
    return IOStatus::OK();
  }

  IOStatus Flush() override {
    IOStatus s;
    TEST_SYNC_POINT_CALLBACK("PosixDevice::Flush", &s);
    if (!s.ok()) {
      return s;
    }
    return fdatasync(fd_.get()) == 0 ? IOStatus::OK() : PosixError("flush", path_, errno);
  }

  int fd() const override { return fd_.get(); }
  const std::string& path() const override { return path_; }
  const DeviceInfo& info() const override { return info_; }

 private:
  const std::string path_;
  const DeviceInfo info_;
  const Descriptor fd_;
  const std::vector<Descriptor> behind_;
  const pid_t opened_by_ = getpid();
};

// `file`: what is locked, the device or a file behind it.
IOStatus Lock(int fd, const std::string& path, const std::string& file) {
  for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
    if (errno != EWOULDBLOCK) {
      return PosixError("lock", path, errno);
    }
    if (i == kLockTries) {
      return IOStatus::Busy("device=" + path,
                            "is open for writing in another process; see 'fuser -v " + file + "'");
    }
    std::this_thread::sleep_for(kLockPause);
  }
  return IOStatus::OK();
}

// Returns the path of the file behind a loop device, or behind the loop device of which it is a
// partition; "" if the kernel does not tell.
std::string FileBehind(dev_t device) {
  const std::string folder =
      "/sys/dev/block/" + std::to_string(major(device)) + ":" + std::to_string(minor(device));
  for (const char* name : {"/loop/backing_file", "/../loop/backing_file"}) {
    std::ifstream in(folder + name);
    std::string path;
    if (std::getline(in, path)) {
      return path;
    }
  }
  return "";
}

// Locks the file behind a loop device, too, if it can be found here: whoever writes to the file
// writes to the device.
IOStatus LockBehind(int fd, const std::string& path, std::vector<Descriptor>* locked) {
  struct stat status;
  loop_info64 info;
  if (fstat(fd, &status) != 0 || !S_ISBLK(status.st_mode) ||
      ioctl(fd, LOOP_GET_STATUS64, &info) != 0) {
    return IOStatus::OK();
  }
  const std::string file = FileBehind(status.st_rdev);
  Descriptor behind(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (behind.get() < 0 || fstat(behind.get(), &status) != 0 || status.st_ino != info.lo_inode ||
      status.st_dev != info.lo_device) {
    return IOStatus::OK();
  }
  IOStatus s = Lock(behind.get(), path, file);
  if (s.ok()) {
    s = LockBehind(behind.get(), path, locked);
  }
  locked->push_back(std::move(behind));
  return s;
}

// Returns whether direct I/O in units of `size` bytes is refused.
bool IsTooSmall(int fd, uint32_t size) {
  const Buffer buffer = NewBuffer(size);
  return buffer != nullptr && pread(fd, buffer.get(), size, 0) < 0 && errno == EINVAL;
}

// Returns the smallest unit of direct I/O to a regular file: that of the device below its file
// system, or more.
uint32_t SmallestUnit(const std::string& path) {
  constexpr uint32_t kLeast = 512;
#ifdef STATX_DIOALIGN
  struct statx status;
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_DIOALIGN, &status) == 0 &&
      (status.stx_mask & STATX_DIOALIGN) != 0) {
    return std::max(status.stx_dio_offset_align, kLeast);  // 0: there is no direct I/O
  }
#endif
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  uint32_t unit = kLeast;
  while (fd.get() >= 0 && unit < kLargestUnit && IsTooSmall(fd.get(), unit)) {
    unit *= 2;
  }
  return unit;
}

}  // namespace

IOStatus InspectDevice(const std::string& path, DeviceInfo* info) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) {
      *info = DeviceInfo();
      return IOStatus::OK();
    }
    return PosixError("stat", path, errno);
  }
  info->exists = true;
  info->is_block_device = S_ISBLK(status.st_mode);
  if (S_ISREG(status.st_mode)) {
    info->size = static_cast<uint64_t>(status.st_size);
    info->logical_block = SmallestUnit(path);
    return IOStatus::OK();
  }
  if (!info->is_block_device) {
    return IOStatus::InvalidArgument("device=" + path,
                                     "is neither a block device nor a regular file");
  }
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    return PosixError("open", path, errno);
  }
  int logical = 0;
  unsigned physical = 0;
  if (ioctl(fd.get(), BLKGETSIZE64, &info->size) != 0 ||
      ioctl(fd.get(), BLKSSZGET, &logical) != 0 || ioctl(fd.get(), BLKPBSZGET, &physical) != 0) {
    return PosixError("ask for the size", path, errno);
  }
  info->logical_block = static_cast<uint32_t>(logical);
  info->physical_block = physical;
  return IOStatus::OK();
}

IOStatus OpenDevice(const std::string& path, bool write, std::unique_ptr<Device>* result) {
  DeviceInfo info;
  IOStatus s = InspectDevice(path, &info);
  if (!s.ok()) {
    return s;
  }
  int flags = (write ? O_RDWR : O_RDONLY) | O_CLOEXEC;
  // Refused while the block device is mounted or belongs to another kernel driver.
  flags |= write && info.is_block_device ? O_EXCL : 0;
  Descriptor fd(open(path.c_str(), flags | O_DIRECT));
  if (fd.get() < 0 && errno == EINVAL) {
    fd = Descriptor(open(path.c_str(), flags));  // a file system without direct I/O
  }
  if (fd.get() < 0 && errno == EBUSY) {
    return IOStatus::Busy("device=" + path, "is mounted or in use; see 'findmnt " + path +
                                                "' and 'lsblk " + path + "'");
  }
  if (fd.get() < 0) {
    return PosixError("open", path, errno);
  }
  std::vector<Descriptor> behind;
  if (write) {
    s = Lock(fd.get(), path, path);
  }
  if (s.ok() && write) {
    s = LockBehind(fd.get(), path, &behind);
  }
  if (s.ok()) {
    *result = std::make_unique<PosixDevice>(path, info, std::move(fd), std::move(behind));
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
