// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What `rocktier doctor` reads, on folders that stand for proc and sys, and what it advises on
// machines that are made up.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "test/support/scratch.h"
#include "test_util/testharness.h"
#include "tools/block_device.h"
#include "tools/cgroup.h"
#include "tools/doctor/advice.h"
#include "tools/mounts.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

class DoctorTest : public testing::Test {
 protected:
  // Writes a file below the root, with the directories that it needs.
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream file(root_ + path);
    file << text;
    ASSERT_TRUE(file.good()) << path;
  }

  // Makes a disk as sysfs has it: a link by its number.
  void MakeDisk(const std::string& number, const std::string& name, const std::string& rotates) {
    Write("/sys/devices/" + name + "/queue/rotational", rotates);
    Link(number, name);
  }

  void Link(const std::string& number, const std::string& path) {
    std::filesystem::create_directories(root_ + "/sys/dev/block");
    std::filesystem::create_symlink("../../devices/" + path, root_ + "/sys/dev/block/" + number);
  }

  std::vector<Mount> Mounts(const std::string& text) {
    Write("/proc/self/mountinfo", text);
    std::vector<Mount> mounts;
    EXPECT_OK(ReadMounts(root_, &mounts));
    return mounts;
  }

  const std::string root_ = ::rocktier::NewFolder();
};

TEST_F(DoctorTest, MountsHaveTheirFields) {
  const std::vector<Mount> mounts = Mounts(
      "27 1 259:2 / / rw,relatime shared:1 master:2 - ext4 /dev/nvme0n1p2 rw,discard\n"
      "28 27 0:40 /sub /with\\040blank\\134 rw - btrfs /dev/sda1 rw,subvol=/sub\n"
      "29 27 8:1 / /pmem rw - xfs /dev/pmem0 rw,dax=always\n");
  ASSERT_EQ(3u, mounts.size());
  EXPECT_EQ("259:2", mounts[0].number);
  EXPECT_EQ("ext4", mounts[0].type);
  EXPECT_EQ("/dev/nvme0n1p2", mounts[0].source);
  EXPECT_EQ("rw,relatime,rw,discard", mounts[0].options);
  EXPECT_FALSE(mounts[0].IsDax());
  EXPECT_EQ("/with blank\\", mounts[1].point);
  EXPECT_EQ("/sub", mounts[1].folder);
  EXPECT_TRUE(mounts[2].IsDax());
}

TEST_F(DoctorTest, LinesThatAreNoMountsAreLeftOut) {
  EXPECT_EQ(1u, Mounts("\n27 1\n27 1 8:1 / / rw\n27 1 8:1 / / rw -\n27 1 8:1 / / rw - ext4\n"
                       "27 1 8:1 / relative rw - ext4 /dev/sda\n"
                       "27 1 8:1 / / rw shared:1 shared:2\n"
                       "27 1 8:1 / /\\04 rw - ext4 /dev/sda\n")
                    .size());
  std::vector<Mount> mounts;
  EXPECT_TRUE(ReadMounts(root_ + "/none", &mounts).IsNotFound());
}

TEST_F(DoctorTest, FilesThatAreTooLargeAreNotRead) {
  Write("/proc/self/mountinfo", std::string((4 << 20) + 1, 'x'));
  std::vector<Mount> mounts;
  EXPECT_TRUE(ReadMounts(root_, &mounts).IsInvalidArgument());
  MakeDisk("8:0", "sda", std::string(5000, '1'));
  BlockDevice disk;
  EXPECT_FALSE(ReadBlockDevice(root_, "8:0", &disk));
}

TEST_F(DoctorTest, AMountIsTheLastOfTheLongestPoint) {
  const std::vector<Mount> mounts = Mounts(
      "1 0 8:1 / / rw - ext4 /dev/a rw\n"
      "2 1 8:2 / /data rw - ext4 /dev/b rw\n"
      "3 1 8:3 / /data rw - ext4 /dev/c rw\n");
  const auto source_of = [&](const std::string& path) { return MountOf(path, mounts)->source; };
  EXPECT_EQ("/dev/a", source_of("/"));
  EXPECT_EQ("/dev/a", source_of("/database"));
  EXPECT_EQ("/dev/c", source_of("/data"));
  EXPECT_EQ("/dev/c", source_of("/data/db"));
  EXPECT_EQ(nullptr, MountOf("/data", {}));
}

