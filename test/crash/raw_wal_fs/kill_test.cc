// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The experiment of MyWAL, section 3.2.2: a child writes sequential keys and publishes the last one
// that was acknowledged in shared memory; it is killed at a random moment; then every acknowledged
// key must be there. Without sync too: kill -9 loses nothing that a buffered write would not have
// lost.
//
// In some variants there is a standby; in most of them the device, or both, stall or fail now and
// then.
//
// The seed is printed; ROCKTIER_SEED sets it, ROCKTIER_CRASH_ROUNDS the number of kills.

#include "test/support/kill.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "gtest/gtest.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "port/stack_trace.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "test/support/open_db.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"
#include "test_util/sync_point.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)
using raw_wal_fs::RawWalStats;

namespace {

// In a file that parent and child map.
struct Shared {
  std::atomic<uint64_t> issued{0};        // keys [0, issued) may have been written
  std::atomic<uint64_t> acknowledged{0};  // keys [0, acknowledged) were acknowledged
  std::atomic<uint64_t> failed{0};
  std::atomic<uint64_t> reached{0};  // the most that one process saw of what its variant is about
};

std::string Key(uint64_t n) {
  char text[24];
  snprintf(text, sizeof(text), "%016llu", static_cast<unsigned long long>(n));
  return text;
}

// Makes a value of a length and content that only this key has.
std::string Value(uint64_t n) {
  std::mt19937_64 random(n);
  const uint64_t kind = random() % 20;
  const uint64_t length = kind == 0  ? random() % 30000
                          : kind < 5 ? random() % 3000
                                     : random() % 200;
  std::string value(16 + length, '\0');
  for (size_t i = 0; i + 8 <= value.size(); i += 8) {
    const uint64_t word = random();
    memcpy(value.data() + i, &word, sizeof(word));
  }
  return value;
}

constexpr uint64_t kMoreRounds = 100;       // until a run has seen what it must
constexpr uint64_t kSmallDevice = 2 << 20;  // is written over again and again

// A standby beside the device, which is asked soon whether it is well again.
constexpr char kStandby[] = "failover_latency=20;failback_after=0;standby=";
constexpr char kHedge[] = "hedge=true;failover_latency=20;failback_after=0;standby=";
constexpr char kMirror[] = "durable=both;failover_latency=20;failback_after=0;standby=";

struct Variant {
  const char* name;
  const char* fs_options;
  bool sync;      // of each write; else of one in a hundred
  uint64_t size;  // of the device
  const char* db_options;
  // What the variant is about: it must have been more than 0. Null: logs in the archive.
  uint64_t RawWalStats::*reached;
};

const Variant kVariants[] = {
    {"Sync", "", true, 64 << 20, "", &RawWalStats::repeated_bytes},
    {"NoSync", "", false, 64 << 20, "", &RawWalStats::appends},
    {"SmallBlocks", "block_size=512", true, 64 << 20, "", &RawWalStats::repeated_bytes},
    {"TinyTail", "tail_size=32K", false, 64 << 20, "", &RawWalStats::frames},
    {"SmallWriteBuffer", "", true, 64 << 20, "write_buffer_size=65536", &RawWalStats::logs_deleted},
    {"WrapAround", "", false, kSmallDevice, "write_buffer_size=131072", &RawWalStats::logs_deleted},
    {"FullDevice", "", false, (1 << 20) + 3 * 65536, "write_buffer_size=524288",
     &RawWalStats::logs_spilled},
    {"Recycled", "", true, 64 << 20, "recycle_log_file_num=2;write_buffer_size=65536",
     &RawWalStats::logs_deleted},
    {"Archived", "", true, 64 << 20, "WAL_ttl_seconds=1;write_buffer_size=65536", nullptr},
    {"ManualFlush", "", false, 64 << 20, "manual_wal_flush=true", &RawWalStats::syncs},
    {"Standby", kStandby, true, 64 << 20, "", &RawWalStats::repeated_bytes},
    {"StallsBesideAStandby", kStandby, true, 64 << 20, "write_buffer_size=131072",
     &RawWalStats::failovers},
    {"FailsBesideAStandby", kStandby, false, 64 << 20, "write_buffer_size=131072",
     &RawWalStats::failovers},
    {"Hedge", kHedge, true, 64 << 20, "", &RawWalStats::repeated_bytes},
    {"Mirror", kMirror, true, 64 << 20, "", &RawWalStats::repeated_bytes},
    {"StallsBesideAHedge", kHedge, true, 64 << 20, "write_buffer_size=131072",
     &RawWalStats::copies_lost},
    {"StallsBesideAMirror", kMirror, true, 64 << 20, "write_buffer_size=131072",
     &RawWalStats::copies_lost},
    {"StallsBesideAHedgeWithoutSync", kHedge, false, 64 << 20, "write_buffer_size=131072",
     &RawWalStats::copies_lost},
};

bool HasTrouble(const Variant& variant) { return strstr(variant.name, "Beside") != nullptr; }
bool HasStandby(const Variant& variant) {
  return strstr(variant.fs_options, "standby=") != nullptr;
}

// Has threads write to the device, not io_uring: that would not come across the trouble.
void PrepareTrouble(const Variant& variant) {
  if (HasTrouble(variant)) {
    SyncPoint::GetInstance()->SetCallBack("PatientWriter::New", [](void* may_use_ring) {
      *static_cast<bool*>(may_use_ring) = false;
    });
    SyncPoint::GetInstance()->EnableProcessing();
  }
}

// Makes the device of the process stall, or fail, now and then; beside copies the standby, too.
void MakeTrouble(const Variant& variant) {
  if (!HasTrouble(variant)) {
    return;
  }
  const bool stalls = strstr(variant.name, "StallsBeside") != nullptr;
  const auto meet = [stalls](void* status) {
    thread_local std::mt19937_64 random(std::random_device{}());
    if (random() % 20 != 0) {
      return;
    }
    if (stalls) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));  // and comes late
    } else {
      *static_cast<IOStatus*>(status) = IOStatus::IOError("the device", "fails");
    }
  };
  SyncPoint::GetInstance()->SetCallBack(
      "PatientWriter::New", [](void* may_use_ring) { *static_cast<bool*>(may_use_ring) = false; });
  SyncPoint::GetInstance()->SetCallBack("PosixDevice::Write", meet);
  SyncPoint::GetInstance()->SetCallBack("PosixDevice::Flush", meet);
  if (variant.fs_options != kStandby) {
    SyncPoint::GetInstance()->SetCallBack("Spill::Append", meet);
    SyncPoint::GetInstance()->SetCallBack("Spill::Sync", meet);
  }
}

