// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What it costs to read the logs of a log device after a crash, against reading the same bytes of
// the device from the first to the last. With --make it writes the logs, in a folder of its own;
// without, it measures, in turn: a plain read of the area past the page cache, 1 MiB at a time; and
// a recovery, as RocksDB does one: open the device, ask for the size of each log and read it to its
// end, 32 KiB at a time. Prints one JSON object with the medians.

#include <fcntl.h>
#include <gflags/gflags.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "test/bench/common/json_out.h"

DEFINE_string(folder, "", "of the device and of the logs' stubs; exists");
DEFINE_bool(make, false, "write the logs");
DEFINE_uint64(logs, 4, "how many");
DEFINE_uint64(mib, 1024, "of all logs");
DEFINE_uint64(append, 32768, "bytes per append");
DEFINE_bool(each, false, "write each append to the device at once, as a sync does");
DEFINE_uint64(segment_size, 4 << 20, "of the device");
DEFINE_bool(sizes_first, true,
            "ask for all sizes before, as with track_and_verify_wals_in_manifest");
DEFINE_uint64(rounds, 3, "of measurements");

namespace {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)
using raw_wal_fs::RawWalStats;

constexpr uint64_t kDataOffset = 1 << 20;
constexpr size_t kRead = 1 << 20;
constexpr size_t kLogRead = 32 << 10;

void Check(const Status& s) {
  if (!s.ok()) {
    std::fprintf(stderr, "wal_recovery: %s\n", s.ToString().c_str());
    std::exit(1);
  }
}

void CheckErrno(bool good, const std::string& what) {
  if (!good) Check(Status::IOError(what, std::strerror(errno)));
}

std::string Device() { return FLAGS_folder + "/device"; }

std::string LogName(uint64_t number) {
  char name[32];
  std::snprintf(name, sizeof(name), "/%06llu.log", static_cast<unsigned long long>(number + 1));
  return FLAGS_folder + name;
}

// What a log holds at its offset n is at n % its size.
std::string Pattern() {
  std::string pattern((1 << 20) + 4099, '\0');
  uint64_t state = 42;
  for (char& c : pattern) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  return pattern;
}

std::shared_ptr<FileSystem> NewFs(uint64_t size) {
  raw_wal_fs::RawWalOptions options;
  options.device = Device();
  options.size = size;
  options.segment_size = FLAGS_segment_size;
  options.on_full = raw_wal_fs::OnFull::kFail;
  std::shared_ptr<FileSystem> fs;
  Check(raw_wal_fs::NewRawWalFileSystem(options, nullptr, &fs));
  return fs;
}

uint64_t UsedBytes(const FileSystem* fs) {
  RawWalStats stats;
  Check(raw_wal_fs::GetRawWalStats(fs, &stats));
  return stats.segments_used * FLAGS_segment_size;
}

void Make() {
  const std::string pattern = Pattern();
  const uint64_t bytes = FLAGS_mib << 20;
  const uint64_t per_log = bytes / FLAGS_logs;
  auto fs = NewFs(kDataOffset + 2 * bytes + 2 * FLAGS_logs * FLAGS_segment_size);
  FileOptions options;
  options.io_options.type = IOType::kWAL;
  for (uint64_t i = 0; i < FLAGS_logs; i++) {
    std::unique_ptr<FSWritableFile> log;
    Check(fs->NewWritableFile(LogName(i), options, &log, nullptr));
    for (uint64_t at = 0; at < per_log;) {
      const uint64_t from = at % pattern.size();
      const uint64_t n = std::min({FLAGS_append, per_log - at, pattern.size() - from});
      Check(log->Append(Slice(pattern.data() + from, n), IOOptions(), nullptr));
      at += n;
      if (FLAGS_each) Check(log->RangeSync(0, at, IOOptions(), nullptr));
    }
    Check(log->Sync(IOOptions(), nullptr));
    Check(log->Close(IOOptions(), nullptr));
  }
  std::printf("{\"used_bytes\": %llu}\n", static_cast<unsigned long long>(UsedBytes(fs.get())));
}

class Timer {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The page cache must not help, whoever filled it.
double ReadPlainly(uint64_t size) {
  const int fd = open(Device().c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  CheckErrno(fd >= 0, "open " + Device());
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  void* buffer = nullptr;
  CheckErrno(posix_memalign(&buffer, 4096, kRead) == 0, "memory");
  const Timer timer;
  for (uint64_t at = 0; at < size; at += kRead) {
    CheckErrno(pread(fd, buffer, kRead, static_cast<off_t>(kDataOffset + at)) > 0, "read");
  }
  const double seconds = timer.Seconds();
  free(buffer);
  close(fd);
  return seconds;
}

// `pattern`: what is read is compared; null: it is not.
uint64_t ReadLog(FileSystem* fs, const std::string& path, const std::string* pattern) {
  std::unique_ptr<FSSequentialFile> log;
  Check(fs->NewSequentialFile(path, FileOptions(), &log, nullptr));
  const std::unique_ptr<char[]> scratch(new char[kLogRead]);
  uint64_t at = 0;
  Slice bytes;
  do {
    Check(log->Read(kLogRead, IOOptions(), &bytes, scratch.get(), nullptr));
    for (size_t i = 0; pattern != nullptr && i < bytes.size(); i++) {
      if (bytes[i] != (*pattern)[(at + i) % pattern->size()]) {
        Check(Status::Corruption(path, "has a wrong byte at " + std::to_string(at + i)));
      }
    }
    at += bytes.size();
  } while (bytes.size() == kLogRead);
  return at;
}

double Recover(const std::string* pattern, uint64_t* used) {
  const Timer timer;
  auto fs = NewFs(0);
  FileLock* lock = nullptr;
  Check(fs->LockFile(FLAGS_folder + "/LOCK", IOOptions(), &lock, nullptr));
  std::vector<uint64_t> sizes(FLAGS_logs);
  for (uint64_t i = 0; FLAGS_sizes_first && i < FLAGS_logs; i++) {
    Check(fs->GetFileSize(LogName(i), IOOptions(), &sizes[i], nullptr));
  }
  for (uint64_t i = 0; i < FLAGS_logs; i++) {
    Check(fs->GetFileSize(LogName(i), IOOptions(), &sizes[i], nullptr));
    if (ReadLog(fs.get(), LogName(i), pattern) != sizes[i] ||
        sizes[i] != (FLAGS_mib << 20) / FLAGS_logs) {
      Check(Status::Corruption(LogName(i), "has another size than was written"));
    }
  }
  const double seconds = timer.Seconds();
  *used = UsedBytes(fs.get());
  Check(fs->UnlockFile(lock, IOOptions(), nullptr));
  return seconds;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Measure() {
  const std::string pattern = Pattern();
  uint64_t used;
  Recover(&pattern, &used);  // that all is there; not measured
  std::vector<double> plain;
  std::vector<double> recovery;
  for (uint64_t i = 0; i < FLAGS_rounds; i++) {
    plain.push_back(ReadPlainly(used));
    recovery.push_back(Recover(nullptr, &used));
  }
  rocktier_bench::JsonObject out;
  out.Add("area_mib", used >> 20);
  out.Add("plain_s", Median(plain));
  out.Add("recovery_s", Median(recovery));
  std::printf("%s\n", out.ToString().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  if (FLAGS_make) {
    Make();
  } else {
    Measure();
  }
  return 0;
}
