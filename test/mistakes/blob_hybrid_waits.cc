// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What writers wait for: only for what the job can do, and only as long as it frees something. And
// where SSTs go. ROCKTIER_SEED: another seed.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "test/blob_hybrid/space.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr auto kTick = std::chrono::milliseconds(5);
constexpr int kMostTicks = 12000;

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

class WaitMistakes : public SpaceTest {
 protected:
  WaitMistakes() {
    LeaveToTheJob();
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

  // They end although the compaction is held.
  void ExpectWritersGoOn() {
    std::atomic<bool> done{false};
    writer_ = std::thread([&] {
      for (int i = 0; i < 2 * kKeys; i++) {
        Write(i % kKeys);
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

  const std::shared_ptr<Latch> latch_ = std::make_shared<Latch>();
  std::thread compacter_;
  std::thread writer_;
};

TEST_F(WaitMistakes, WritersDoNotWaitForTheUsersCompactFiles) {
  Load();
  Compact();
  Settle();
  latch_->Close();
  CompactAllFiles();
  ExpectWritersGoOn();
  compacter_.join();
  Flush();
  Finish(/*may_miss=*/true);
}

TEST_F(WaitMistakes, WaitEndsWhenNothingIsFreed) {
  Load();
  Compact();
  Settle();
  latch_->Close();  // for the job
  ExpectWritersGoOn();
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
