// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What an operator may have put where a cache file belongs: nobody's file is opened for writing,
// cut or replaced but a cache file of ours, and no opening waits for ever.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "plugin/secondary_cache_2q/format.h"
#include "rocksdb/convenience.h"
#include "test/secondary_cache_2q/support.h"
#include "test_util/testharness.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

constexpr char kPrecious[] = "somebody's precious data";

// A folder of its own. An opening that waits is ended by a signal.
class MistakesTest : public testing::Test {
 protected:
  MistakesTest() : folder_(test::PerThreadDBPath("two_q_mistakes")), path_(folder_ + "/cache") {
    EXPECT_EQ(0, system(("rm -rf " + folder_ + " && mkdir -p " + folder_).c_str()));
    alarm(120);
  }
  ~MistakesTest() override {
    alarm(0);
    cache_.reset();
    EXPECT_EQ(0, system(("rm -rf " + folder_).c_str()));
  }

  Status Open(const std::string& capacity = "8M") {
    cache_.reset();
    return SecondaryCache::CreateFromString(
        ConfigOptions(),
        "id=TwoQSecondaryCache;storage=file;num_shard_bits=0;capacity=" + capacity +
            ";path=" + path_,
        &cache_);
  }

  // Refused with a reason, within the time.
  void ExpectRefused(const std::string& reason) {
    const Status s = Open();
    EXPECT_FALSE(s.ok());
    EXPECT_NE(std::string::npos, s.ToString().find(reason)) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find(path_)) << s.ToString();
  }

  static void Write(const std::string& path, const std::string& content) {
    std::ofstream file(path, std::ios::binary);
    file << content;
    ASSERT_TRUE(file.good());
  }
  static std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  static mode_t Kind(const std::string& path) {
    struct stat info;
    return lstat(path.c_str(), &info) == 0 ? info.st_mode & S_IFMT : 0;
  }

  // Makes a cache file with a block in it.
  void MakeCache() {
    ASSERT_OK(Open());
    Offer(cache_.get(), Key(1), "kept", /*force=*/true);
    cache_.reset();
  }
  void ExpectKept() {
    ASSERT_OK(Open());
    EXPECT_EQ("kept", Get(cache_.get(), Key(1)));
  }

  const std::string folder_;
  const std::string path_;
  std::shared_ptr<SecondaryCache> cache_;
};