TEST_F(DoctorTest, APartitionIsItsDisk) {
  MakeDisk("8:0", "sda", "1\n");
  Write("/sys/devices/sda/device/model", "  Some Disk  \n");
  Write("/sys/devices/sda/queue/logical_block_size", "4096\n");
  Write("/sys/devices/sda/sda1/partition", "1\n");
  Link("8:1", "sda/sda1");
  for (const char* const number : {"8:0", "8:1"}) {
    BlockDevice disk;
    ASSERT_TRUE(ReadBlockDevice(root_, number, &disk)) << number;
    EXPECT_EQ("sda", disk.name);
    EXPECT_EQ("Some Disk", disk.model);
    EXPECT_TRUE(disk.rotates);
    EXPECT_EQ(4096u, disk.sector);
    EXPECT_FALSE(disk.IsNetworkVolume());
  }
}

TEST_F(DoctorTest, DisksThatAreOddAreNotKnown) {
  BlockDevice disk;
  EXPECT_FALSE(ReadBlockDevice(root_, "8:0", &disk));
  int number = 0;
  for (const char* const rotates : {"", "\n", "2\n", "01\n", "-1\n", "yes\n"}) {
    const std::string minor = std::to_string(number++);
    MakeDisk("9:" + minor, "md" + minor, rotates);
    EXPECT_FALSE(ReadBlockDevice(root_, "9:" + minor, &disk)) << rotates;
  }
  EXPECT_FALSE(ReadBlockDevice(root_, "../block/9:0", &disk));
  // Not a pipe, which nobody writes.
  MakeDisk("10:0", "pipe", "");
  const std::string pipe = root_ + "/sys/devices/pipe/queue/rotational";
  ASSERT_EQ(0, unlink(pipe.c_str()));
  ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
  EXPECT_FALSE(ReadBlockDevice(root_, "10:0", &disk));
}

TEST_F(DoctorTest, VolumesOfCloudsAreOfTheNetwork) {
  MakeDisk("259:0", "nvme0n1", "0\n");
  Write("/sys/devices/nvme0n1/device/model", "Amazon Elastic Block Store              \n");
  BlockDevice disk;
  ASSERT_TRUE(ReadBlockDevice(root_, "259:0", &disk));
  EXPECT_TRUE(disk.IsNetworkVolume());
  EXPECT_EQ(512u, disk.sector) << "the kernel does not tell";
}

TEST_F(DoctorTest, WhatADirectoryIsOn) {
  MakeDisk("8:0", "sda", "1\n");
  MakeDisk("259:0", "nvme0n1", "0\n");
  MakeDisk("259:1", "nvme1n1", "0\n");
  Write("/sys/devices/nvme1n1/device/model", "Amazon Elastic Block Store\n");
  const std::pair<std::string, Kind> all[] = {
      {"8:0 / / rw - ext4 /dev/sda rw", Kind::kRotating},
      {"259:0 / / rw - xfs /dev/nvme0n1 rw", Kind::kDisk},
      {"259:1 / / rw - xfs /dev/nvme1n1 rw", Kind::kNetwork},
      {"0:50 / / rw - nfs4 server:/ rw", Kind::kNetwork},
      {"0:51 / / rw - tmpfs tmpfs rw", Kind::kMemory},
      {"0:52 / / rw - overlay overlay rw", Kind::kUnknown},
      {"0:53 / / rw - btrfs /dev/none rw", Kind::kUnknown},
      {"x / / rw - ext4 /dev/sda rw", Kind::kUnknown},
  };
  for (const auto& [mount, kind] : all) {
    Place place;
    ASSERT_OK(LookAt(root_, root_, Mounts("1 0 " + mount + "\n"), &place));
    EXPECT_EQ(NameOf(kind), std::string(NameOf(place.kind))) << mount;
    EXPECT_TRUE(place.writable);
    EXPECT_GT(place.size, 0u);
  }
  Place place;
  EXPECT_OK(LookAt(root_, root_, {}, &place));
  EXPECT_TRUE(place.kind == Kind::kUnknown);
  EXPECT_TRUE(LookAt(root_, root_ + "/none", {}, &place).IsIOError());
  EXPECT_TRUE(LookAt(root_, root_ + "/proc/self/mountinfo", {}, &place).IsIOError());
}

