// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/secondary_cache_2q/child.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "plugin/secondary_cache_2q/cache.h"
#include "test/crash/secondary_cache_2q/workload.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr auto kPatience = std::chrono::seconds(120);
constexpr auto kSampleEvery = std::chrono::milliseconds(2);
constexpr int kReaders = 2;
constexpr int kArguments = 6;

void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

void Sample(const SecondaryCache* cache, Shared* shared) {
  const CacheStats stats = StatsOf(cache);
  shared->blocks = stats.blocks;
  shared->hits = stats.hits;
  shared->corrupt = stats.corrupt;
  shared->io_errors = stats.io_errors;
  shared->erased_obsolete = stats.erased_obsolete;
  shared->carried = stats.carried;
  shared->carry_failed = stats.carry_failed;
  shared->running = true;
}

}  // namespace

Child::Child(const Site& site, Oracle* oracle, uint64_t seed) : oracle_(oracle) {
  Shared& shared = oracle->shared();
  shared.stop = false;
  shared.running = false;
  shared.blocks = 0;
  const std::string hyper = std::to_string(site.hyper_clock);
  const std::string number = std::to_string(seed);
  const char* arguments[] = {
      "crash_2q_test", "--child", site.folder.c_str(), site.cache_options.c_str(), hyper.c_str(),
      number.c_str(),  nullptr};
  const int error = posix_spawn(&pid_, "/proc/self/exe", nullptr, nullptr,
                                const_cast<char**>(arguments), environ);
  errno = error;
  Require(error == 0, "spawn a child");
}

Child::~Child() {
  if (!joined_) {
    kill(pid_, SIGKILL);
    Join();
  }
}

int Child::Join() {
  if (!joined_) {
    Require(waitpid(pid_, &status_, 0) == pid_, "wait for a child");
    joined_ = true;
  }
  return status_;
}

bool Child::Running() {
  if (!joined_ && waitpid(pid_, &status_, WNOHANG) == pid_) {
    joined_ = true;
  }
  return !joined_;
}

bool Child::WaitForBlocks(uint64_t blocks) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const Shared& shared = oracle_->shared();
  while (!shared.running || shared.blocks < blocks) {
    if (!Running()) {
      fprintf(stderr, "the child ended by itself, wait status %d\n", status_);
      return false;
    }
    if (std::chrono::steady_clock::now() > deadline) {
      fprintf(stderr, "the child's cache has %llu of %llu blocks\n",
              static_cast<unsigned long long>(shared.blocks),
              static_cast<unsigned long long>(blocks));
      return false;
    }
    Pause();
  }
  return true;
}

bool Child::Kill() {
  kill(pid_, SIGKILL);
  const int status = Join();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return true;
  }
  fprintf(stderr, "the child ended before it was killed, wait status %d\n", status);
  return false;
}

bool Child::Stop() {
  oracle_->shared().stop = true;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (Running()) {
    if (std::chrono::steady_clock::now() > deadline) {
      fprintf(stderr, "the child does not end\n");
      return false;
    }
    Pause();
  }
  if (status_ != 0) {
    fprintf(stderr, "the child ended with wait status %d\n", status_);
  }
  return status_ == 0;
}

bool IsChild(int argc, char** argv) {
  return argc == kArguments && strcmp(argv[1], "--child") == 0;
}

int ChildMain(char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that a time limit ends takes its child along
  const Site site{argv[2], argv[3], argv[4] == std::string("1")};
  const uint64_t seed = strtoull(argv[5], nullptr, 10);
  Oracle oracle(site.OracleFile());
  Shared& shared = oracle.shared();
  std::shared_ptr<SecondaryCache> cache;
  Require(NewCache(site, &cache), site.CacheUri());
  std::unique_ptr<DB> db;
  Require(OpenDb(site, DbOptions(site, cache), /*read_only=*/false, &db), "open " + site.Db());
  Workload workload(db.get(), &oracle);
  std::vector<std::thread> threads;
  threads.emplace_back([&] { workload.Write(seed); });
  for (int i = 1; i <= kReaders; i++) {
    threads.emplace_back([&workload, seed, i] { workload.Read(seed + static_cast<uint64_t>(i)); });
  }
  while (!shared.stop) {
    Sample(cache.get(), &shared);
    std::this_thread::sleep_for(kSampleEvery);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  Require(db->Close(), "close " + site.Db());
  cache->CheckedCast<secondary_cache_2q::TwoQSecondaryCache>()->TEST_WaitForCarry();
  Sample(cache.get(), &shared);  // what a clean close leaves
  return 0;
}

}  // namespace rocktier
