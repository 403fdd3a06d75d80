// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory, when something fails while the database is open.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "plugin/tiered_env/files/names.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/hooks.h"
#include "test/tiered_env/support/volatile.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

// Holds threads of RocksDB at a place until the test lets them go. Thread-safe.
class Held {
 public:
  explicit Held(std::chrono::seconds limit) : limit_(limit) {}

  // Called by the thread.
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    is_there_ = true;
    changed_.notify_all();
    in_time_ = changed_.wait_for(lock, limit_, [this] { return let_go_; }) && in_time_;
  }
  // Whether one is there, in time.
  bool IsThere() {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, limit_, [this] { return is_there_; });
  }
  void LetGo() {
    std::lock_guard<std::mutex> lock(mutex_);
    let_go_ = true;
    changed_.notify_all();
  }
  // Whether all were let go in time; for when they are joined.
  bool in_time() const { return is_there_ && in_time_; }

 private:
  const std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_there_ = false;
  bool let_go_ = false;
  bool in_time_ = true;
};

class MemoryFaults : public VolatileTest {
 protected:
  MemoryFaults() {
    hooks_ = std::make_shared<HookedFs>();
    target_ = hooks_;
  }
  Options Manual() const {
    Options options = DbOptions();
    options.disable_auto_compactions = true;
    return options;
  }
  void OpenManual() {
    MountMemory();
    Open(Manual());
  }
  // RocksDB begins a log while another thread is held.
  void BeginLogBeside(Held* held) {
    EXPECT_TRUE(held->IsThere());
    Put("b");
    FlushOptions begin;
    begin.wait = false;
    EXPECT_OK(db_->Flush(begin));
    held->LetGo();
  }
  // With other options, over hooks_.
  void Mount(TieredOptions tiered) {
    Close();
    tiered.tiers = MemoryTiers();
    tiered.placement = "0..2=memory;3..=slow";
    env_.reset();
    fs_.reset();
    ASSERT_OK(NewTieredFileSystem(tiered, hooks_, &fs_));
    env_ = NewCompositeEnv(fs_);
  }
  void Put(const std::string& prefix, int count = 100, size_t size = 200) {
    for (int i = 0; i < count; i++) {
      const std::string key = prefix + std::to_string(i);
      model_[key] = std::string(size, 'v') + key + prefix;
      ASSERT_OK(db_->Put(WriteOptions(), key, model_[key]));
    }
  }
  // One more SST in memory, of the newest log.
  void PutAndFlush(const std::string& prefix, int count = 100, size_t size = 200) {
    Put(prefix, count, size);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  int LinesOfLog(const std::string& text) const {
    std::ifstream in(db_name_ + "/LOG");
    int lines = 0;
    for (std::string line; std::getline(in, line);) {
      lines += line.find(text) != std::string::npos ? 1 : 0;
    }
    return lines;
  }

  std::shared_ptr<HookedFs> hooks_;
};

bool IsLog(const std::string& path) {
  uint64_t number;
  return ContentOf(path, &number) == Content::kWal;
}

// The SST that it was needed for is durable by itself then, and nothing stops.
TEST_F(MemoryFaults, ASyncOfAClosedLogThatFailsOnce) {
  std::atomic<int> failures{0};
  std::atomic<bool> fails{false};
  hooks_->before_sync = [&](const std::string& path) {
    if (!IsLog(path) || !fails.exchange(false)) {
      return IOStatus::OK();
    }
    failures++;
    return IOStatus::IOError(path, "injected");
  };
  OpenManual();
  ASSERT_FALSE(HasFailure());
  PutAndFlush("a");
  const uint64_t references = Stats().references;
  EXPECT_GE(references, 100u);
  Put("b");
  fails = true;
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(Stats().references, references);
  EXPECT_GT(BytesIn("slow"), 0u);
  ASSERT_OK(db_->Resume());
  PutAndFlush("c");
  EXPECT_EQ(Stats().references, references + 100);
  EXPECT_GT(LinesOfLog("cannot be synced"), 0);
  LoseAndVerify();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Verify();
}

// Whoever begins a log does not wait for the renaming of another one.
TEST_F(MemoryFaults, ALogThatIsKeptHoldsUpNobody) {
  Held renaming(std::chrono::seconds(120));
  hooks_->before_rename = [&](const std::string&, const std::string& to) {
    if (IsKept(BaseOf(to)) && EndsWith(to, ".log")) {
      renaming.Wait();
    }
    return IOStatus::OK();
  };
  OpenManual();
  ASSERT_FALSE(HasFailure());
  Put("a");
  std::thread flush([&] { EXPECT_OK(db_->Flush(FlushOptions())); });
  BeginLogBeside(&renaming);
  flush.join();
  EXPECT_TRUE(renaming.in_time());
  ASSERT_OK(db_->Flush(FlushOptions()));
  LoseAndVerify();
}

// Nor for a recipe that is made, if RocksDB recycles the log that it does not need any more.
TEST_F(MemoryFaults, ALogThatIsRecycledHoldsUpNobody) {
  std::atomic<bool> is_due{false};
  Held making(std::chrono::seconds(30));
  SyncPoint::GetInstance()->SetCallBack("RecoveryManager::AddTable:WithSource", [&](void*) {
    if (is_due.exchange(false)) {
      making.Wait();
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  MountMemory();
  Options options = Manual();
  options.recycle_log_file_num = 1;
  Open(options);
  ASSERT_FALSE(HasFailure());
  PutAndFlush("a");
  PutAndFlush("a");
  std::vector<std::string> logs;
  EXPECT_TRUE(WaitFor([&] {  // that which is written, and that which is to be recycled
    logs = FilesOf(".log");
    logs.erase(std::remove_if(logs.begin(), logs.end(), IsKept), logs.end());
    return logs.size() == 2;
  }));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  const std::string recycled = db_name_ + "/" + *std::min_element(logs.begin(), logs.end());
  is_due = true;
  std::thread compact(
      [&] { EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr)); });
  BeginLogBeside(&making);
  compact.join();
  EXPECT_TRUE(making.in_time());
  EXPECT_TRUE(WaitFor([&] { return !fs::exists(recycled); }));
  PutAndFlush("c");
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  LoseAndVerify();
}

// As a clean-up of /dev/shm does: of all that is there, or of single files.
TEST_F(MemoryFaults, WhatIsCleanedUpIsThereAgain) {
  for (const bool all : {true, false}) {
    SCOPED_TRACE(all);
    MountMemory();
    Options options = Manual();
    options.max_open_files = 20;  // so that tables are opened again and again
    Open(options);
    ASSERT_FALSE(HasFailure());
    for (int round = 0; round < 3; round++) {
      PutAndFlush("a" + std::to_string(round));
      PutAndFlush("b" + std::to_string(round));
      std::vector<fs::path> files;
      for (const auto& entry : fs::recursive_directory_iterator(TierPath("memory"))) {
        if (entry.is_regular_file() && !IsOfFolder(entry)) {
          files.push_back(entry.path());
        }
      }
      ASSERT_GE(files.size(), 2u);
      if (all) {
        LoseMemory();
      } else {
        fs::remove(files.front());
      }
      PutAndFlush("c" + std::to_string(round));
      EXPECT_GT(FilesIn("memory"), 0u);
    }
    const uint64_t rebuilt = Stats().rebuilt_files;
    ASSERT_OK(db_->VerifyChecksum());
    EXPECT_GT(Stats().rebuilt_files, rebuilt);
    Verify();
    LoseMemory();
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    Verify();
    LoseAndVerify();
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    model_.clear();
  }
}

// A log of one SST is missing: the others are there again.
TEST_F(MemoryFaults, WhatCannotBeRebuiltKeepsNothingElseFromIt) {
  TieredOptions tiered;
  tiered.recovery_threads = 1;
  Mount(tiered);
  Open(Manual());
  ASSERT_FALSE(HasFailure());
  PutAndFlush("a");
  ASSERT_TRUE(WaitFor([&] { return Kept(".log").size() == 1; }));
  const std::string needed = Kept(".log").front();
  PutAndFlush("b");
  PutAndFlush("c");
  std::vector<std::string> tables = FilesOf(".sst");
  std::sort(tables.begin(), tables.end());
  ASSERT_EQ(tables.size(), 3u);
  ASSERT_TRUE(WaitFor([&] { return Kept(".log").size() == 3; }));
  fs::rename(needed, folder_ + "/away");
  LoseMemory();
  std::string bytes;
  const Status lost = ReadFileToString(env_.get(), db_name_ + "/" + tables[0], &bytes);
  EXPECT_NE(lost.ToString().find("is lost"), std::string::npos) << lost.ToString();
  EXPECT_EQ(FilesIn("memory"), 2u);
  for (size_t i = 1; i < tables.size(); i++) {
    EXPECT_OK(ReadFileToString(env_.get(), db_name_ + "/" + tables[i], &bytes));
    EXPECT_FALSE(bytes.empty());
  }
  EXPECT_GT(LinesOfLog("cannot rebuild what is gone"), 0);
  fs::rename(folder_ + "/away", needed);
  ASSERT_OK(db_->VerifyChecksum());
  Verify();
  LoseAndVerify();
}

// The next tier takes what is new, until it can be made again.
TEST_F(MemoryFaults, ATierThatCannotBeMadeAgain) {
  OpenManual();
  ASSERT_FALSE(HasFailure());
  PutAndFlush("a");
  LoseMemory();
  std::ofstream(TierPath("memory")) << "no directory";
  for (int i = 0; i < 3; i++) {
    PutAndFlush("b" + std::to_string(i));
  }
  EXPECT_GT(BytesIn("slow"), 0u);
  fs::remove(TierPath("memory"));
  ASSERT_OK(db_->VerifyChecksum());
  Verify();
  LoseAndVerify();
}

// It is cleaned up while an SST is written.
TEST_F(MemoryFaults, AnSstThatIsGoneBeforeItIsComplete) {
  std::atomic<bool> due{false};
  SyncPoint::GetInstance()->SetCallBack("PlacedFile::KeepTable:Start", [&](void*) {
    if (due.exchange(false)) {
      LoseMemory();
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  OpenManual();
  ASSERT_FALSE(HasFailure());
  PutAndFlush("a");
  Put("b");
  due = true;
  db_->Flush(FlushOptions()).PermitUncheckedError();  // RocksDB tries again by itself
  EXPECT_FALSE(due);
  EXPECT_TRUE(WaitFor([&] {
    std::this_thread::sleep_for(std::chrono::seconds(3));  // whoever tries often holds it up
    return db_->Flush(FlushOptions()).ok();
  }));
  PutAndFlush("c");
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  EXPECT_GT(Stats().bytes, 0u);
  ASSERT_OK(db_->VerifyChecksum());
  Verify();
  LoseAndVerify();
}

// What cannot be written now is tried again later and later.
TEST_F(MemoryFaults, ARecipeLogThatCannotBeWrittenAnew) {
  std::mutex mutex;
  std::vector<Clock::time_point> tries;
  std::atomic<bool> fails{false};
  hooks_->before_create = [&](const std::string& path) {
    if (!fails || path.find("TIERS-RECIPES") == std::string::npos) {
      return IOStatus::OK();
    }
    std::lock_guard<std::mutex> lock(mutex);
    tries.push_back(Clock::now());
    return IOStatus::NoSpace(path, "injected");
  };
  SyncPoint::GetInstance()->SetCallBack("RecipeLog::Compact:Slack",
                                        [](void* slack) { *static_cast<uint64_t*>(slack) = 0; });
  OpenManual();
  ASSERT_FALSE(HasFailure());
  for (int i = 0; i < 4; i++) {
    PutAndFlush("a");
  }
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));  // most recipes are dead
  const std::vector<std::string> before = Kept("RECIPES");
  fails = true;
  SyncPoint::GetInstance()->EnableProcessing();
  EXPECT_TRUE(WaitFor([&] {
    std::lock_guard<std::mutex> lock(mutex);
    return tries.size() >= 3;
  }));
  {
    std::lock_guard<std::mutex> lock(mutex);
    ASSERT_GE(tries.size(), 3u);
    EXPECT_GE(tries[2] - tries[0], std::chrono::milliseconds(2900));
  }
  EXPECT_GT(LinesOfLog("cannot write the recipe log anew"), 0);
  fails = false;
  EXPECT_TRUE(WaitFor([&] { return Kept("RECIPES") != before; }));
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  LoseAndVerify();
}

// What is left of it could not be rebuilt, so what needs it does not stay in memory.
TEST_F(MemoryFaults, ARetainedLogThatIsDamaged) {
  SyncPoint::GetInstance()->SetCallBack("RecoveryManager::Trim:Small",
                                        [](void* small) { *static_cast<uint64_t*>(small) = 0; });
  SyncPoint::GetInstance()->EnableProcessing();
  TieredOptions tiered;
  tiered.wal_amplification_high = 1.1;
  tiered.wal_amplification_low = 1.05;
  Mount(tiered);
  Options options = Manual();
  options.level_compaction_dynamic_level_bytes = false;
  Open(options);
  ASSERT_FALSE(HasFailure());
  const Snapshot* const snapshot = db_->GetSnapshot();  // so that sequence numbers stay
  PutAndFlush("a", 300);
  EXPECT_TRUE(WaitFor([&] { return Kept(".log").size() == 1; }));
  const std::string damaged = Kept(".log").front();
  {
    std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(damaged) / 2));
    file << "something else";
  }
  PutAndFlush("b", 300);
  PutAndFlush("a", 200);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_TRUE(WaitFor([&] { return Stats().damaged_logs == 1; }));
  EXPECT_TRUE(WaitFor([&] { return !fs::exists(damaged); }));  // nothing needs it any more
  EXPECT_EQ(LinesOfLog("a retained log is damaged"), 1);
  EXPECT_GT(BytesIn("slow"), 0u);
  PutAndFlush("c");
  db_->ReleaseSnapshot(snapshot);
  LoseAndVerify();
  EXPECT_EQ(Stats().damaged_logs, 0u);
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
}

// Nothing in it is durable, and it may be gone at any time.
TEST_F(MemoryFaults, NoDirectoryInMemoryIsSynced) {
  std::mutex mutex;
  std::vector<std::string> synced;
  hooks_->before_sync_directory = [&](const std::string& directory) {
    if (directory.compare(0, TierPath("memory").size(), TierPath("memory")) == 0) {
      std::lock_guard<std::mutex> lock(mutex);
      synced.push_back(directory);
    }
    return IOStatus::OK();
  };
  OpenManual();
  ASSERT_FALSE(HasFailure());
  PutAndFlush("a");
  LoseMemory();  // it is made again
  PutAndFlush("b");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  PutAndFlush("c");
  LoseAndVerify();
  Close();
  // What is in lost/ is brought back.
  const fs::path folder = fs::directory_iterator(TierPath("memory"))->path();
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().find(".sst.") != std::string::npos) {
      files.push_back(entry.path());
    }
  }
  ASSERT_FALSE(files.empty());
  fs::create_directory(folder / "lost");
  for (const fs::path& file : files) {
    fs::rename(file, folder / "lost" / (file.filename().string() + ".1000"));
  }
  OpenManual();
  ASSERT_FALSE(HasFailure());
  Verify();
  Close();
  MountMemory();
  uint64_t moved = 0;
  ASSERT_OK(DrainTier(fs_.get(), db_name_, "memory", &moved));
  EXPECT_GT(moved, 0u);
  hooks_->before_sync_directory = nullptr;
  EXPECT_EQ(synced, std::vector<std::string>());
}

