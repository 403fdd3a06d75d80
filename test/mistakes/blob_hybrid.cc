// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What operators do with a database whose values are moved: they hold its compactions, open two of
// one path, lose a disk's sectors. ROCKTIER_SEED: another seed.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "file/file_util.h"
#include "file/filename.h"
#include "plugin/blob_hybrid/space.h"
#include "rocksdb/env.h"
#include "rocksdb/table.h"
#include "test/blob_hybrid/space.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr auto kTick = std::chrono::milliseconds(5);
constexpr int kMostTicks = 24000;

bool Await(const std::function<bool()>& condition) {
  for (int tick = 0; tick < kMostTicks && !condition(); tick++) {
    std::this_thread::sleep_for(kTick);
  }
  return condition();
}

// Somebody wants nothing to be compacted, so that the job does not compact either.
class HeldMistakes : public SpaceTest {
 protected:
  // Much to do for the job: garbage in all files, at the level of the bound.
  void MakeGarbage() {
    options_.target_file_size_base = 4 << 10;
    options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 1 << 10;
    options_.disable_auto_compactions = true;
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
    const double amplification = static_cast<double>(Stats().space_amplification_percent) / 100;
    hybrid_.max_space_amplification = 1 + (amplification - 1) / 0.84;  // flushes do not wait
    Close();
    LeaveToTheJob();
  }
};

TEST_F(HeldMistakes, DisableAutoCompactionsHoldsTheJob) {
  Load();
  Flush();
  Settle();
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "true"}}));
  const uint64_t jobs = Stats().jobs;
  for (int i = 0; i < 2 * kKeys; i++) {
    Write(Uniform());
  }
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));  // which does not wait for it
  EXPECT_EQ(jobs, Stats().jobs);
  EXPECT_GT(Stats().bound_missed, 0u) << "flushes went on, and were counted";
  EXPECT_GT(ShareOf(DiskBytes()), hybrid_.max_space_amplification);
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "false"}}));
  EXPECT_TRUE(Await([&] { return ShareOf(DiskBytes()) <= hybrid_.max_space_amplification; }))
      << Stats().ToString();
  EXPECT_GT(Stats().jobs, jobs);
  ExpectAnswers();
}

TEST_F(HeldMistakes, PauseBackgroundWorkHoldsTheJob) {
  constexpr int kLong = 600;  // ticks: some jobs
  hybrid_.gc_bytes_per_second = 8 << 10;
  MakeGarbage();
  Open();
  Write(0);
  Flush();
  ASSERT_TRUE(Await([&] { return Stats().jobs > 0; })) << Stats().ToString();
  ASSERT_OK(db_->PauseBackgroundWork());
  const uint64_t jobs = Stats().jobs;
  const double soft = SoftBound(hybrid_.max_space_amplification, /*log=*/false);
  ASSERT_GT(static_cast<double>(Stats().space_amplification_percent), soft * 100) << "all is done";
  std::this_thread::sleep_for(kLong * kTick);
  EXPECT_EQ(jobs, Stats().jobs);
  ASSERT_OK(db_->ContinueBackgroundWork());
  EXPECT_TRUE(Await([&] { return Stats().jobs > jobs; }));
  Finish();
}

// Counts lines that have a text.
class CountingLogger : public Logger {
 public:
  explicit CountingLogger(const char* text) : text_(text) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[512];
    vsnprintf(line, sizeof(line), format, arguments);
    lines += std::string(line).find(text_) != std::string::npos ? 1 : 0;
  }

  std::atomic<int> lines{0};

 private:
  const std::string text_;
};

class SectorMistakes : public HybridDb {
 protected:
  SectorMistakes() {
    hybrid_.gc_garbage_ratio = 0.1;
    options_.info_log = logger_;
  }

  // One byte of so many.
  void Damage(const std::string& file, size_t step) {
    std::string bytes;
    ASSERT_OK(ReadFileToString(Env::Default(), file, &bytes));
    for (size_t at = step; at < bytes.size(); at += step) {
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
    }
    ASSERT_OK(WriteStringToFile(Env::Default(), bytes, file));
  }