TEST_F(MistakesTest, WhatIsNoRegularFileIsRefusedAndNotOpened) {
  ASSERT_EQ(0, mkfifo(path_.c_str(), 0600));
  ExpectRefused("is not a regular file");
  EXPECT_EQ(static_cast<mode_t>(S_IFIFO), Kind(path_));
  ASSERT_EQ(0, unlink(path_.c_str()));

  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = "/tmp/two_q_mistakes." + std::to_string(getpid());
  strncpy(address.sun_path, name.c_str(), sizeof(address.sun_path) - 1);
  unlink(name.c_str());  // of a process that was killed, and had the same number
  ASSERT_EQ(0, bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  ASSERT_EQ(0, symlink(name.c_str(), path_.c_str()));
  ExpectRefused("is not a regular file");
  close(fd);
  unlink(name.c_str());
  ASSERT_EQ(0, unlink(path_.c_str()));

  ASSERT_EQ(0, symlink("/dev/null", path_.c_str()));
  ExpectRefused("is not a regular file");
  ASSERT_EQ(0, unlink(path_.c_str()));

  ASSERT_EQ(0, mkdir(path_.c_str(), 0700));
  ExpectRefused("is not a regular file");
  EXPECT_EQ(0u, Kind(path_ + ".lock"));
  EXPECT_EQ(0u, Kind("/dev/null.lock"));
}

TEST_F(MistakesTest, ForeignFilesAreRefusedAndLeftAlone) {
  std::string other_version(4096, '\0');
  other_version.replace(0, 12, std::string("RKT2QSC\n\x09\0\0\0", 12));
  for (const std::string& content : {std::string(kPrecious), std::string(), std::string(8192, '\0'),
                                     std::string("RKT2QSC\n"), other_version}) {
    Write(path_, content);
    ExpectRefused("cache");
    EXPECT_EQ(content, Content(path_));
  }
}

TEST_F(MistakesTest, ALinkToNothingIsRefused) {
  const std::string target = folder_ + "/not mounted/cache";
  ASSERT_EQ(0, symlink(target.c_str(), path_.c_str()));
  ExpectRefused("is a symbolic link to a file that is not there");
  EXPECT_EQ(static_cast<mode_t>(S_IFLNK), Kind(path_));
  EXPECT_EQ(0u, Kind(path_ + ".lock"));
  ASSERT_EQ(0, unlink(path_.c_str()));
  ASSERT_EQ(0, symlink("cache", path_.c_str()));  // to itself
  ExpectRefused("");
}

// Also when it is made anew: the file that the link leads to is meant.
TEST_F(MistakesTest, ALinkStaysALink) {
  MakeCache();
  ASSERT_EQ(0, mkdir((folder_ + "/disk").c_str(), 0700));
  const std::string target = folder_ + "/disk/cache";
  ASSERT_EQ(0, rename(path_.c_str(), target.c_str()));
  ASSERT_EQ(0, unlink((path_ + ".lock").c_str()));
  ASSERT_EQ(0, symlink(target.c_str(), path_.c_str()));
  ExpectKept();
  ASSERT_OK(Open("16M"));
  cache_.reset();
  EXPECT_EQ(static_cast<mode_t>(S_IFLNK), Kind(path_));
  CacheFileInfo info;
  ASSERT_OK(InspectCacheFile(target, &info));
  EXPECT_EQ(16u << 20, info.capacity);
  EXPECT_EQ(0u, Kind(path_ + ".lock"));
}

TEST_F(MistakesTest, ALockFileThatIsNoneIsRefused) {
  const std::string lock = path_ + ".lock";
  const std::string victim = folder_ + "/victim";
  ASSERT_EQ(0, mkfifo(lock.c_str(), 0600));
  ExpectRefused("is not a regular file");
  ASSERT_EQ(0, unlink(lock.c_str()));
  ASSERT_EQ(0, symlink(victim.c_str(), lock.c_str()));
  ExpectRefused("is not a regular file");
  EXPECT_EQ(0u, Kind(victim));
  EXPECT_EQ(0u, Kind(path_));
  ASSERT_EQ(0, unlink(lock.c_str()));
  Write(lock, kPrecious);  // odd, and harmless
  MakeCache();
  ExpectKept();
  EXPECT_EQ(kPrecious, Content(lock));
}

// Earlier versions made their files under this name, by cutting what was there.
TEST_F(MistakesTest, AFileThatEndsInTmpIsNotTouched) {
  const std::string victim = folder_ + "/victim";
  Write(victim, kPrecious);
  Write(path_ + ".tmp", kPrecious);
  MakeCache();
  EXPECT_EQ(kPrecious, Content(path_ + ".tmp"));
  ASSERT_EQ(0, unlink((path_ + ".tmp").c_str()));
  ASSERT_EQ(0, symlink(victim.c_str(), (path_ + ".tmp").c_str()));
  ASSERT_OK(Open("16M"));
  EXPECT_EQ(kPrecious, Content(victim));
}

TEST_F(MistakesTest, AForeignFileInTheWayOfANewOneIsRefused) {
  MakeCache();
  const std::string unfinished = path_ + ".new";
  const std::string victim = folder_ + "/victim";
  Write(unfinished, kPrecious);
  ExpectKept();  // nothing is to be made
  Status s = Open("16M");
  EXPECT_NE(std::string::npos, s.ToString().find("in the way")) << s.ToString();
  EXPECT_EQ(kPrecious, Content(unfinished));
  ASSERT_EQ(0, unlink(unfinished.c_str()));
  Write(victim, kPrecious);
  ASSERT_EQ(0, symlink(victim.c_str(), unfinished.c_str()));
  s = Open("16M");
  EXPECT_NE(std::string::npos, s.ToString().find("in the way")) << s.ToString();
  EXPECT_EQ(kPrecious, Content(victim));
  ExpectKept();
}

TEST_F(MistakesTest, WhatAKilledProcessLeftUnfinishedIsMadeAnew) {
  const std::string unfinished = path_ + ".new";
  for (const std::string& content : {Superblock::Unfinished(), std::string()}) {
    Write(unfinished, content);
    MakeCache();
    EXPECT_EQ(0u, Kind(unfinished));
    ExpectKept();
    cache_.reset();
    ASSERT_EQ(0, unlink(path_.c_str()));
  }
}

// The bytes of a cache file of the first version without a block.
std::string FirstVersion() {
  std::string head = "RKT2QSC\n";
  for (uint32_t word : {1u, 512u, 1u, 0u}) {  // version, block_size, shards, zero
    PutFixed32(&head, word);
  }
  PutFixed64(&head, 8 << 20);  // capacity
  PutFixed64(&head, 4 << 10);  // slots
  head += "0123456789abcdef";
  head.resize(4092, '\0');
  PutFixed32(&head, crc32c::Mask(crc32c::Value(head.data(), head.size())));
  head.resize(4096 + 64 * (4 << 10) + (8 << 20), '\0');
  return head;
}

// What is in it is in SSTs, too.
TEST_F(MistakesTest, ACacheOfTheFirstVersionIsReplaced) {
  Write(path_, FirstVersion());
  MakeCache();
  CacheFileInfo info;
  ASSERT_OK(InspectCacheFile(path_, &info));
  EXPECT_EQ(2u, info.version);
  EXPECT_EQ(0u, Kind(path_ + ".new"));
  ExpectKept();
  EXPECT_NE(std::string::npos, cache_->GetPrintableOptions().find("state : open"));
}

TEST_F(MistakesTest, ACacheOfTheFirstVersionThatIsInUseIsNot) {
  const std::string content = FirstVersion();
  Write(path_, content);
  Write(path_ + ".lock", "");
  const int lock = open((path_ + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(0, flock(lock, LOCK_EX | LOCK_NB));
  ASSERT_OK(Open());
  EXPECT_NE(std::string::npos, cache_->GetPrintableOptions().find("state : pass-through"));
  close(lock);
  EXPECT_TRUE(content == Content(path_));
}

TEST_F(MistakesTest, WhatOnlyLooksLikeACacheOfTheFirstVersionIsRefused) {
  for (const size_t damaged : {9u, 15u, 40u, 2000u, 4095u}) {
    std::string content = FirstVersion();
    content[damaged] ^= 0x10;
    Write(path_, content);
    ExpectRefused("cache file version");
    EXPECT_TRUE(content == Content(path_));
  }
  const std::string shorter = FirstVersion().substr(0, FirstVersion().size() - 1);
  Write(path_, shorter);
  ExpectRefused("cache file version");
  EXPECT_TRUE(shorter == Content(path_));
  const std::string cut = FirstVersion().substr(0, 4095);
  Write(path_, cut);
  ExpectRefused("is not a TwoQSecondaryCache file");
  EXPECT_EQ(cut, Content(path_));
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
