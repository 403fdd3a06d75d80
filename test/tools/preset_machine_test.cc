// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <sys/stat.h>

#include <fstream>

#include "test/support/scratch.h"
#include "test_util/testharness.h"
#include "tools/preset/machine.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

class MachineTest : public testing::Test {
 protected:
  // Writes a file below the root, with the directories that it needs.
  void Write(const std::string& path, const std::string& text) {
    for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
      mkdir((root_ + path.substr(0, at)).c_str(), 0755);
    }
    std::ofstream file(root_ + path);
    file << text;
    ASSERT_TRUE(file.good()) << path;
  }

  void ExpectMemory(uint64_t wanted, const std::string& from_wanted) {
    uint64_t bytes = 0;
    std::string from;
    ASSERT_OK(AvailableMemory(root_, &bytes, &from));
    EXPECT_EQ(wanted, bytes);
    EXPECT_EQ(from_wanted, from);
  }

  const std::string root_ = ::rocktier::NewFolder();
};

constexpr char kMemInfo[] =
    "MemTotal:       16000000 kB\n"
    "MemFree:         1000000 kB\n"
    "MemAvailable:    8000000 kB\n";
constexpr uint64_t kAvailable = 8000000ull * 1024;

TEST_F(MachineTest, NothingCanBeRead) {
  uint64_t bytes = 0;
  std::string from;
  ASSERT_TRUE(AvailableMemory(root_, &bytes, &from).IsNotFound());
  Write("/proc/meminfo", "MemTotal: 5 kB\n");
  ASSERT_TRUE(AvailableMemory(root_, &bytes, &from).IsNotFound());
}

TEST_F(MachineTest, WithoutCgroupsMemAvailableCounts) {
  Write("/proc/meminfo", kMemInfo);
  ExpectMemory(kAvailable, "MemAvailable");
}

TEST_F(MachineTest, TheLeastLimitOfTheCgroupsAboveCounts) {
  Write("/proc/meminfo", kMemInfo);
  Write("/proc/self/cgroup", "0::/system/db\n");
  Write("/sys/fs/cgroup/system/db/memory.max", "max\n");
  ExpectMemory(kAvailable, "MemAvailable");
  Write("/sys/fs/cgroup/system/memory.max", "4294967296\n");
  ExpectMemory(4ull << 30, "limit of a cgroup, memory.max");
  Write("/sys/fs/cgroup/system/db/memory.max", "1073741824\n");
  ExpectMemory(1ull << 30, "limit of a cgroup, memory.max");
  Write("/sys/fs/cgroup/system/db/memory.max", "99999999999\n");
  ExpectMemory(4ull << 30, "limit of a cgroup, memory.max");
}

TEST_F(MachineTest, InAContainerItsRootCounts) {
  Write("/proc/meminfo", kMemInfo);
  Write("/proc/self/cgroup", "0::/not/to/be/seen\n");
  Write("/sys/fs/cgroup/memory.max", "536870912\n");
  ExpectMemory(512ull << 20, "limit of a cgroup, memory.max");
}

TEST_F(MachineTest, CgroupsOfVersion1) {
  Write("/proc/meminfo", kMemInfo);
  Write("/proc/self/cgroup", "5:cpu:/\n4:memory:/a\n1:name=systemd:/\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "268435456\n");
  ExpectMemory(256ull << 20, "limit of a cgroup, memory.limit_in_bytes");
}

TEST_F(MachineTest, BytesOfDevices) {
  uint64_t bytes = 0;
  Write("/file", "12345");
  ASSERT_OK(DeviceBytes(root_ + "/file", &bytes));
  EXPECT_EQ(5u, bytes);
  EXPECT_TRUE(DeviceBytes(root_, &bytes).IsInvalidArgument());
  ASSERT_EQ(0, mkfifo((root_ + "/fifo").c_str(), 0600));
  EXPECT_TRUE(DeviceBytes(root_ + "/fifo", &bytes).IsInvalidArgument());
  EXPECT_TRUE(DeviceBytes(root_ + "/none", &bytes).IsIOError());
}

TEST_F(MachineTest, FileSystems) {
  uint64_t bytes = 0;
  ASSERT_OK(FreeBytes(root_, &bytes));
  EXPECT_GT(bytes, 0u);
  EXPECT_TRUE(FreeBytes(root_ + "/none", &bytes).IsIOError());
  EXPECT_TRUE(OnOneFileSystem(root_, root_));
  EXPECT_FALSE(OnOneFileSystem(root_, "/proc"));
  EXPECT_FALSE(OnOneFileSystem(root_, root_ + "/none"));
  EXPECT_FALSE(HasDax(root_ + "/none"));
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
