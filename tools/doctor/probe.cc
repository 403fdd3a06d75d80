// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/doctor/probe.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 0.8;     // of a measurement
constexpr double kFillSeconds = 2;   // the most that filling the file takes
constexpr size_t kLeastSamples = 5;  // whatever they take
constexpr int kParts = 8;            // of the time of a measurement
constexpr size_t kMostReads = 10000;
constexpr uint64_t kChunk = 1 << 20;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kRecord = 1024;  // of a log
constexpr uint64_t kLogBytes = 4ull << 20;
constexpr uint64_t kFileBytes = kScratchBytes - kLogBytes;
constexpr uint64_t kLeastFile = 4ull << 20;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What ends first, the time or the calls.
double ShareOf(double time, uint64_t calls, uint64_t most) {
  return std::min(1.0, std::max(time, static_cast<double>(calls) / static_cast<double>(most)));
}

// Closes itself.
class Scratch {
 public:
  explicit Scratch(std::string directory) : directory_(std::move(directory)) {}
  ~Scratch() {
    for (const int fd : {fd_, direct_}) {
      if (fd >= 0) {
        close(fd);
      }
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  Status Open();
  int fd() const { return fd_; }
  // For reads past the page cache; the same if there is no such way.
  int direct() const { return direct_ >= 0 ? direct_ : fd_; }
  Status Error(const std::string& what) const {
    return Status::IOError(what + " in " + directory_, strerror(errno));
  }

 private:
  const std::string directory_;
  int fd_ = -1;
  int direct_ = -1;
};

Status Scratch::Open() {
  fd_ = open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    // The file system has no files without a name.
    std::string name = directory_ + "/.rocktier-doctor-XXXXXX";
    fd_ = mkostemp(&name[0], O_CLOEXEC);
    if (fd_ >= 0 && unlink(name.c_str()) != 0) {
      return Error("cannot remove " + name);
    }
  }
  if (fd_ < 0) {
    return Error("cannot make a scratch file");
  }
  direct_ = open(("/proc/self/fd/" + std::to_string(fd_)).c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
  return Status::OK();
}

// Memory for direct I/O, with what no file system compresses.
class Buffer {
 public:
  explicit Buffer(size_t size) {
    void* data = nullptr;
    if (posix_memalign(&data, kPage, size) == 0) {
      data_.reset(static_cast<char*>(data));
      std::mt19937_64 random(size);
      for (size_t i = 0; i + 8 <= size; i += 8) {
        const uint64_t word = random();
        memcpy(data_.get() + i, &word, 8);
      }
    }
  }
  char* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(char* data) const { free(data); }
  };
  std::unique_ptr<char, Free> data_;
};

// Microseconds of one call; below 0: it has failed, and errno says why.
double Time(const std::function<bool()>& once) {
  const auto start = Clock::now();
  return once() ? SecondsSince(start) * 1e6 : -1;
}

bool Append(const Scratch& log, const Buffer& buffer, uint64_t index) {
  return pwrite(log.fd(), buffer.data(), kRecord, static_cast<off_t>(index * kRecord)) ==
             static_cast<ssize_t>(kRecord) &&
         fdatasync(log.fd()) == 0;
}

// `offset`: of a page.
bool WriteDurably(const Scratch& file, const Buffer& buffer, uint64_t offset) {
  const iovec page = {buffer.data(), kPage};
  return pwritev2(file.direct(), &page, 1, static_cast<off_t>(offset), RWF_DSYNC) ==
         static_cast<ssize_t>(kPage);
}

// Fills the file. Returns its bytes, 0 if that has failed.
uint64_t Fill(const Scratch& file, const Buffer& buffer, const Share& progress) {
  const auto start = Clock::now();
  uint64_t bytes = 0;
  while (bytes < kFileBytes && (bytes < kLeastFile || SecondsSince(start) < kFillSeconds)) {
    if (pwrite(file.direct(), buffer.data(), kChunk, static_cast<off_t>(bytes)) !=
        static_cast<ssize_t>(kChunk)) {
      return 0;
    }
    bytes += kChunk;
    progress(static_cast<double>(bytes) / static_cast<double>(kFileBytes));
  }
  return fsync(file.fd()) == 0 ? bytes : 0;
}

// Both kinds of sync in turn, so that whoever else uses the disk slows down both. `log`: as RocksDB
// writes one: room is allocated, and its end moves with each append. `file`: as raw_wal_fs writes a
// log, by one call past the page cache, to room that was written before.
bool MeasureSyncs(const Scratch& log, const Scratch& file, uint64_t bytes, const Buffer& buffer,
                  const Share& progress, ProbeResult* result) {
  // Not all file systems can, and RocksDB goes on then, too.
  if (fallocate(log.fd(), FALLOC_FL_KEEP_SIZE, 0, kLogBytes) != 0 && errno == ENOSPC) {
    return false;
  }
  std::vector<double> appends;
  std::vector<double> writes;
  const auto start = Clock::now();
  constexpr uint64_t kMostWrites = kLogBytes / kRecord;
  for (uint64_t i = 0; i < kMostWrites; i++) {
    const double passed = SecondsSince(start);
    if (i >= kLeastSamples && passed >= 2 * kSeconds) {
      break;
    }
    progress(ShareOf(passed / (2 * kSeconds), i, kMostWrites));
    const auto append = [&] { return Append(log, buffer, i); };
    const auto write = [&] { return WriteDurably(file, buffer, i * kPage % bytes); };
    // A B, B A, and so on.
    for (const bool is_append : {i % 2 == 0, i % 2 != 0}) {
      const double micros = is_append ? Time(append) : Time(write);
      if (micros < 0) {
        return false;
      }
      (is_append ? appends : writes).push_back(micros);
    }
  }
  result->sync = LatencyOf(appends);
  result->device_sync = LatencyOf(writes);
  return true;
}

bool MeasureReads(const Scratch& file, uint64_t bytes, const Buffer& buffer, const Share& progress,
                  ProbeResult* result) {
  // Where there is no direct I/O this has to do.
  posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED);
  posix_fadvise(file.fd(), 0, 0, POSIX_FADV_RANDOM);
  std::mt19937_64 random(1);
  std::vector<double> reads;
  const auto start = Clock::now();
  double passed = 0;
  while (reads.size() < kMostReads && (passed < kSeconds || reads.size() < kLeastSamples)) {
    const auto offset = static_cast<off_t>(random() % (bytes / kPage) * kPage);
    reads.push_back(Time([&] {
      return pread(file.direct(), buffer.data(), kPage, offset) == static_cast<ssize_t>(kPage);
    }));
    if (reads.back() < 0) {
      return false;
    }
    passed = SecondsSince(start);
    progress(ShareOf(passed / kSeconds, reads.size(), kMostReads));
  }
  result->read = LatencyOf(reads);
  return true;
}

}  // namespace