uint64_t ReachedBy(const Variant& variant, const RawWalStats& stats, const std::string& folder) {
  if (variant.reached != nullptr) {
    return stats.*variant.reached;
  }
  std::error_code none;
  const bool empty = std::filesystem::is_empty(folder + "/db/archive", none);
  return none || empty ? 0 : 1;
}

Status OpenWith(const std::string& folder, const Variant& variant, std::shared_ptr<FileSystem>* fs,
                std::unique_ptr<Env>* env, std::unique_ptr<DB>* db) {
  ConfigOptions config;
  std::string uri = "id=RawWalFileSystem;segment_size=64K;device=" + folder +
                    "/device;size=" + std::to_string(variant.size);
  if (*variant.fs_options != '\0') {
    uri += std::string(";") + variant.fs_options;
  }
  if (HasStandby(variant)) {
    uri += folder + "/standby";
  }
  Status s = FileSystem::CreateFromString(config, uri, fs);
  if (!s.ok()) {
    return s;
  }
  *env = NewCompositeEnv(*fs);
  Options base;
  base.env = env->get();
  base.create_if_missing = true;
  Options options;
  s = GetOptionsFromString(config, base, variant.db_options, &options);
  return s.ok() ? OpenDb(options, folder + "/db", db) : s;
}

// Writes until it is killed.
int ChildMain(const std::string& folder, int variant_number) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that a time limit ends takes its child along
  const Variant& variant = kVariants[variant_number];
  Shared* shared = MapShared<Shared>(folder + "/shared");
  std::shared_ptr<FileSystem> fs;
  std::unique_ptr<Env> env;
  std::unique_ptr<DB> db;
  PrepareTrouble(variant);
  Status s = OpenWith(folder, variant, &fs, &env, &db);
  MakeTrouble(variant);
  for (uint64_t n = shared->acknowledged; s.ok(); n++) {
    shared->issued = n + 1;
    WriteOptions options;
    options.sync = variant.sync || n % 100 == 0;
    s = db->Put(options, Key(n), Value(n));
    if (s.ok() && n % 5 == 0 && strstr(variant.db_options, "manual_wal_flush") != nullptr) {
      s = db->FlushWAL(/*sync=*/true);
    } else if (strstr(variant.db_options, "manual_wal_flush") != nullptr && !options.sync) {
      continue;  // in the process's memory only
    }
    if (s.ok()) {
      shared->acknowledged = n + 1;
    }
    RawWalStats stats;
    if (s.ok() && n % 16 == 0) {
      s = GetRawWalStats(fs.get(), &stats);
      shared->reached = std::max<uint64_t>(shared->reached, ReachedBy(variant, stats, folder));
    }
  }
  fprintf(stderr, "the child: %s\n", s.ToString().c_str());
  shared->failed++;
  return 1;
}