TEST_F(DoctorTest, LocalFileSystemsAreTakenOnce) {
  for (const char* const name : {"/a", "/b", "/c"}) {
    std::filesystem::create_directories(root_ + name);
  }
  Write("/file", "");
  const auto found = [&](const std::string& text) { return LocalDirectories(Mounts(text)); };
  using Paths = std::vector<std::string>;
  const std::string a = std::filesystem::canonical(root_ + "/a");
  const std::string b = std::filesystem::canonical(root_ + "/b");
  EXPECT_EQ((Paths{a, b}),
            found("1 0 8:1 / " + a + " rw - ext4 /dev/a rw\n" + "2 0 8:2 / " + b +
                  " rw - ext4 /dev/b rw\n" + "3 0 8:1 /x " + root_ + "/c rw - ext4 /dev/a rw\n"));
  // Memory, the network, a container's image, a file, and what is not there.
  EXPECT_EQ(Paths(), found("1 0 0:1 / " + a + " rw - tmpfs tmpfs rw\n" + "2 0 0:2 / " + b +
                           " rw - nfs4 server:/ rw\n" + "3 0 0:3 / " + root_ +
                           "/c rw - overlay overlay rw\n" + "4 0 8:1 / " + root_ +
                           "/file rw - ext4 /dev/a rw\n" + "5 0 8:2 / " + root_ +
                           "/none rw - ext4 /dev/b rw\n"));
  // What is mounted over cannot be seen.
  EXPECT_EQ(Paths(), found("1 0 8:1 / " + a + " rw - ext4 /dev/a rw\n" + "2 0 0:1 / " + a +
                           " rw - tmpfs tmpfs rw\n"));
}

TEST_F(DoctorTest, AProbeLeavesNothing) {
  double last = 0;
  ProbeResult result;
  ASSERT_OK(Probe(
      root_,
      [&](double share) {
        EXPECT_GE(share, last);
        EXPECT_LE(share, 1);
        last = share;
        // The scratch files have no name, or none any more.
        EXPECT_TRUE(std::filesystem::is_empty(root_));
      },
      &result));
  EXPECT_TRUE(result.done());
  for (const Latency& latency : {result.sync, result.device_sync, result.read}) {
    EXPECT_GE(latency.count, 5u);
    EXPECT_GE(latency.median, latency.low);
    EXPECT_GE(latency.high, latency.median);
  }
  EXPECT_GT(last, 0.9);
  EXPECT_TRUE(Probe(
                  root_ + "/none", [](double) {}, &result)
                  .IsIOError());
}