// They are written to memory in vain only a few times.
TEST_F(MemoryFaults, CompressedLevelsGoStraightToTheNextTier) {
  const auto supported = GetSupportedCompressions();
  const auto codec = std::find_if(supported.begin(), supported.end(),
                                  [](CompressionType type) { return type != kNoCompression; });
  if (codec == supported.end()) {
    ROCKTIER_SKIP("no compression in this build");
  }
  std::atomic<int> in_memory{0};
  hooks_->before_create = [&](const std::string& path) {
    in_memory += path.compare(0, TierPath("memory").size(), TierPath("memory")) == 0 &&
                         path.find(".sst") != std::string::npos
                     ? 1
                     : 0;
    return IOStatus::OK();
  };
  MountMemory();
  Options options = Manual();
  options.compression = *codec;
  options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1000;
  Open(options);
  ASSERT_FALSE(HasFailure());
  for (int i = 0; i < 20; i++) {
    PutAndFlush("a" + std::to_string(i));
  }
  EXPECT_EQ(in_memory, 3);
  EXPECT_EQ(Stats().bytes, 0u);
  EXPECT_EQ(LinesOfLog("compression_per_level (or as compression)"), 1);
  ASSERT_OK(db_->SetOptions({{"compression", "kNoCompression"}}));
  for (int i = 0; i < 40; i++) {
    PutAndFlush("b" + std::to_string(i));
  }
  const uint64_t bytes = Stats().bytes;
  EXPECT_GT(bytes, 0u);
  PutAndFlush("c");
  EXPECT_GT(Stats().bytes, bytes);
  LoseAndVerify();
}