class KillTest : public ::testing::TestWithParam<int> {
 protected:
  KillTest() {
    random_.seed(Seed() + static_cast<uint64_t>(GetParam()));
    folder_ = NewFolder(std::string("kill-") + kVariants[GetParam()].name);
    shared_ = MapShared<Shared>(folder_ + "/shared");
    std::filesystem::create_directory(folder_ + "/standby");
  }
  ~KillTest() override {
    munmap(shared_, sizeof(Shared));
    if (!HasFailure()) {
      std::filesystem::remove_all(folder_);
    }
  }

  void RunAndKill() {
    const std::string number = std::to_string(GetParam());
    const char* arguments[] = {"kill_test", "--child", folder_.c_str(), number.c_str(), nullptr};
    pid_t pid;
    ASSERT_EQ(posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(arguments),
                          environ),
              0);
    const uint64_t before = shared_->acknowledged;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const bool early = random_() % 10 == 0;  // while the database is opened
    while (!early && shared_->acknowledged == before && shared_->failed == 0 &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 100000));
    kill(pid, SIGKILL);
    int status;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    ASSERT_TRUE(early || shared_->acknowledged > before) << "the child wrote nothing";
  }

  // Keys [first, acknowledged) are there, and none that was not written.
  void Check(uint64_t first) {
    std::shared_ptr<FileSystem> fs;
    std::unique_ptr<Env> env;
    std::unique_ptr<DB> db;
    const Status opened = OpenWith(folder_, kVariants[GetParam()], &fs, &env, &db);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    std::string value;
    for (uint64_t n = first; n < shared_->issued + 100; n++) {
      const Status s = db->Get(ReadOptions(), Key(n), &value);
      if (n < shared_->acknowledged) {
        ASSERT_TRUE(s.ok()) << "key " << n << " of " << shared_->acknowledged << ": "
                            << s.ToString();
      } else if (n >= shared_->issued) {
        ASSERT_TRUE(s.IsNotFound()) << n;
      }
      if (s.ok()) {
        ASSERT_TRUE(value == Value(n)) << n;
      }
    }
  }

  uint64_t BytesWritten() const {
    uint64_t bytes = 0;
    for (uint64_t n = 0; n < shared_->acknowledged; n++) {
      bytes += Value(n).size();
    }
    return bytes;
  }

  // Says what a run must have seen; empty if it has.
  std::string Unseen() const {
    if (shared_->reached == 0) {
      return "no child came to what this variant is about";
    }
    const uint64_t device = kVariants[GetParam()].size;
    return device <= kSmallDevice && BytesWritten() <= device ? "the device was not filled once"
                                                              : "";
  }

  std::mt19937_64 random_;
  std::string folder_;
  Shared* shared_;
};

TEST_P(KillTest, EveryAcknowledgedWriteIsThere) {
  const uint64_t all = FromEnvironment("ROCKTIER_CRASH_ROUNDS", 200);
  const uint64_t rounds = std::max<uint64_t>(all / std::size(kVariants), 1);
  const auto goes_on = [&](uint64_t i) {
    return i < rounds || (!Unseen().empty() && i < rounds + kMoreRounds);
  };
  uint64_t kills = 0;
  for (; goes_on(kills) && !HasFailure(); kills++) {
    const uint64_t before = shared_->acknowledged;
    RunAndKill();
    if (!HasFailure()) {
      Check(before > 1000 ? before - 1000 : 0);
    }
  }
  if (!HasFailure()) {
    Check(0);
  }
  EXPECT_GT(shared_->acknowledged, 0u);
  EXPECT_EQ(Unseen(), "");
  printf("%llu kills, %llu acknowledged writes, %llu of what the variant is about\n",
         static_cast<unsigned long long>(kills),
         static_cast<unsigned long long>(shared_->acknowledged),
         static_cast<unsigned long long>(shared_->reached));
}

INSTANTIATE_TEST_CASE_P(Variants, KillTest,
                        ::testing::Range(0, static_cast<int>(std::size(kVariants))),
                        [](const auto& each) { return std::string(kVariants[each.param].name); });

}  // namespace

}  // namespace rocktier

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "--child") {
    return rocktier::ChildMain(argv[2], atoi(argv[3]));
  }
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
