// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// SSTs that cannot be read, and other errors of the job's compactions and of RocksDB's own: what
// goes on, and what does not. ROCKTIER_SEED: another seed.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdarg>
#include <fstream>

#include "db/db_impl/db_impl.h"
#include "file/filename.h"
#include "plugin/blob_hybrid/backoff.h"
#include "plugin/blob_hybrid/family.h"
#include "plugin/blob_hybrid/gc_compaction.h"
#include "plugin/blob_hybrid/gc_monitor.h"
#include "plugin/blob_hybrid/survey.h"
#include "rocksdb/table.h"
#include "test/blob_hybrid/faulty_fs.h"
#include "test/blob_hybrid/space.h"
#include "test/support/wait.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

using rocktier::WaitFor;

constexpr uint64_t kSecond = 1000 * 1000;

TEST(BackoffTest, PausesDoubleUpToAnHour) {
  Backoff backoff;
  EXPECT_EQ(Backoff::kNever, backoff.next());
  uint64_t now = 5;
  uint64_t expected = kSecond;
  for (int i = 0; i < 20; i++) {
    EXPECT_EQ(expected, backoff.Fail(7, now));
    EXPECT_EQ(now + expected, backoff.next());
    EXPECT_EQ(std::set<uint64_t>{7}, backoff.Resting(now + expected - 1));
    now += expected;
    EXPECT_EQ(std::set<uint64_t>{7}, backoff.Due(now));
    EXPECT_TRUE(backoff.Resting(now).empty());
    expected = std::min(2 * expected, 3600 * kSecond);
  }
  EXPECT_EQ(kSecond, backoff.Fail(8, now)) << "each has its own pause";
  backoff.Keep({8, 9});
  EXPECT_EQ(std::set<uint64_t>{8}, backoff.Resting(now));
  backoff.Forget(8);
  EXPECT_TRUE(backoff.empty());
}

TEST(BlameTest, SstsThatTheErrorNames) {
  Plan plan;
  plan.inputs.resize(2);
  plan.inputs[0].number = 11;
  plan.inputs[1].number = 12;
  CompactionJobInfo info;
  for (const uint64_t number : {11, 12, 13}) {
    info.input_file_infos.push_back({1, number, 0});
  }
  EXPECT_EQ((std::set<uint64_t>{12}),
            BlamedFor(Status::Corruption("block", "in /db/000012.sst offset 0"), plan, info));
  EXPECT_EQ((std::set<uint64_t>{11, 12, 13}),
            BlamedFor(Status::IOError("/db/000013.sst: EIO"), plan, info))
      << "which overlaps with what was planned";
  EXPECT_EQ((std::set<uint64_t>{11, 12, 13}),
            BlamedFor(Status::Corruption("out of order"), plan, info));
  EXPECT_EQ((std::set<uint64_t>{11, 12, 13}),
            BlamedFor(Status::IOError("/db/000112.sst: EIO"), plan, info));
}

class CountingLogger : public Logger {
 public:
  explicit CountingLogger(const char* text) : text_(text) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1024];
    vsnprintf(line, sizeof(line), format, arguments);
    lines += std::string(line).find(text_) != std::string::npos ? 1 : 0;
  }

  std::atomic<int> lines{0};

 private:
  const std::string text_;
};

class FaultsTest : public SpaceTest {
 protected:
  FaultsTest() {
    options_.env = env_.get();
    hybrid_.max_space_amplification = 1.3;
    hybrid_.gc_bytes_per_second = 0;
  }
  ~FaultsTest() override { Close(); }

  // Garbage in all blob files, far above the bound, and some 13 SSTs in the last level, of which
  // each refers to a few of them. Closes it.
  void MakeGarbage() {
    options_.compression = kNoCompression;
    options_.target_file_size_base = 4 << 10;
    options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 1 << 10;
    options_.disable_auto_compactions = true;
    const BlobHybridOptions wanted = hybrid_;
    hybrid_.max_space_amplification = 0;  // no job
    hybrid_.gc_garbage_ratio = 1;
    Open();
    for (int i = 0; i < kKeys; i++) {
      Write(i);
    }
    for (int i = 0; i < kKeys; i++) {
      if (i % 5 != 0) {
        Write(i);
      }
    }
    Flush();
    Compact();
    EXPECT_EQ(0u, Stats().moved_values);
    Close();
    hybrid_ = wanted;
    LeaveToTheJob();
  }

  std::vector<SstFileMetaData> Ssts() {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    return meta.levels.back().files;
  }