Latency LatencyOf(const std::vector<double>& micros) {
  Latency latency;
  latency.count = micros.size();
  const double part = std::accumulate(micros.begin(), micros.end(), 0.0) / kParts;
  std::vector<double> means;
  double sum = 0;
  size_t calls = 0;
  for (const double one : micros) {
    sum += one;
    calls++;
    if (sum >= part) {
      means.push_back(sum / static_cast<double>(calls));
      sum = 0;
      calls = 0;
    }
  }
  if (!means.empty()) {
    std::sort(means.begin(), means.end());
    const size_t last = means.size() - 1;
    latency.low = means[last / 4];
    latency.median = means[last / 2];
    latency.high = means[last - last / 4];
  }
  return latency;
}

Status Probe(const std::string& directory, const Share& progress, ProbeResult* result) {
  Scratch log(directory);
  Scratch file(directory);
  const Buffer buffer(kChunk);
  Status s = buffer.data() != nullptr ? log.Open() : Status::MemoryLimit("no memory for a probe");
  s = s.ok() ? file.Open() : s;
  if (!s.ok()) {
    return s;
  }
  const auto part = [&](double first, double share) {
    return [&progress, first, share](double done) { progress(first + share * done); };
  };
  const uint64_t bytes = Fill(file, buffer, part(0, 0.2));
  if (bytes == 0 || !MeasureSyncs(log, file, bytes, buffer, part(0.2, 0.5), result)) {
    return file.Error("cannot write a scratch file");
  }
  return MeasureReads(file, bytes, buffer, part(0.7, 0.3), result)
             ? s
             : file.Error("cannot read a scratch file");
}

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
