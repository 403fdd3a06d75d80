// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What writers wait for: only for what the job can do, and only as long as it frees something. And
// where SSTs go. ROCKTIER_SEED: another seed.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "rocksdb/file_system.h"
#include "test/blob_hybrid/space.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTick = std::chrono::milliseconds(5);
constexpr int kMostTicks = 24000;
// No put takes longer while only others can do something. A wait in vain takes some seconds.
constexpr double kLongestPut = 3;
constexpr double kLongestPutInVain = 30;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

bool Await(const std::function<bool()>& condition) {
  for (int tick = 0; tick < kMostTicks && !condition(); tick++) {
    std::this_thread::sleep_for(kTick);
  }
  return condition();
}

// Holds the next compaction.
class Latch : public EventListener {
 public:
  void OnSubcompactionBegin(const SubcompactionJobInfo& /*info*/) override {
    std::unique_lock<std::mutex> lock(mutex_);
    if (closed_ && !held) {
      held = true;
      opened_.wait(lock, [this] { return !closed_; });
    }
  }
  void Close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
  }
  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = false;
    opened_.notify_all();
  }

  std::atomic<bool> held{false};  // a compaction came

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool closed_ = false;
};

// Writes of one thread take as long as this says for each MiB.
thread_local uint64_t micros_for_a_mib = 0;

// Nothing is synced: on a busy disk that takes longer than a put may.
class SlowFs : public FileSystemWrapper {
 public:
  SlowFs() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "SlowFs"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    IOStatus s = target()->NewWritableFile(path, options, file, dbg);
    if (s.ok()) {
      *file = std::make_unique<File>(std::move(*file));
    }
    return s;
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* directory, IODebugContext* dbg) override {
    IOStatus s = target()->NewDirectory(path, options, directory, dbg);
    if (s.ok()) {
      *directory = std::make_unique<Directory>(std::move(*directory));
    }
    return s;
  }

 private:
  class File : public FSWritableFileOwnerWrapper {
   public:
    explicit File(std::unique_ptr<FSWritableFile>&& file)
        : FSWritableFileOwnerWrapper(std::move(file)) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
      std::this_thread::sleep_for(
          std::chrono::microseconds(data.size() * micros_for_a_mib / (1 << 20)));
      return target()->Append(data, options, dbg);
    }
    IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
      return IOStatus::OK();
    }
    IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
      return IOStatus::OK();
    }
    IOStatus RangeSync(uint64_t /*offset*/, uint64_t /*bytes*/, const IOOptions& /*options*/,
                       IODebugContext* /*dbg*/) override {
      return IOStatus::OK();
    }
  };

  class Directory : public FSDirectoryWrapper {
   public:
    using FSDirectoryWrapper::FSDirectoryWrapper;
    IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
      return IOStatus::OK();
    }
    IOStatus FsyncWithDirOptions(const IOOptions& /*options*/, IODebugContext* /*dbg*/,
                                 const DirFsyncOptions& /*what*/) override {
      return IOStatus::OK();
    }
  };
};

class WaitMistakes : public SpaceTest {
 protected:
  WaitMistakes() {
    patience_.reset();  // a wait ends when nothing is freed
    LeaveToTheJob();
    options_.env = env_.get();
    options_.listeners.push_back(latch_);
  }
  ~WaitMistakes() override {
    latch_->Open();
    for (std::thread* thread : {&compacter_, &writer_}) {
      if (thread->joinable()) {
        thread->join();
      }
    }
    Close();
  }

  // All SSTs, into the level they are in.
  void CompactAllFiles() {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    std::vector<std::string> names;
    for (const SstFileMetaData& file : meta.levels.back().files) {
      names.push_back(file.relative_filename);
    }
    compacter_ = std::thread([this, names, meta] {
      EXPECT_OK(db_->CompactFiles(CompactionOptions(), names, meta.levels.back().level));
    });
    ASSERT_TRUE(Await([this] { return latch_->held.load(); }));
  }

  // Notes how long each put takes.
  void WriteTimed(int i) {
    const auto begin = Clock::now();
    Write(i);
    longest_put_ = std::max(longest_put_, SecondsSince(begin));
  }

