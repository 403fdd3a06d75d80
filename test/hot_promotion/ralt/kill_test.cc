// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Fault model: the process dies by SIGKILL at any moment, the kernel and the disk live on. Then
// what Flush() has returned for is there, and of what was recorded after it no more is lost than
// the buffer holds; no file is damaged, and none is left over.
//
// ROCKTIER_CRASH_ROUNDS sets the number of kills of each test.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "plugin/hot_promotion/ralt/run_file_format.h"
#include "port/stack_trace.h"
#include "test/hot_promotion/ralt/support.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

constexpr Space kSpace = 42;
constexpr uint64_t kBuffer = 32 << 10;

enum Mode : char { kFlushing = 'f', kByItself = 'b', kEvicting = 'e' };

// What the child tells, in a file that both map.
struct Told {
  std::atomic<uint64_t> accessed;  // keys 0 to this were accessed
  std::atomic<uint64_t> recorded;  // and so many of them were recorded
  std::atomic<uint64_t> flushed;   // keys 0 to this were made durable (kFlushing)
  std::atomic<bool> running;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "shared by processes");

Told* MapTold(const std::string& file) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(Told)) != 0) {
    perror(file.c_str());
    abort();
  }
  void* const memory = mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) {
    perror("mmap");
    abort();
  }
  return static_cast<Told*>(memory);
}

RaltOptions Options(const std::string& folder, Mode mode) {
  RaltOptions options;
  options.path = folder + "/ralt";
  options.buffer_bytes = kBuffer;
  options.flush_seconds = 3600;
  options.max_bytes = 64 << 20;
  options.fast_bytes = mode == kEvicting ? 200000 : uint64_t{1} << 40;
  return options;
}

int ChildMain(const std::string& folder, Mode mode) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Told* const told = MapTold(folder + "/told");
  std::unique_ptr<Ralt> ralt;
  const Status s = Ralt::Open(Options(folder, mode), &ralt);
  if (!s.ok()) {
    fprintf(stderr, "%s\n", s.ToString().c_str());
    return 1;
  }
  const uint64_t recorded = told->recorded;
  told->running = true;
  // What the one before had accessed and not flushed may be lost.
  for (uint64_t i = mode == kFlushing ? told->flushed : told->accessed;; ++i) {
    told->accessed = i + 1;
    const uint64_t number = mode == kEvicting ? i * 7919 % 5000 : i;
    uint64_t dropped;
    do {  // again, if the buffer had no room
      dropped = ralt->Stats().dropped;
      ralt->Access(kSpace, Name(number), 90);
    } while (mode == kFlushing && ralt->Stats().dropped > dropped);
    if (mode != kFlushing) {
      told->recorded = recorded + ralt->Stats().accesses;
    } else if (i % 500 == 0 && ralt->Flush().ok()) {
      told->flushed = i + 1;
    }
  }
}

class Child {
 public:
  Child(const std::string& folder, Mode mode) {
    char letter[2] = {mode, '\0'};
    const char* arguments[] = {"kill_test", "--child", folder.c_str(), letter, nullptr};
    EXPECT_EQ(0, posix_spawn(&pid_, "/proc/self/exe", nullptr, nullptr,
                             const_cast<char**>(arguments), environ));
  }
  void Kill() {
    kill(pid_, SIGKILL);
    int status = 0;
    ASSERT_EQ(pid_, waitpid(pid_, &status, 0));
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }
  bool Running() const {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }

 private:
  pid_t pid_ = -1;
};

uint64_t Rounds() { return rocktier::FromEnvironment("ROCKTIER_CRASH_ROUNDS", 12); }

}  // namespace

class KillTest : public testing::Test {
 protected:
  KillTest() {
    folder_ = test::PerThreadDBPath("kill");
    EXPECT_OK(Env::Default()->CreateDirIfMissing(folder_));
    MakeEmpty(Env::Default(), folder_ + "/ralt");
    Env::Default()->DeleteFile(folder_ + "/told").PermitUncheckedError();
    told_ = MapTold(folder_ + "/told");
  }
  ~KillTest() override { munmap(told_, sizeof(Told)); }

