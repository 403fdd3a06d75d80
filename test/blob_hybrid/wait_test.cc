// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Writers and the background job: who waits for whom, how much the job writes in a second, and what
// happens if it cannot do its work. ROCKTIER_SEED: another seed.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "plugin/blob_hybrid/space.h"
#include "rocksdb/table.h"
#include "test/blob_hybrid/space.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kDeadline = std::chrono::seconds(120);
constexpr auto kTick = std::chrono::milliseconds(5);

// Whether it becomes true in time.
bool Await(const std::function<bool()>& condition) {
  const auto end = Clock::now() + kDeadline;
  while (!condition()) {
    if (Clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(kTick);
  }
  return true;
}

// Holds compactions. Before the plugin's listener: counts flushes that come to it.
class Latch : public EventListener {
 public:
  void OnFlushBegin(DB* /*db*/, const FlushJobInfo& /*info*/) override { flushes_begun++; }
  void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*info*/) override { flushes_done++; }
  // RocksDB does not tell of CompactFiles() otherwise.
  void OnSubcompactionBegin(const SubcompactionJobInfo& /*info*/) override {
    std::unique_lock<std::mutex> lock(mutex_);
    waiting += closed_ ? 1 : 0;
    opened_.wait(lock, [this] { return !closed_; });
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

  std::atomic<int> flushes_begun{0};
  std::atomic<int> flushes_done{0};
  std::atomic<int> waiting{0};  // compactions that came when it was closed

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool closed_ = false;
};

class WaitTest : public SpaceTest {
 protected:
  uint64_t Percent() { return Stats().space_amplification_percent; }

  // Flushes wait above that.
  double WaitPercent() const { return WaitBound(hybrid_.max_space_amplification, false) * 100; }
};

class HeldTest : public WaitTest {
 protected:
  HeldTest() {
    LeaveToTheJob();
    options_.listeners.push_back(latch_);
  }
  ~HeldTest() override {
    latch_->Open();
    if (flusher_.joinable()) {
      flusher_.join();
    }
    Close();
  }

  // Until RocksDB takes no more.
  void WriteWithoutWaiting() {
    WriteOptions options;
    options.no_slowdown = true;
    for (int written = 0; written < kKeys; written++) {
      const std::string value = ValueOf(next_, version_, kValue);
      const Status s = db_->Put(options, KeyOf(next_), value);
      if (s.IsIncomplete()) {
        return;
      }
      ASSERT_OK(s);
      Note(next_);
      next_ = (next_ + 1) % kKeys;
    }
  }

  // A flush has come, and what it finds is above the bound. Nothing else changes that now.
  bool FlushWaits() {
    const auto from = static_cast<uint64_t>(std::lround(WaitPercent()));  // a whole number
    return latch_->waiting > 0 && latch_->flushes_begun > latch_->flushes_done && Percent() >= from;
  }

  const std::shared_ptr<Latch> latch_ = std::make_shared<Latch>();
  int next_ = 0;
  std::thread flusher_;
};

TEST_F(HeldTest, FlushesWaitForTheJobAndWritersForFlushes) {
  Load();
  Flush();
  Settle();
  const BlobHybridStats before = Stats();
  latch_->Close();
  ASSERT_TRUE(Await([this] {
    WriteWithoutWaiting();
    return HasFailure() || FlushWaits();
  }));
  ASSERT_NO_FATAL_FAILURE(WriteWithoutWaiting());  // memtables are full now
  const int flushed = latch_->flushes_done;
  std::atomic<bool> done{false};
  flusher_ = std::thread([&] {
    EXPECT_OK(db_->Flush(FlushOptions()));
    done = true;
  });
  std::this_thread::sleep_for(20 * kTick);
  EXPECT_FALSE(done);
  EXPECT_EQ(flushed, latch_->flushes_done);
  EXPECT_EQ(before.flush_waits, Stats().flush_waits);  // it is not over
  WriteOptions options;
  options.no_slowdown = true;
  EXPECT_TRUE(db_->Put(options, "key", "value").IsIncomplete());
  ExpectBound("while the job is held");
  latch_->Open();
  flusher_.join();
  EXPECT_TRUE(done);
  EXPECT_GT(Stats().flush_waits, before.flush_waits);
  EXPECT_GT(Stats().flush_wait_micros, before.flush_wait_micros);
  EXPECT_GT(Stats().jobs, before.jobs);
  Flush();
  Finish();
}

// Writers that are faster than the job would be at its rate. Each has keys of its own.
TEST_F(WaitTest, WritersOutrunTheJob) {
  constexpr int kWriters = 3;
  hybrid_.gc_bytes_per_second = 64 << 10;
  Load();
  std::vector<std::vector<int>> versions(kWriters, std::vector<int>(kKeys, -1));
  std::vector<std::thread> writers;
  std::atomic<int> working{kWriters};
  for (int writer = 0; writer < kWriters; writer++) {
    writers.emplace_back([&, writer] {
      Random random(301 + static_cast<uint32_t>(writer));
      for (int n = 0; n < 3 * kKeys; n++) {
        const int i = static_cast<int>(random.Uniform(kKeys / kWriters)) * kWriters + writer;
        EXPECT_OK(db_->Put(WriteOptions(), KeyOf(i), ValueOf(i, kKeys + n, kValue)));
        versions[static_cast<size_t>(writer)][static_cast<size_t>(i)] = kKeys + n;
      }
      working--;
    });
  }
  while (working > 0) {
    ExpectBound("while they write");
    std::this_thread::sleep_for(kTick);
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  for (int i = 0; i < kKeys; i++) {
    const int version = versions[static_cast<size_t>(i % kWriters)][static_cast<size_t>(i)];
    live_[i].version = version < 0 ? live_[i].version : version;
  }
  Flush();
  EXPECT_GT(Stats().flush_waits, 0u);
  Finish();
}

// Between where the job begins to work and where flushes wait for it, and with much to do: garbage
// is in all files, and each SST refers to all of them.
class RateTest : public WaitTest {
 protected:
  RateTest() {
    LeaveToTheJob();
    options_.target_file_size_base = 4 << 10;
    options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 1 << 10;
  }

  void MakeGarbage() {
    OpenWithoutPlugin();
    for (int version = 0; version < 2; version++) {
      for (int i = 0; i < kKeys; i++) {
        const int key = i * 7919 % kKeys;
        if (version == 0 || key % 5 != 0) {
          Write(key);
        }
      }
    }
    Compact();
    // The job has to get from here to 0.82 of the way to the bound.
    const double amplification = static_cast<double>(Percent()) / 100;
    hybrid_.max_space_amplification = 1 + (amplification - 1) / 0.84;
    Close();
  }

  // Wakes the job.
  void Begin() {
    Open();
    Write(0);
    Flush();
    ASSERT_EQ(0u, Stats().flush_waits);
  }

  bool IsDone() {
    return static_cast<double>(Percent()) <=
           SoftBound(hybrid_.max_space_amplification, false) * 100;
  }
};

TEST_F(RateTest, JobKeepsToItsRate) {
  constexpr uint64_t kRate = 8 << 10;
  hybrid_.gc_bytes_per_second = kRate;
  MakeGarbage();
  const auto begin = Clock::now();
  Begin();
  uint64_t written = 0;
  uint64_t largest = 0;  // of the jobs, or of some together
  ASSERT_TRUE(Await([&] {
    const uint64_t now = Stats().job_bytes;
    largest = std::max(largest, now - written);
    written = now;
    EXPECT_LE(static_cast<double>(Percent()), WaitPercent());  // or it would work as fast as it can
    return Clock::now() - begin > std::chrono::seconds(2) && Stats().jobs > 1;
  }));
  const uint64_t bytes = Stats().job_bytes;
  largest = std::max(largest, bytes - written);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  printf("%d bytes in %.3f s, by a job at most %d\n", static_cast<int>(bytes), seconds,
         static_cast<int>(largest));
  EXPECT_LE(static_cast<double>(bytes),
            static_cast<double>(kRate) * seconds + static_cast<double>(largest));
  Finish();
  EXPECT_TRUE(IsDone());
}

TEST_F(RateTest, JobWithoutALimit) {
  hybrid_.gc_bytes_per_second = 0;
  MakeGarbage();
  Begin();
  EXPECT_TRUE(Await([this] { return IsDone(); }));
  Finish();
}

// Nothing is written after a snapshot is gone; still the space comes back.
class PinnedTest : public WaitTest {
 protected:
  // To so much for each live byte.
  void ExpectSpaceComesBack(double most) {
    EXPECT_GT(ShareOf(DiskBytes()), hybrid_.max_space_amplification);
    EXPECT_GT(ShareOf(DiskBytes()), most);
    db_->ReleaseSnapshot(snapshot_);
    EXPECT_TRUE(Await([&] { return ShareOf(DiskBytes()) <= most; })) << Stats().ToString();
    EXPECT_EQ(0u, Stats().job_errors);
    ExpectAnswers();
  }

  const Snapshot* snapshot_ = nullptr;
};

// RocksDB compacts the last level when the snapshot is gone, and the job sees to the blob files.
TEST_F(PinnedTest, VersionsInTheLastLevel) {
  Load();
  Flush();
  Settle();
  snapshot_ = db_->GetSnapshot();
  for (int i = 0; i < kKeys; i++) {
    Write(i);
  }
  Flush();
  Settle();
  ExpectSpaceComesBack(hybrid_.max_space_amplification);
}

// Enough keys for an estimate by the sketches, which sees that the versions are hidden.
TEST_F(PinnedTest, ManyVersionsInTheLastLevel) {
  constexpr int kMany = 20000;
  constexpr size_t kBytes = 300;
  for (const bool pinned : {false, true}) {
    if (!pinned) {
      Open();
    } else {
      snapshot_ = db_->GetSnapshot();
    }
    for (int i = 0; i < kMany; i++) {
      Put(i, pinned ? 1 : 0, kBytes);
    }
    Flush();
    Settle();
  }
  const uint64_t missed = Stats().bound_missed;
  Put(0, 2, kBytes);
  Flush();
  EXPECT_GT(Percent(), static_cast<uint64_t>(hybrid_.max_space_amplification * 100));
  EXPECT_GT(Stats().bound_missed, missed) << "the job is at rest, above the bound";
  db_->ReleaseSnapshot(snapshot_);
}

// Blob files with garbage stay because of versions that are not moved: the bound is missed, and the
// job tries again and again. It is alone.
class StayingTest : public PinnedTest {
 protected:
  void Pin() {
    options_.level0_file_num_compaction_trigger = 1;
    options_.max_bytes_for_level_base = 8 << 20;  // level 0 goes to the last level at once
    hybrid_.max_space_amplification = 1.15;
    OpenWithoutPlugin();
    for (int i = 0; i < kKeys; i++) {
      Write(i);
    }
    for (int i = 0; i < kKeys; i += 2) {
      Write(i);
    }
    Compact();
    Close();
    Open();
    snapshot_ = db_->GetSnapshot();
    // One flush, before the job comes: it would move what is about to be overwritten.
    ASSERT_OK(db_->SetOptions({{"write_buffer_size", "16M"}}));
    db_->DisableManualCompaction();
    for (int i = 0; i < kKeys; i++) {
      Write(i);
    }
    Flush();
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    ASSERT_OK(db_->SetOptions({{"level0_file_num_compaction_trigger", "1000000"},
                               {"level0_slowdown_writes_trigger", "1000000"},
                               {"level0_stop_writes_trigger", "1000000"}}));
    EXPECT_EQ(0u, Stats().moved_values);
    db_->EnableManualCompaction();
    const uint64_t missed = Stats().bound_missed;
    Write(0);
    Flush();
    EXPECT_EQ(missed + 1, Stats().bound_missed);
    Settle();
  }
};

TEST_F(StayingTest, SpaceComesBackWithTheSnapshot) {
  ASSERT_NO_FATAL_FAILURE(Pin());
  // Nearly all: there are too few keys for the sketches to tell of the last versions that are left
  // in the last level.
  ExpectSpaceComesBack(1.4);
}

#ifndef NDEBUG
// A try takes longer than the pause after it, which counts from its end.
TEST_F(StayingTest, JobPausesBetweenTries) {
  constexpr auto kSlow = std::chrono::milliseconds(2500);
  constexpr double kPause = 1.5;  // seconds, and some more in fact
  constexpr size_t kTries = 3;
  ASSERT_NO_FATAL_FAILURE(Pin());
  std::mutex mutex;
  std::vector<double> pauses;
  Clock::time_point end;
  bool compacted = false;
  std::atomic<bool> begins{true};
  auto* points = SyncPoint::GetInstance();
  points->SetCallBack("CompactFilesImpl:2", [&](void*) {
    if (begins.exchange(false)) {
      std::this_thread::sleep_for(kSlow);
    }
  });
  points->SetCallBack("CompactFilesImpl:End", [&](void*) {
    std::lock_guard<std::mutex> lock(mutex);
    end = Clock::now();
    compacted = true;
  });
  points->SetCallBack("GcJob::Stay:Try", [&](void*) {
    std::lock_guard<std::mutex> lock(mutex);
    if (compacted) {
      pauses.push_back(std::chrono::duration<double>(Clock::now() - end).count());
    }
    compacted = false;
    begins = true;
  });
  points->EnableProcessing();
  EXPECT_TRUE(Await([&] {
    std::lock_guard<std::mutex> lock(mutex);
    return pauses.size() >= kTries;
  }));
  for (const char* point : {"CompactFilesImpl:2", "CompactFilesImpl:End", "GcJob::Stay:Try"}) {
    points->ClearCallBack(point);
  }
  std::lock_guard<std::mutex> lock(mutex);
  for (const double pause : pauses) {
    EXPECT_GT(pause, kPause);
  }
  db_->ReleaseSnapshot(snapshot_);
}
#endif

#ifndef NDEBUG
// Compactions of the job fail: writers go on, and it is counted. Later they do not.
TEST_F(WaitTest, JobsFailForATime) {
  LeaveToTheJob();
  options_.paranoid_checks = false;  // or RocksDB would take no more writes
  Load();
  Flush();
  Settle();
  EXPECT_EQ(0u, Stats().bound_missed);
  auto* points = SyncPoint::GetInstance();
  const std::string point = "CompactionJob::FinishCompactionOutputFile()::AfterFinish";
  points->SetCallBack(
      point, [](void* status) { *static_cast<Status*>(status) = Status::IOError("test"); });
  for (int i = 0; i < 2 * kKeys; i++) {
    Write(Uniform());
  }
  Flush();
  points->ClearCallBack(point);
  EXPECT_GT(Stats().job_errors, 0u);
  EXPECT_GT(Stats().bound_missed, 0u);
  EXPECT_GT(ShareOf(DiskBytes()), hybrid_.max_space_amplification);
  ExpectAnswers();
  Settle();  // a job may have failed just now
  const BlobHybridStats failed = Stats();
  Write(0);
  Flush();
  Settle();
  ExpectBound("when jobs do not fail");
  EXPECT_GT(Stats().jobs, 0u);
  EXPECT_EQ(failed.job_errors, Stats().job_errors);
  EXPECT_EQ(failed.bound_missed, Stats().bound_missed);
  ExpectAnswers();
}
#endif

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