  const std::shared_ptr<CountingLogger> logger_ =
      std::make_shared<CountingLogger>("reading a value from blob file");
};

TEST_F(SectorMistakes, LogHasFewLinesOfManyBadValues) {
  constexpr int kValues = 500;
  constexpr int kRounds = 6;
  Open();
  Fill(0, kValues, 0);
  Flush();
  ASSERT_EQ(1u, BlobFiles().size());
  const uint64_t bad = *BlobFiles().begin();
  Fill(0, kValues, 1, 2);
  Flush();
  Close();
  Damage(BlobFileName(path_, bad), 500);
  Open();
  for (int round = 0; round < kRounds; round++) {
    Compact();
  }
  EXPECT_GE(Stats().read_errors, static_cast<uint64_t>(kValues / 2 * (kRounds - 1)));
  EXPECT_GE(logger_->lines, 1);
  EXPECT_LE(logger_->lines, 4);
  EXPECT_EQ(1u, BlobFiles().count(bad)) << "what cannot be read is kept";
  for (int i = 0; i < kValues; i++) {
    if (i % 2 == 0) {
      ASSERT_EQ(ValueOf(i, 1), Get(i));
    } else {
      ASSERT_NE(std::string::npos, Get(i).find("Corruption")) << i;
    }
  }
}

// Of one path in two file systems; the second one begins as a copy of the first one, with the same
// SSTs.
class TwinMistakes : public SpaceTest {
 protected:
  ~TwinMistakes() override { twin_.reset(); }

  void CopyToMemory() {
    std::vector<std::string> names;
    ASSERT_OK(memory_->CreateDirIfMissing(root_));
    ASSERT_OK(memory_->CreateDirIfMissing(path_));
    ASSERT_OK(Env::Default()->GetChildren(path_, &names));
    names.erase(std::remove(names.begin(), names.end(), "LOCK"), names.end());
    for (const std::string& name : names) {
      std::string bytes;
      ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/" + name, &bytes));
      ASSERT_OK(WriteStringToFile(memory_.get(), bytes, path_ + "/" + name));
    }
  }

  void OpenTwin() {
    Options options = options_;
    ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
    options.env = memory_.get();
    ASSERT_OK(OpenDb(options, path_, &twin_));
  }

  void OverwriteTwin(int versions) {
    for (int version = 0; version < versions; version++) {
      for (int i = 0; i < kKeys; i++) {
        const int key = i * 7919 % kKeys;
        ASSERT_OK(twin_->Put(WriteOptions(), KeyOf(key), ValueOf(key, version + 100000, 500)));
      }
    }
    ASSERT_OK(twin_->Flush(FlushOptions()));
    ASSERT_OK(twin_->WaitForCompact(WaitForCompactOptions()));
    ASSERT_OK(SettleBlobHybrid(twin_.get()));
  }

  const std::unique_ptr<Env> memory_{NewMemEnv(Env::Default())};
  std::unique_ptr<DB> twin_;
};

TEST_F(TwinMistakes, DatabasesOfOnePathAreToldApart) {
  constexpr int kVersions = 4;
  Load();
  Flush();
  Settle();
  Close();
  ASSERT_NO_FATAL_FAILURE(CopyToMemory());
  Open();
  ASSERT_NO_FATAL_FAILURE(OpenTwin());
  std::thread other([&] { OverwriteTwin(kVersions); });
  for (int i = 0; i < kVersions * kKeys; i++) {
    Write(Uniform());
  }
  other.join();
  Flush();
  Finish();
  EXPECT_GT(Stats().moved_values, 0u);
  BlobHybridStats stats;
  ASSERT_OK(GetBlobHybridStats(twin_.get(), twin_->DefaultColumnFamily(), &stats));
  EXPECT_GT(stats.moved_values, 0u);
  EXPECT_EQ(0u, stats.read_errors);
  EXPECT_LE(stats.space_amplification_percent, 158u) << stats.ToString();
  for (int i = 0; i < kKeys; i++) {
    std::string value;
    ASSERT_OK(twin_->Get(ReadOptions(), KeyOf(i), &value));
    ASSERT_EQ(ValueOf(i, kVersions - 1 + 100000, 500), value);
  }
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