// Bytes of files of a tier that are deleted, and mapped or open in this process.
uint64_t Mapped(const std::string& tier) {
  std::ifstream maps("/proc/self/maps");
  uint64_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    uint64_t from;
    uint64_t to;
    if (line.find(tier + "/") != std::string::npos && line.find("(deleted)") != std::string::npos &&
        sscanf(line.c_str(), "%lx-%lx", &from, &to) == 2) {
      bytes += to - from;
    }
  }
  return bytes;
}

int OpenOf(const std::string& tier) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = fs::read_symlink(entry.path(), error).string();
    count += target.find(tier + "/") != std::string::npos &&
                     target.find(".sst") != std::string::npos &&
                     target.find("(deleted)") != std::string::npos
                 ? 1
                 : 0;
  }
  return count;
}

// SSTs leave the memory while they are open: they are let go, or count.
TEST_F(MemoryFaults, SstsThatHaveMovedAreLetGoOrCount) {
  for (const bool mapped : {true, false}) {
    SCOPED_TRACE(mapped);
    hooks_->only_buffered = TierPath("memory");
    TieredOptions tiered;
    tiered.wal_budget = 100000;
    Mount(tiered);
    Options options = Manual();
    options.max_open_files = -1;
    options.allow_mmap_reads = mapped;
    options.use_direct_reads = !mapped;
    options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1000;
    Open(options);
    ASSERT_FALSE(HasFailure());
    for (int i = 0; i < 10; i++) {
      PutAndFlush("a" + std::to_string(i));
    }
    EXPECT_TRUE(WaitFor([&] { return Stats().persisted_bytes > 0; }));
    EXPECT_TRUE(WaitFor([&] { return BytesIn("slow") > 0; }));
    ASSERT_OK(WaitForMoves(fs_.get()));
    Verify();
    if (mapped) {
      EXPECT_GT(Mapped(TierPath("memory")), 0u);
      EXPECT_TRUE(WaitFor([&] {  // pages are counted there
        return StatsOf("memory").held_bytes + 4096 * 20 >= Mapped(TierPath("memory"));
      }));
      const TieredTierStats memory = StatsOf("memory");
      EXPECT_GT(memory.held_bytes, 0u);
      EXPECT_GE(memory.bytes, memory.held_bytes) << "its budget has them";
    } else {
      EXPECT_TRUE(WaitFor([&] { return OpenOf(TierPath("memory")) == 0; }));
    }
    Close();
    EXPECT_TRUE(WaitFor([&] { return StatsOf("memory").bytes == 0; }));
    EXPECT_EQ(StatsOf("memory").held_bytes, 0u);
    LoseAndVerify();
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    model_.clear();
  }
}

}  // namespace

}  // namespace rocktier