  // The first data block of every so many SSTs of the last level, but the first ones.
  void Damage(size_t step) {
    OpenWithoutPlugin();
    const std::vector<SstFileMetaData> ssts = Ssts();
    Close();
    for (size_t i = 4; i < ssts.size(); i += step) {
      bad_keys_.push_back(ssts[i].smallestkey);
      std::fstream stream(ssts[i].directory + "/" + ssts[i].relative_filename,
                          std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(100);
      stream.write("damaged", 7);
      ASSERT_TRUE(stream.good());
    }
    ASSERT_GE(bad_keys_.size(), 2u);
    ASSERT_LT(bad_keys_.size(), 20u);
  }

  // The path of one of the last SSTs.
  std::string OneThatIsNotOpen() {
    Survey survey;
    EXPECT_OK(
        Surveyor(Surveyor::Reading::kWhole)
            .Take(static_cast<DBImpl*>(db_.get()), DataOf(db_->DefaultColumnFamily()), &survey));
    return fs_->last_opened();
  }

  // Of keys of the first SSTs.
  void ExpectWritesGoOn() {
    for (int i = 0; i < kKeys / 10; i++) {
      Write(i);
    }
    Flush();
  }

  const std::shared_ptr<FaultyFs> fs_ = std::make_shared<FaultyFs>();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  std::vector<std::string> bad_keys_;
};

// A cold one, which nobody but the job comes across.
TEST_F(FaultsTest, BadBlockStopsTheJobNowhereElse) {
  ASSERT_NO_FATAL_FAILURE(MakeGarbage());
  ASSERT_NO_FATAL_FAILURE(Damage(8));
  ASSERT_TRUE(options_.paranoid_checks);
  for (int opening = 0; opening < 2; opening++) {
    Open();
    ASSERT_NO_FATAL_FAILURE(ExpectWritesGoOn());
    Settle();
    ASSERT_NO_FATAL_FAILURE(ExpectWritesGoOn());
    const BlobHybridStats stats = Stats();
    EXPECT_GT(stats.jobs, 0u) << "what is well is compacted";
    if (opening == 0) {
      EXPECT_GT(stats.job_errors, 0u);
    }
    ExpectBound("but for what the bad SST refers to");
    for (const std::string& key : bad_keys_) {
      EXPECT_NE(std::string::npos, Get(key).find("Corruption")) << Get(key);
    }
    Close();
  }
}

// Each flush has the job look again.
TEST_F(FaultsTest, BadSstIsLeftAlone) {
  constexpr int kFlushes = 300;
  ASSERT_NO_FATAL_FAILURE(MakeGarbage());
  ASSERT_NO_FATAL_FAILURE(Damage(4));
  hybrid_.max_space_amplification = 1.1;  // what these refer to is always too much
  options_.paranoid_checks = false;       // where RocksDB itself lets it try on and on
  Open();
  ASSERT_NO_FATAL_FAILURE(ExpectWritesGoOn());
  Settle();
  const uint64_t begin = SteadyMicros();
  const uint64_t errors = Stats().job_errors;
  EXPECT_GT(errors, 0u);
  for (int i = 0; i < kFlushes; i++) {
    Write(i);
    Flush();
  }
  const double seconds = static_cast<double>(SteadyMicros() - begin) / kSecond;
  const double tries = static_cast<double>(bad_keys_.size()) * (1 + std::log2(1 + seconds));
  EXPECT_LE(static_cast<double>(Stats().job_errors - errors), tries);
  EXPECT_LT(tries, kFlushes / 2) << "the machine is too slow to tell";
}

TEST_F(FaultsTest, ErrorsOfOthersAreNotCleared) {
  ASSERT_NO_FATAL_FAILURE(MakeGarbage());
  ASSERT_NO_FATAL_FAILURE(Damage(8));
  Open();
  ASSERT_NO_FATAL_FAILURE(ExpectWritesGoOn());
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  EXPECT_TRUE(db_->CompactRange(all, nullptr, nullptr).IsCorruption());
  EXPECT_TRUE(db_->Put(WriteOptions(), "key", "value").IsCorruption());
}

// Of a compaction of the job; but it may be what all further changes of the database need.
TEST_F(FaultsTest, ErrorsOfTheManifestAreNotCleared) {
  ASSERT_NO_FATAL_FAILURE(MakeGarbage());
  Open();
  db_->DisableManualCompaction();
  ASSERT_NO_FATAL_FAILURE(ExpectWritesGoOn());
  fs_->FailToWrite("MANIFEST", /*retryable=*/false);
  db_->EnableManualCompaction();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  EXPECT_GT(Stats().job_errors, 0u);
  EXPECT_TRUE(db_->Put(WriteOptions(), "key", "value").IsIOError());
  fs_->FailToWrite("", false);
}

TEST_F(FaultsTest, JobRestsWhileRocksDbHasAnError) {
  const auto logger = std::make_shared<CountingLogger>("a background error holds the job");
  options_.max_bgerror_resume_count = 0;  // nor does it resume by itself
  options_.info_log = logger;
  ASSERT_NO_FATAL_FAILURE(MakeGarbage());
  Open();
  db_->DisableManualCompaction();
  Write(0);
  fs_->FailToWrite(".sst", /*retryable=*/true);
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  fs_->FailToWrite("", false);
  db_->EnableManualCompaction();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  EXPECT_EQ(0u, Stats().jobs);
  EXPECT_EQ(0u, Stats().job_errors);
  EXPECT_EQ(1, logger->lines);
  ASSERT_OK(db_->Resume());
  EXPECT_TRUE(WaitFor([&] { return Stats().jobs > 0; }));
  Write(0);
  Flush();
  Finish(/*may_miss=*/true);
}

TEST_F(FaultsTest, SstWithoutPropertiesDoesNotGiveUpTheBound) {
  const auto logger = std::make_shared<CountingLogger>("reading the properties of SST");
  options_.info_log = logger;
  ASSERT_NO_FATAL_FAILURE(MakeGarbage());
  options_.max_open_files = 20;  // so that RocksDB does not have it open
  Open();
  fs_->FailToOpen(OneThatIsNotOpen());
  ASSERT_NO_FATAL_FAILURE(ExpectWritesGoOn());
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  ExpectBound("but for what that SST refers to");
  EXPECT_GE(logger->lines, 1);
  fs_->FailToOpen("");
  const BlobHybridStats stats = Stats();
  EXPECT_GE(stats.unread_ssts, 1u);
  EXPECT_GT(stats.jobs, 0u);
  ExpectAnswers();
}

// It counts with what RocksDB says of it meanwhile, and takes nothing from the sample of keys.
TEST_F(FaultsTest, SstWithoutPropertiesIsReadAgain) {
  ASSERT_NO_FATAL_FAILURE(MakeGarbage());
  options_.max_open_files = 20;
  OpenWithoutPlugin();
  auto* const db = static_cast<DBImpl*>(db_.get());
  ColumnFamilyData* const data = DataOf(db_->DefaultColumnFamily());
  const auto unread = [](const Survey& survey) {
    return std::count_if(survey.ssts.begin(), survey.ssts.end(),
                         [](const SstInfo& sst) { return sst.unread; });
  };
  Survey expected;
  ASSERT_OK(Surveyor(Surveyor::Reading::kWhole).Take(db, data, &expected));
  ASSERT_EQ(0, unread(expected));
  const std::string bad = fs_->last_opened();
  fs_->FailToOpen(bad);
  Surveyor surveyor(Surveyor::Reading::kPieces);
  Survey survey;
  Totals totals;
  EXPECT_TRUE(WaitFor([&] { return surveyor.Take(db, data, &survey).ok(); }));
  ASSERT_OK(surveyor.Sum(db, data, &totals));
  EXPECT_EQ(1, unread(survey));
  const std::vector<Surveyor::Unread> errors = surveyor.TakeUnread();
  ASSERT_GE(errors.size(), 1u);
  EXPECT_EQ(TableFileNameToNumber(bad), errors.front().sst);
  EXPECT_TRUE(errors.front().why.IsIOError());
  EXPECT_EQ(expected.ssts.size(), totals.sst_files);
  EXPECT_EQ(TotalsOf(expected).sst_bytes, totals.sst_bytes);
  EXPECT_EQ(0u, totals.unsampled);
  EXPECT_GT(totals.sampled.keys, TotalsOf(expected).sampled.keys / 2);
  fs_->FailToOpen("");
  EXPECT_TRUE(WaitFor([&] { return surveyor.Take(db, data, &survey).ok() && unread(survey) == 0; }))
      << "nothing has changed but that it can be read";
  ASSERT_OK(surveyor.Sum(db, data, &totals));
  EXPECT_EQ(TotalsOf(expected).sst_user_bytes, totals.sst_user_bytes);
  EXPECT_EQ(TotalsOf(expected).garbage_bytes, totals.garbage_bytes);
  EXPECT_EQ(TotalsOf(expected).sampled.keys, totals.sampled.keys);
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