  // Lets a child run until it has made, or recorded, so many more accesses, and a moment more.
  void RunChild(Mode mode, uint64_t accesses, uint32_t micros) {
    told_->running = false;
    const std::atomic<uint64_t>& count = mode == kFlushing ? told_->accessed : told_->recorded;
    const uint64_t goal = count + accesses;
    Child child(folder_, mode);
    while (count < goal && child.Running()) {
      std::this_thread::yield();
    }
    Env::Default()->SleepForMicroseconds(static_cast<int>(micros));
    ASSERT_NO_FATAL_FAILURE(child.Kill());
    ASSERT_TRUE(told_->running);
  }

  void Open(Mode mode) {
    ASSERT_OK(Ralt::Open(Options(folder_, mode), &ralt_));
    ASSERT_EQ(0u, ralt_->Stats().damaged);
  }

  uint64_t HotOf(uint64_t begin, uint64_t end) const {
    uint64_t hot = 0;
    for (uint64_t i = begin; i < end; ++i) {
      hot += ralt_->IsHot(kSpace, Name(i)) ? 1 : 0;
    }
    return hot;
  }

  void ExpectNoStrayFiles() {
    ralt_->Settle();
    const uint64_t files = ralt_->Stats().files;
    ralt_.reset();
    std::vector<std::string> names;
    ASSERT_OK(Env::Default()->GetChildren(folder_ + "/ralt", &names));
    uint64_t run_files = 0;
    for (const std::string& name : names) {
      uint64_t number;
      run_files += ParseRunFileName(name, &number) ? 1 : 0;
    }
    EXPECT_EQ(files, run_files);
  }

  std::string folder_;
  Told* told_;
  std::unique_ptr<Ralt> ralt_;
};

TEST_F(KillTest, WhatWasFlushedIsThere) {
  Random random(Seed());
  for (uint64_t round = 0; round < Rounds(); ++round) {
    told_->accessed = told_->flushed.load();
    RunChild(kFlushing, 1 + random.Uniform(20000), random.Uniform(20000));
    Open(kFlushing);
    EXPECT_EQ(told_->flushed, HotOf(0, told_->flushed)) << "round " << round;
    EXPECT_LT(HotOf(told_->accessed, told_->accessed + 10000), 100u) << "never accessed";
    ExpectNoStrayFiles();
  }
  EXPECT_GT(told_->flushed, 0u);
}

TEST_F(KillTest, NoMoreIsLostThanTheBufferHolds) {
  Random random(Seed());
  for (uint64_t round = 0; round < Rounds(); ++round) {
    const uint64_t accessed = told_->accessed;
    const uint64_t recorded = told_->recorded;
    RunChild(kByItself, 5000 + random.Uniform(20000), random.Uniform(20000));
    Open(kByItself);
    // Each takes its key of 11 bytes, the space, and two sizes.
    constexpr uint64_t kBufferHolds = kBuffer / (11 + 8 + 2);
    EXPECT_GE(HotOf(accessed, told_->accessed) + kBufferHolds, told_->recorded - recorded)
        << "round " << round;
    EXPECT_GT(told_->recorded - recorded, kBufferHolds) << "else this says nothing";
    ExpectNoStrayFiles();
  }
}

TEST_F(KillTest, EvictionsMayBeKilled) {
  Random random(Seed());
  for (uint64_t round = 0; round < Rounds(); ++round) {
    RunChild(kEvicting, 5000 + random.Uniform(10000), random.Uniform(20000));
    Open(kEvicting);
    ralt_->Settle();
    const RaltStats stats = ralt_->Stats();
    EXPECT_GT(stats.tick, 0u);
    EXPECT_LE(stats.hot_bytes, stats.hot_limit + stats.hot_limit / 20);
    ExpectNoStrayFiles();
  }
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE

int main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], "--child") == 0) {
    namespace ralt = ROCKSDB_NAMESPACE::hot_promotion::ralt;
    return ralt::ChildMain(argv[2], static_cast<ralt::Mode>(argv[3][0]));
  }
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