  // They end although the compaction is held.
  void ExpectWritersGoOn() {
    std::atomic<bool> done{false};
    writer_ = std::thread([&] {
      for (int i = 0; i < 2 * kKeys; i++) {
        WriteTimed(i % kKeys);
      }
      done = true;
    });
    EXPECT_TRUE(Await([&] { return done.load(); })) << Stats().ToString();
    EXPECT_TRUE(latch_->held);
    EXPECT_GT(Stats().bound_missed, 0u);
    EXPECT_GT(ShareOf(DiskBytes()), hybrid_.max_space_amplification);
    latch_->Open();
    writer_.join();
  }

  const std::unique_ptr<Env> env_ = NewCompositeEnv(std::make_shared<SlowFs>());
  const std::shared_ptr<Latch> latch_ = std::make_shared<Latch>();
  std::thread compacter_;
  std::thread writer_;
  double longest_put_ = 0;  // seconds
};

TEST_F(WaitMistakes, WritersDoNotWaitForTheUsersCompactFiles) {
  Load();
  Compact();
  Settle();
  latch_->Close();
  CompactAllFiles();
  ExpectWritersGoOn();
  EXPECT_LT(longest_put_, kLongestPut);
  compacter_.join();
  Flush();
  Finish(/*may_miss=*/true);
}

// A compaction that takes long because its device is slow.
TEST_F(WaitMistakes, NoPutTakesAsLongAsTheUsersCompactFiles) {
  constexpr uint64_t kMicrosForAMiB = 350000000;  // it writes some 30 KiB
  Load();
  Compact();
  Settle();
  for (int i = 0; i < kKeys; i += 3) {
    Write(i);  // garbage, so that values are moved
  }
  Flush();
  Settle();
  ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  std::vector<std::string> names;
  for (const LevelMetaData& level : meta.levels) {
    for (const SstFileMetaData& file : level.files) {
      names.push_back(file.relative_filename);
    }
  }
  std::atomic<bool> done{false};
  double took = 0;
  compacter_ = std::thread([&, this] {
    micros_for_a_mib = kMicrosForAMiB;
    const auto begin = Clock::now();
    EXPECT_OK(db_->CompactFiles(CompactionOptions(), names, meta.levels.back().level));
    took = SecondsSince(begin);
    done = true;
  });
  int written = 0;
  for (; !done && !HasFailure(); written++) {
    WriteTimed(Uniform());
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  compacter_.join();
  printf("%d puts, the longest of %.3f s, in %.1f s\n", written, longest_put_, took);
  EXPECT_GT(took, 2 * kLongestPut);
  EXPECT_GT(written, kKeys) << "they reach the bound";
  EXPECT_LT(longest_put_, kLongestPut);
  Flush();
  Finish(/*may_miss=*/true);
}

TEST_F(WaitMistakes, WaitEndsWhenNothingIsFreed) {
  Load();
  Compact();
  Settle();
  latch_->Close();  // for the job
  ExpectWritersGoOn();
  EXPECT_LT(longest_put_, kLongestPutInVain);
  Flush();
  Finish(/*may_miss=*/true);
  // It is worth to wait again.
  const BlobHybridStats before = Stats();
  for (int i = 0; i < 3 * kKeys; i++) {
    Write(Uniform());
  }
  Flush();
  EXPECT_GT(Stats().flush_wait_micros, before.flush_wait_micros);
  Finish(/*may_miss=*/true);
}

// Levels 0 and 1 fit into the fast folder.
class FastPathMistakes : public SpaceTest {
 protected:
  FastPathMistakes() {
    options_.level_compaction_dynamic_level_bytes = false;
    options_.target_file_size_base = 4 << 10;
    options_.max_bytes_for_level_base = 8 << 10;
    options_.cf_paths.emplace_back(root_ + "/fast", 3 * options_.max_bytes_for_level_base);
    options_.cf_paths.emplace_back(root_ + "/slow", 1 << 30);
  }
};

TEST_F(FastPathMistakes, SstsAreInThePathOfTheirLevel) {
  Load();
  for (int round = 0; round < 5; round++) {
    Overwrite(kKeys, [this] { return Uniform(); });
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    for (const LevelMetaData& level : meta.levels) {
      for (const SstFileMetaData& file : level.files) {
        ASSERT_EQ(root_ + (level.level < 2 ? "/fast" : "/slow"), file.directory) << level.level;
      }
    }
  }
  EXPECT_GT(Stats().jobs, 0u);
  Finish();
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
