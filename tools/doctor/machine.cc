// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/doctor/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_io_uring_setup
#include <linux/io_uring.h>
#endif

#include <cerrno>
#include <cstring>
#include <thread>

#include "tools/cgroup.h"
#include "tools/preset/machine.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

namespace {

// Asks the kernel, which a seccomp filter may answer for. Whether RocksDB was built with liburing
// is another question.
std::string TryIoUring() {
#ifdef SYS_io_uring_setup
  io_uring_params params{};
  const long ring = syscall(SYS_io_uring_setup, 1, &params);
  if (ring >= 0) {
    close(static_cast<int>(ring));
    return "";
  }
  return strerror(errno);
#else
  return strerror(ENOSYS);
#endif
}

uint64_t CountCpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0
             ? static_cast<uint64_t>(CPU_COUNT(&set))
             : std::thread::hardware_concurrency();  // more than a set has room for
}

}  // namespace

Status LookAtMachine(const std::string& root, Machine* machine) {
  machine->cpus = CountCpus();
  ReadCpuLimit(root, &machine->cpu_limit);
  rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    machine->open_files = files.rlim_cur;
    machine->most_open_files = files.rlim_max;
  }
  machine->io_uring = TryIoUring();
  Status s = preset::MemInfo(root, "MemTotal", &machine->memory);
  return s.ok() ? preset::AvailableMemory(root, &machine->available, &machine->from) : s;
}

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
