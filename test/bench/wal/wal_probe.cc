// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The floor of a synchronous log on this device: one aligned write past the page cache, made
// durable by the same call, again and again, one block further each time. Prints one JSON object.

#include <fcntl.h>
#include <gflags/gflags.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "test/bench/common/json_out.h"

DEFINE_string(path, "", "file that is created, or block device, which is overwritten");
DEFINE_uint64(size, 64 << 20, "bytes of it that are used");
DEFINE_uint64(block, 4096, "bytes per write");
DEFINE_double(seconds, 3, "how long");

namespace {

int Fail(const char* what) {
  std::fprintf(stderr, "wal_probe: %s %s: %s\n", what, FLAGS_path.c_str(), std::strerror(errno));
  return 1;
}

double Percentile(const std::vector<double>& sorted, double percentile) {
  return sorted[static_cast<size_t>(percentile / 100 * static_cast<double>(sorted.size() - 1))];
}

// Allocates the blocks for good: a write to a hole would not be the floor.
bool WriteOnce(int fd, char* block) {
  for (uint64_t at = 0; at < FLAGS_size; at += FLAGS_block) {
    if (pwrite(fd, block, FLAGS_block, static_cast<off_t>(at)) < 0) return false;
  }
  return fsync(fd) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  const int fd = open(FLAGS_path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0644);
  if (fd < 0) return Fail("open");
  void* block = nullptr;
  if (posix_memalign(&block, 4096, FLAGS_block) != 0) return Fail("memory for");
  std::memset(block, 1, FLAGS_block);
  if (!WriteOnce(fd, static_cast<char*>(block))) return Fail("write");
  std::vector<double> micros;
  const auto start = std::chrono::steady_clock::now();
  auto last = start;
  for (uint64_t at = 0; last - start < std::chrono::duration<double>(FLAGS_seconds);
       at = (at + FLAGS_block) % FLAGS_size) {
    iovec piece = {block, FLAGS_block};
    if (pwritev2(fd, &piece, 1, static_cast<off_t>(at), RWF_DSYNC) < 0) return Fail("write");
    const auto now = std::chrono::steady_clock::now();
    micros.push_back(std::chrono::duration<double, std::micro>(now - last).count());
    last = now;
  }
  close(fd);
  const double seconds = std::chrono::duration<double>(last - start).count();
  std::sort(micros.begin(), micros.end());
  rocktier_bench::JsonObject out;
  out.Add("ops_per_s", static_cast<double>(micros.size()) / seconds);
  out.Add("p50_us", Percentile(micros, 50));
  out.Add("p99_us", Percentile(micros, 99));
  out.Add("p999_us", Percentile(micros, 99.9));
  std::printf("%s\n", out.ToString().c_str());
  free(block);
  return 0;
}