TEST_F(DoctorTest, CpuLimitsOfVersion2) {
  double cpus = 0;
  EXPECT_FALSE(ReadCpuLimit(root_, &cpus));
  Write("/proc/self/cgroup", "0::/a/b\n");
  Write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_FALSE(ReadCpuLimit(root_, &cpus));
  Write("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  ASSERT_TRUE(ReadCpuLimit(root_, &cpus));
  EXPECT_DOUBLE_EQ(1.5, cpus);
  Write("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  ASSERT_TRUE(ReadCpuLimit(root_, &cpus));
  EXPECT_DOUBLE_EQ(0.5, cpus);
}

TEST_F(DoctorTest, CpuLimitsOfVersion1) {
  Write("/proc/self/cgroup", "4:cpuset:/x\n3:cpu,cpuacct:/a\n0::/\n");
  Write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  Write("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  double cpus = 0;
  EXPECT_FALSE(ReadCpuLimit(root_, &cpus));
  Write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "200000\n");
  ASSERT_TRUE(ReadCpuLimit(root_, &cpus));
  EXPECT_DOUBLE_EQ(2, cpus);
}

TEST_F(DoctorTest, OddCgroupsLimitNothing) {
  double cpus = 0;
  uint64_t bytes = 0;
  std::string file;
  Write("/proc/self/cgroup", "\n:\n::\n0:\n0::\n0::a\n7:cpu\nno\n1:memory:\n");
  EXPECT_TRUE(CgroupsOf(root_, "cpu").empty());
  Write("/proc/self/cgroup", "0::/a\n");
  for (const char* const odd :
       {"", "\n", "x", "-5", "100 0", "1e9 5", "99999999999999999999999 5", "0 100"}) {
    Write("/sys/fs/cgroup/a/cpu.max", odd);
    EXPECT_FALSE(ReadCpuLimit(root_, &cpus)) << odd;
  }
  for (const char* const odd : {"", "max", "-1", "1x", "99999999999999999999999"}) {
    Write("/sys/fs/cgroup/a/memory.max", odd);
    EXPECT_FALSE(ReadMemoryLimit(root_, &bytes, &file)) << odd;
  }
}

TEST_F(DoctorTest, QuartilesOfLatencies) {
  EXPECT_EQ(0u, LatencyOf({}).count);
  // Eight parts of the time, of 80 each.
  std::vector<double> micros;
  for (const int calls : {8, 1, 2, 4, 5, 10, 20, 40}) {
    micros.insert(micros.end(), static_cast<size_t>(calls), 80.0 / calls);
  }
  const Latency latency = LatencyOf(micros);
  EXPECT_EQ(micros.size(), latency.count);
  EXPECT_DOUBLE_EQ(4, latency.low);
  EXPECT_DOUBLE_EQ(10, latency.median);
  EXPECT_DOUBLE_EQ(40, latency.high);
  const Latency few = LatencyOf({5, 1, 3, 2, 4});
  EXPECT_EQ(5u, few.count);
  EXPECT_LE(few.low, few.median);
  EXPECT_LE(few.median, few.high);
}

// 2000 calls in a second, 200 of them at once: what a device does that the kernel throttles.
TEST_F(DoctorTest, CallsThatWaitCount) {
  std::vector<double> micros;
  for (int i = 0; i < 2000; i++) {
    micros.push_back(i % 200 == 199 ? 99400 : 3);
  }
  const Latency latency = LatencyOf(micros);
  EXPECT_NEAR(500, latency.low, 1);
  EXPECT_NEAR(500, latency.median, 1);
  EXPECT_NEAR(500, latency.high, 1);
}

// A machine that is made up.
class AdviceTest : public testing::Test {
 protected:
  static constexpr uint64_t kGiB = 1ull << 30;

  AdviceTest() {
    machine_.memory = machine_.available = 16 * kGiB;
    machine_.open_files = 1 << 20;
  }

  // Adds a disk; `micros`: of a read, a tenth more and less; 0: it is not probed.
  Place* Add(const std::string& directory, Kind kind, uint64_t gib, double micros) {
    Place place;
    place.directory = directory;
    place.kind = kind;
    place.device.name = directory.substr(1);
    place.mount.number = "8:" + std::to_string(places_.size());
    place.size = 2 * gib * kGiB;
    place.free = gib * kGiB;
    place.writable = true;
    if (micros > 0) {
      place.probe.read = Around(micros);
      place.probe.sync = Around(10 * micros);
      place.probe.device_sync = Around(5 * micros);
    }
    places_.push_back(place);
    return &places_.back();
  }

  static Latency Around(double micros) { return {100, micros * 0.9, micros, micros * 1.1}; }

  Advice On(const std::string& preset) {
    all_ = Advise(machine_, places_, load_, plugins_);
    EXPECT_EQ(preset::Presets().size(), all_.size());
    const auto found = std::find_if(
        all_.begin(), all_.end(), [&](const Advice& each) { return each.preset->name == preset; });
    EXPECT_EQ(found->fits, !found->command.empty());
    EXPECT_FALSE(found->why.empty());
    return *found;
  }

  Machine machine_;
  Load load_;
  std::set<std::string> plugins_ = {"blob_hybrid", "hot_promotion", "raw_wal_fs",
                                    "secondary_cache_2q", "tiered_env"};
  std::vector<Place> places_;
  std::vector<Advice> all_;
};

TEST_F(AdviceTest, WithoutADiskNothingFits) {
  Add("/dev/shm", Kind::kMemory, 8, 0);
  for (const preset::Preset& preset : preset::Presets()) {
    EXPECT_FALSE(On(preset.name).fits) << preset.name;
  }
  Add("/full", Kind::kDisk, 0, 0);
  Add("/readonly", Kind::kDisk, 100, 0)->writable = false;
  for (const preset::Preset& preset : preset::Presets()) {
    EXPECT_FALSE(On(preset.name).fits) << preset.name;
  }
}

TEST_F(AdviceTest, TwoDisksOfWhichOneIsFaster) {
  Add("/hdd", Kind::kRotating, 2000, 8000);
  Add("/nvme", Kind::kDisk, 300, 80);
  const Advice advice = On("nvme+hdd");
  ASSERT_TRUE(advice.fits) << advice.why;
  EXPECT_EQ("a read takes 8000 us at /hdd, and 80 us at /nvme", advice.why);
  EXPECT_EQ("rocktier preset nvme+hdd --data=1000G --fast=/nvme --slow=/hdd --hot=5% --value=1K",
            advice.command);
  // 95% of the reads are fast at best, and a fifth if they are uniform.
  EXPECT_GT(advice.gain.low, 1.1);
  EXPECT_LT(advice.gain.low, 1.5);
  EXPECT_GT(advice.gain.high, 15);
  EXPECT_LT(advice.gain.high, 20);
  // A file is a cache there, too.
  EXPECT_NE(std::string::npos, On("cache-only").command.find("--fast=/nvme"));
  // A log of /hdd is best on /nvme.
  EXPECT_NE(std::string::npos, On("wal-only").command.find("--device=/nvme/rocktier.wal"));
  // The largest gain is first, what does not fit is last.
  EXPECT_STREQ("wal-only", all_.front().preset->name);
  EXPECT_FALSE(all_.back().fits);
}

TEST_F(AdviceTest, GainsAreByTheFormula) {
  const Gain reads = GainOfReads({1, 900, 1000, 1100}, {1, 90, 100, 110}, 0.5, 0.9);
  EXPECT_DOUBLE_EQ((900 + 40) / (0.5 * 90 + 0.5 * 900 + 40), reads.low);
  EXPECT_DOUBLE_EQ((1100 + 5) / (0.9 * 110 + (1 - 0.9) * 1100 + 5), reads.high);
  // A quartile goes with the same one.
  const Gain writes = GainOfWrites({1, 100, 300, 500}, {1, 100, 100, 400});
  EXPECT_DOUBLE_EQ(1, writes.low);
  EXPECT_DOUBLE_EQ((300 + 5.0) / (100 + 5), writes.high);
  ASSERT_EQ(3u, writes.figures.size());
  EXPECT_EQ("sync", writes.figures[0].name);
  EXPECT_DOUBLE_EQ(100, writes.figures[0].low);
  EXPECT_DOUBLE_EQ(300, writes.figures[0].high);
}

TEST_F(AdviceTest, ABlockOfACacheFileTakesWholeSectors) {
  Add("/hdd", Kind::kRotating, 2000, 8000);
  Place* const nvme = Add("/nvme", Kind::kDisk, 300, 80);
  const Advice small = On("cache-only");
  nvme->device.sector = 4096;
  const Advice large = On("cache-only");
  ASSERT_TRUE(small.gain.known() && large.gain.known());
  EXPECT_EQ(small.command, large.command);
  // Blocks of 4K take 8K if they have a byte more than a sector.
  EXPECT_LT(large.gain.low, small.gain.low);
  EXPECT_DOUBLE_EQ(large.gain.high, small.gain.high);
  const auto share = std::find_if(large.gain.figures.begin(), large.gain.figures.end(),
                                  [](const auto& each) { return each.name == "share"; });
  ASSERT_NE(large.gain.figures.end(), share);
  EXPECT_LT(share->low, share->high);
}

TEST_F(AdviceTest, WithoutAProbeThereIsNoGain) {
  Add("/hdd", Kind::kRotating, 2000, 0);
  Add("/nvme", Kind::kDisk, 300, 0);
  const Advice advice = On("nvme+hdd");
  EXPECT_TRUE(advice.fits);
  EXPECT_EQ("/hdd is called rotating, /nvme is not", advice.why);
  EXPECT_FALSE(advice.gain.known());
  EXPECT_EQ("make bench NAME=tiered_env", advice.measure);
  EXPECT_FALSE(On("wal-only").fits);
}

TEST_F(AdviceTest, DisksThatAreAlikeAreNoTiers) {
  Add("/one", Kind::kRotating, 2000, 100);
  Add("/other", Kind::kDisk, 300, 90);
  EXPECT_FALSE(On("nvme+hdd").fits);
  // Nor are two file systems of one disk, whatever a probe says.
  places_[0].probe.read = Around(8000);
  EXPECT_TRUE(On("nvme+hdd").fits);
  places_[0].device.name = places_[1].device.name;
  EXPECT_FALSE(On("nvme+hdd").fits);
}

TEST_F(AdviceTest, WhatFitsOnTheFastDiskNeedsNoTiers) {
  Add("/hdd", Kind::kRotating, 2000, 8000);
  Add("/nvme", Kind::kDisk, 300, 80);
  load_.data = 50 * kGiB;
  EXPECT_FALSE(On("nvme+hdd").fits);
  load_.data = 3000 * kGiB;
  const Advice advice = On("nvme+hdd");
  EXPECT_FALSE(advice.fits);
  EXPECT_NE(std::string::npos, advice.why.find("is more than")) << advice.why;
}

TEST_F(AdviceTest, CopiesThatHaveNoRoomAreLeftOut) {
  Add("/hdd", Kind::kRotating, 2000, 8000);
  Add("/nvme", Kind::kDisk, 60, 80);
  load_.hot = 50;
  const Advice advice = On("nvme+hdd");
  ASSERT_TRUE(advice.fits) << advice.why;
  EXPECT_EQ(std::string::npos, advice.command.find("--hot"));
}

TEST_F(AdviceTest, NetworkVolumesAndPersistentMemory) {
  Add("/volume", Kind::kNetwork, 2000, 900);
  Add("/nvme", Kind::kDisk, 300, 80);
  EXPECT_TRUE(On("nvme+network-volume").fits);
  EXPECT_FALSE(On("pmem").fits);
  places_[1].mount.options = "rw,dax";
  const Advice advice = On("pmem");
  ASSERT_TRUE(advice.fits) << advice.why;
  EXPECT_EQ("/nvme is mounted with DAX", advice.why);
  EXPECT_FALSE(advice.gain.known());
}

TEST_F(AdviceTest, ALogDeviceThatIsNotFaster) {
  Add("/disk", Kind::kDisk, 300, 80);
  ASSERT_TRUE(On("wal-only").fits);
  places_[0].probe.device_sync = places_[0].probe.sync;
  EXPECT_FALSE(On("wal-only").fits);
  places_[0].probe.sync = Latency();
  EXPECT_FALSE(On("wal-only").fits);
}

TEST_F(AdviceTest, AnSsdIsToldByTheProbe) {
  Add("/disk", Kind::kRotating, 300, 0);
  EXPECT_EQ("an SSD, as the disk with the most room", On("ram+ssd").why);
  places_[0].probe.read = Around(100);
  EXPECT_TRUE(On("ram+ssd").fits);
  places_[0].kind = Kind::kDisk;
  EXPECT_TRUE(On("ram+ssd").fits);
  places_[0].probe.read = Around(8000);
  EXPECT_FALSE(On("ram+ssd").fits);
}

TEST_F(AdviceTest, LittleMemory) {
  Add("/disk", Kind::kDisk, 300, 80);
  EXPECT_TRUE(On("large-values").fits);
  machine_.available = 64ull << 20;
  const Advice advice = On("ram+ssd");
  EXPECT_FALSE(advice.fits);
  EXPECT_NE(std::string::npos, advice.why.find("give more --memory")) << advice.why;
}

TEST_F(AdviceTest, PluginsThatAreNotBuilt) {
  Add("/disk", Kind::kDisk, 300, 80);
  plugins_.clear();
  EXPECT_EQ("the plugin raw_wal_fs: this rocktier was built without it", On("wal-only").why);
}

TEST_F(AdviceTest, PathsAreQuotedForAShell) {
  Add("/with blank", Kind::kDisk, 300, 80);
  EXPECT_NE(std::string::npos, On("large-values").command.find("'--slow=/with blank'"));
  // What cannot stand in a URI is refused by the preset.
  places_[0].directory = "/a;b";
  EXPECT_FALSE(On("large-values").fits);
}

TEST_F(AdviceTest, WhatShouldBeMended) {
  Place* const place = Add("/disk", Kind::kDisk, 100, 80);
  EXPECT_TRUE(ToMend(machine_, places_).empty());
  machine_.open_files = 1024;  // 64G of SSTs
  EXPECT_EQ(1u, ToMend(machine_, places_).size());
  machine_.open_files = 1 << 20;
  place->free = 5 * kGiB;  // of 200
  EXPECT_EQ(1u, ToMend(machine_, places_).size());
  place->writable = false;
  EXPECT_EQ(1u, ToMend(machine_, places_).size());
  place->writable = true;
  place->free = 100 * kGiB;
  place->probe.failed = "why";
  EXPECT_EQ(1u, ToMend(machine_, places_).size());
}

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
