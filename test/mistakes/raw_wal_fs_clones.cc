// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A file system that was copied block by block, as a snapshot of a volume, and is mounted beside
// the original: all directories have the same inodes and times of creation in both.

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "test/mistakes/raw_wal_fs_copies.h"
#include "test/raw_wal_fs/loop.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)
namespace fs = std::filesystem;

namespace {

class CloneMistakes : public CopyMistakes {
 protected:
  static constexpr uint64_t kSize = 32 << 20;

  // Mounts an empty ext4 file system at first_, in a namespace of the process, so that it goes with
  // it. Returns why there can be none, "" if there is one.
  std::string MountFirst() {
    for (const std::string& place : {first_, second_}) {
      fs::create_directories(place);
    }
    const std::string problem = first_disk_.Open(folder_ + "/disk1", kSize, 512);
    if (!problem.empty()) {
      return problem;
    }
    if (system(("mkfs.ext4 -q -F " + first_disk_.path() + " 2>/dev/null").c_str()) != 0) {
      return "mkfs.ext4 failed";
    }
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return "no namespace for a mount";
    }
    return Mount(first_disk_, first_) ? "" : std::string("mount: ") + strerror(errno);
  }
  // Mounts it. False, and the reason is printed, if there can be none here.
  bool CanMount() {
    const std::string problem = MountFirst();
    if (!problem.empty()) {
      printf("skipped: needs root and mounts: %s\n", problem.c_str());
    }
    return problem.empty();
  }
  // Copies the file system at first_ while it is mounted, and mounts the copy.
  void MountClone() {
    sync();
    ASSERT_EQ("", second_disk_.Open(folder_ + "/disk2", kSize, 512));
    {
      std::ifstream from(first_disk_.path(), std::ios::binary);
      std::ofstream to(second_disk_.path(), std::ios::binary);
      to << from.rdbuf();
      ASSERT_TRUE(to.flush() && from);
    }
    ASSERT_TRUE(Mount(second_disk_, second_)) << strerror(errno);
  }
  ~CloneMistakes() override {
    db_.reset();
    for (const std::string& place : {first_, second_}) {
      umount2(place.c_str(), MNT_DETACH);
    }
  }

  const std::string first_ = folder_ + "/first";
  const std::string second_ = folder_ + "/second";

 private:
  static bool Mount(const LoopDevice& disk, const std::string& place) {
    return mount(disk.path().c_str(), place.c_str(), "ext4", 0, nullptr) == 0;
  }

  LoopDevice first_disk_;
  LoopDevice second_disk_;
};

TEST_F(CloneMistakes, AClonedFileSystemBesideTheOriginal) {
  if (!CanMount()) {
    return;
  }
  const std::string original = first_ + "/db";
  const std::string clone = second_ + "/db";
  Fill(original, 50, /*sync=*/true);
  MountClone();
  ExpectRefused(clone, "is a copy of " + original + "/");
  const Options options = DbOptions();
  EXPECT_FALSE(DestroyDB(clone, options).ok());
  EXPECT_FALSE(RepairDB(clone, options).ok());
  raw_wal_fs::RawWalOptions wal;
  wal.device = device_;
  wal.force = true;
  uint64_t logs = 0;
  NewFs();
  EXPECT_FALSE(raw_wal_fs::ExportLogs(wal, clone, &logs).ok());
  ExpectWhole(original, 50);
}

TEST_F(CloneMistakes, ACloneIsAdoptedByForceAndTheOriginalIsRefusedThen) {
  if (!CanMount()) {
    return;
  }
  const std::string original = first_ + "/db";
  const std::string clone = second_ + "/db";
  Fill(original, 50, /*sync=*/true);
  MountClone();
  const auto said = Adopt(clone, /*force=*/false);
  EXPECT_EQ(said.foreign.size(), 1u);
  ASSERT_EQ(said.losers.size(), 1u);
  EXPECT_EQ(fs::path(said.losers[0]).parent_path(), original);
  ExpectRefused(clone, original);
  EXPECT_EQ(Adopt(clone, /*force=*/true).foreign.size(), 1u);
  EXPECT_TRUE(Adopt(clone, /*force=*/false).foreign.empty());
  ExpectRefused(original, "is a copy of " + clone + "/");
  ExpectWhole(clone, 50, original);
}

// With on_full=fail a log has no segment before it is written to.
TEST_F(CloneMistakes, ACloneOfADatabaseThatIsOpen) {
  if (!CanMount()) {
    return;
  }
  db_name_ = first_ + "/db";
  NewFs("on_full=fail");
  Open();
  MountClone();
  ExpectRefusedNow(second_ + "/db", "is a copy of " + db_name_);
  Put("a", "1");
  ExpectRefusedNow(second_ + "/db", "is a copy of " + db_name_);
  NewFs();
  Open();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(CloneMistakes, ACloneOfADatabaseWhoseWalDirIsElsewhere) {
  if (!CanMount()) {
    return;
  }
  db_name_ = first_ + "/db";
  NewFs();
  Open(WithWalDir());
  Put("a", "1");
  NewFs();
  MountClone();
  for (const bool paranoid : {true, false}) {
    Options options = WithWalDir();
    options.paranoid_checks = paranoid;
    std::unique_ptr<DB> db;
    const Status s = OpenDb(options, second_ + "/db", &db);
    EXPECT_NE(s.ToString().find("is a copy of " + db_name_), std::string::npos) << s.ToString();
  }
  NewFs();
  Open(WithWalDir());
  EXPECT_EQ(Get("a"), "1");
}

}  // namespace

}  // namespace rocktier
