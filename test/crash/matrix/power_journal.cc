// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Loaded into a process by LD_PRELOAD, notes what a loss of power may take from a log device. The
// file ROCKTIER_POWER_JOURNAL has, for each sector of the device ROCKTIER_POWER_DEVICE, a byte that
// is 1 if it was written and not made durable since, and then, sector by sector, what was on the
// medium before. It outlives the process, as the cache of a disk does; power.py takes from the
// device what is in it. The fault model is that of test/raw_wal_fs/power_device.h. Calls for other
// files go through. raw_wal_fs writes to its device by pwritev2() and fdatasync() only.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

constexpr uint64_t kSector = 512;
// A disk that is busy with something else for half of the time: half of the kills, at least, come
// in the middle of a write or flush, and the rest goes on at its speed.
constexpr auto kStall = std::chrono::milliseconds(100);

[[noreturn]] void Fail(const char* what) {
  perror(what);
  abort();
}

class Journal {
 public:
  // Requires: both files are there.
  Journal(const char* device, const char* journal) : device_(open(device, O_RDONLY | O_CLOEXEC)) {
    if (device_ < 0 || fstat(device_, &status_) != 0) {
      Fail(device);
    }
    sectors_ = static_cast<uint64_t>(status_.st_size) / kSector;
    const int file = open(journal, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    const uint64_t size = sectors_ * (1 + kSector);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
      Fail(journal);
    }
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
      Fail(journal);
    }
    close(file);
    flags_ = static_cast<char*>(memory);
  }

  bool IsDevice(int fd) const {
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_ino == status_.st_ino &&
           status.st_dev == status_.st_dev;
  }

  // Before a write: keeps what is on the medium.
  void Keep(uint64_t offset, uint64_t size) {
    for (uint64_t sector = offset / kSector; sector * kSector < offset + size; sector++) {
      if (flags_[sector] == 0) {
        char* const old = flags_ + sectors_ + sector * kSector;
        if (pread(device_, old, kSector, static_cast<off_t>(sector * kSector)) != kSector) {
          Fail("power_journal: read");
        }
        __atomic_store_n(&flags_[sector], 1, __ATOMIC_RELEASE);
      }
    }
  }

  // Just these bytes, as with forced unit access.
  void Forget(uint64_t offset, uint64_t size) {
    memset(flags_ + offset / kSector, 0, (size + kSector - 1) / kSector);
  }
  void ForgetAll() { memset(flags_, 0, sectors_); }

  // Before something is durable.
  void Wait() {
    const auto now = std::chrono::steady_clock::now();
    if (now - waited_ > kStall) {
      std::this_thread::sleep_for(kStall);
      waited_ = now + kStall;
    }
  }

  // One call at a time, so that none makes durable what another one is writing.
  std::mutex mutex;

 private:
  const int device_;
  struct stat status_;
  uint64_t sectors_;
  char* flags_;
  std::chrono::steady_clock::time_point waited_;
};

// Null if nothing is to be noted.
Journal* TheJournal() {
  static Journal* const journal = [] {
    const char* const device = getenv("ROCKTIER_POWER_DEVICE");
    const char* const path = getenv("ROCKTIER_POWER_JOURNAL");
    return device != nullptr && path != nullptr ? new Journal(device, path) : nullptr;
  }();
  return journal;
}

// Returns the next function of this name: that of libc.
template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

uint64_t SizeOf(const iovec* vector, int count) {
  uint64_t size = 0;
  for (int i = 0; i < count; i++) {
    size += vector[i].iov_len;
  }
  return size;
}

ssize_t Write(int fd, const iovec* vector, int count, off_t offset, int flags) {
  static const auto next = Next<ssize_t (*)(int, const iovec*, int, off_t, int)>("pwritev2");
  Journal* const journal = TheJournal();
  if (journal == nullptr || !journal->IsDevice(fd)) {
    return next(fd, vector, count, offset, flags);
  }
  std::lock_guard<std::mutex> lock(journal->mutex);
  journal->Keep(static_cast<uint64_t>(offset), SizeOf(vector, count));
  const ssize_t written = next(fd, vector, count, offset, flags);
  if (written > 0 && (flags & RWF_DSYNC) != 0) {
    journal->Wait();
    journal->Forget(static_cast<uint64_t>(offset), static_cast<uint64_t>(written));
  }
  return written;
}

int Flush(const char* name, int fd) {
  const auto next = Next<int (*)(int)>(name);
  Journal* const journal = TheJournal();
  if (journal == nullptr || !journal->IsDevice(fd)) {
    return next(fd);
  }
  std::lock_guard<std::mutex> lock(journal->mutex);
  const int result = next(fd);
  if (result == 0) {
    journal->Wait();
    journal->ForgetAll();
  }
  return result;
}

}  // namespace

extern "C" {

ssize_t pwritev2(int fd, const iovec* vector, int count, off_t offset, int flags) {
  return Write(fd, vector, count, offset, flags);
}
// The name of the same function where off_t is asked to have 64 bits.
ssize_t pwritev64v2(int fd, const iovec* vector, int count, off_t offset, int flags) {
  return Write(fd, vector, count, offset, flags);
}
int fdatasync(int fd) { return Flush("fdatasync", fd); }
int fsync(int fd) { return Flush("fsync", fd); }

}  // extern "C"
