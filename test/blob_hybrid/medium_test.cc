// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Medium values: to blob files at a flush, into SSTs at the merge level, and the same answers at
// any time.

#include <atomic>
#include <fstream>
#include <map>

#include "db/blob/blob_index.h"
#include "file/filename.h"
#include "plugin/blob_hybrid/properties.h"
#include "plugin/blob_hybrid/subcompaction.h"
#include "rocksdb/experimental.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/blob_hybrid/support.h"
#include "test_util/sync_point.h"
#include "utilities/merge_operators.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 200;
constexpr size_t kSmall = 50;
constexpr size_t kMedium = 300;
constexpr size_t kLarge = 1000;
// Of a medium value in a blob file: with header and key.
constexpr size_t kRecord = kMedium + 32 + 11;

class MediumTest : public HybridDb {
 protected:
  MediumTest() {
    options_.min_blob_size = 500;
    options_.level_compaction_dynamic_level_bytes = false;
    hybrid_.medium_value_size = 100;
    hybrid_.transient_log_budget = 0;
  }

  void FillSized(int from, int to, int version, size_t bytes, int step = 1) {
    for (int i = from; i < to; i += step) {
      Put(i, version, bytes);
    }
  }

  void ExpectSized(int from, int to, int version, size_t bytes, int step = 1) {
    for (int i = from; i < to; i += step) {
      ASSERT_EQ(ValueOf(i, version, bytes), Get(i)) << i;
    }
  }

  // Half of the keys have values of each size: large ones in blob files, all others in SSTs.
  void ExpectClasses(std::initializer_list<size_t> sizes) {
    uint64_t large = 0;
    uint64_t in_place = 0;
    for (const size_t size : sizes) {
      (size == kLarge ? large : in_place) += kKeys / 2 * (size == kLarge ? size + 32 + 11 : size);
    }
    const BlobHybridStats stats = Stats();
    EXPECT_EQ(large, stats.large_live_bytes);
    EXPECT_EQ(0u, stats.medium_bytes);
    EXPECT_EQ(large == 0, BlobFiles().empty());
    EXPECT_GE(stats.small_bytes, in_place);
    EXPECT_LT(stats.small_bytes,
              in_place + kKeys * 60 + 4096);  // with keys, references, properties
  }

  // All files of a level to another one.
  void CompactLevel(int from, int to) {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    std::vector<std::string> names;
    for (const SstFileMetaData& file : meta.levels[static_cast<size_t>(from)].files) {
      names.push_back(file.name);
    }
    ASSERT_FALSE(names.empty());
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), names, to));
  }

  // As the SSTs' properties say.
  uint64_t References() {
    TablePropertiesCollection all;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&all));
    uint64_t references = 0;
    for (const auto& [name, properties] : all) {
      const auto it = properties->user_collected_properties.find(kMediumValuesProperty);
      if (it == properties->user_collected_properties.end()) {
        ADD_FAILURE() << name << " does not say";
        continue;
      }
      references += std::stoull(it->second);
    }
    return references;
  }
};

TEST_F(MediumTest, FlushWritesThemToBlobFiles) {
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  EXPECT_EQ(1u, BlobFiles().size());
  EXPECT_EQ(static_cast<uint64_t>(kKeys), References());
  EXPECT_EQ(kKeys * kRecord, Stats().medium_bytes);
  EXPECT_EQ(0u, Stats().large_bytes);
  EXPECT_EQ(0u, Stats().not_separated);
  ExpectSized(0, kKeys, 0, kMedium);
}

TEST_F(MediumTest, CompactionsToTheLastLevelPutThemIntoSsts) {
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  Compact();
  EXPECT_TRUE(BlobFiles().empty());
  EXPECT_EQ(0u, References());
  const BlobHybridStats stats = Stats();
  EXPECT_EQ(static_cast<uint64_t>(kKeys), stats.merged_values);
  EXPECT_EQ(kKeys * kMedium, stats.merged_bytes);
  EXPECT_EQ(0u, stats.moved_values);
  EXPECT_EQ(0u, stats.medium_bytes);
  ExpectSized(0, kKeys, 0, kMedium);
  Close();
  OpenWithoutPlugin();
  ExpectSized(0, kKeys, 0, kMedium);
}

TEST_F(MediumTest, TheyStayInSstsThen) {
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  Compact();
  FillSized(0, kKeys, 1, kMedium, 2);
  Flush();
  Compact();
  Compact();
  EXPECT_TRUE(BlobFiles().empty());
  EXPECT_EQ(kKeys + kKeys / 2u, Stats().merged_values);
  ExpectSized(0, kKeys, 1, kMedium, 2);
  ExpectSized(1, kKeys, 0, kMedium, 2);
}

// Without a change of what RocksDB and its users see as the family's option.
TEST_F(MediumTest, MinBlobSizeIsThatOfLargeValues) {
  Open();
  for (int round = 0; round < 3; round++) {
    FillSized(0, kKeys, round, kMedium);
    Flush();
    EXPECT_EQ(500u, db_->GetOptions().min_blob_size);
    Compact();
    EXPECT_TRUE(BlobFiles().empty());
  }
}

TEST_F(MediumTest, EachSizeHasItsClass) {
  Open();
  FillSized(0, kKeys, 0, kSmall, 4);
  FillSized(1, kKeys, 0, kMedium, 4);
  FillSized(2, kKeys, 0, kLarge, 4);
  // The sizes where classes begin.
  Put(3, 0, 99);
  Put(7, 0, 100);
  Put(11, 0, 499);
  Put(15, 0, 500);
  Flush();
  EXPECT_EQ(kKeys / 4 + 2u, References());
  Compact();
  EXPECT_EQ(0u, References());
  EXPECT_EQ(1u, BlobFiles().size());
  const BlobHybridStats stats = Stats();
  EXPECT_EQ(kKeys / 4 + 2u, stats.merged_values);
  EXPECT_EQ(kKeys / 4 * (kLarge + 32 + 11) + 500 + 32 + 11, stats.large_live_bytes);
  EXPECT_EQ(kKeys / 4 * kRecord + 100 + 499 + 2 * (32 + 11), stats.large_garbage_bytes);
  ExpectSized(0, kKeys, 0, kSmall, 4);
  ExpectSized(1, kKeys, 0, kMedium, 4);
  ExpectSized(2, kKeys, 0, kLarge, 4);
  EXPECT_EQ(ValueOf(3, 0, 99), Get(3));
  EXPECT_EQ(ValueOf(7, 0, 100), Get(7));
  EXPECT_EQ(ValueOf(11, 0, 499), Get(11));
  EXPECT_EQ(ValueOf(15, 0, 500), Get(15));
}

TEST_F(MediumTest, ClassesChangeWithUpdates) {
  const size_t sizes[] = {kSmall, kMedium, kLarge};
  options_.compression = kNoCompression;
  Open();
  int version = 0;
  for (const size_t from : sizes) {
    for (const size_t to : sizes) {
      FillSized(0, kKeys, version, from);
      Flush();
      Compact();
      FillSized(0, kKeys, version + 1, to, 2);
      Flush();
      EXPECT_EQ(to == kMedium ? kKeys / 2u : 0u, References());
      ExpectSized(0, kKeys, version + 1, to, 2);
      Compact();
      Compact();
      EXPECT_EQ(0u, References());
      ExpectSized(0, kKeys, version + 1, to, 2);
      ExpectSized(1, kKeys, version, from, 2);
      ExpectClasses({from, to});
      version += 2;
    }
  }
  EXPECT_EQ(0u, Stats().not_separated);
}

// Back again what was left in the log is merged.
TEST_F(MediumTest, TurnedOffOverALog) {
  hybrid_.gc_garbage_ratio = 0.3;
  Open();
  Put(2 * kKeys, 0, kSmall);
  Flush();
  CompactLevel(0, 3);
  for (const int from : {0, kKeys}) {  // a blob file each
    FillSized(from, from + kKeys, 0, kMedium);
    Flush();
  }
  CompactLevel(0, 1);
  EXPECT_EQ(2u * kKeys, References());
  const auto log = BlobFiles();
  ASSERT_EQ(2u, log.size());
  Close();

  hybrid_.medium_value_size = 0;
  Open();
  ExpectSized(0, 2 * kKeys, 0, kMedium);
  FillSized(0, kKeys, 1, kMedium, 2);
  Flush();
  EXPECT_EQ(log, BlobFiles());  // nothing is added
  Compact();
  Compact();
  EXPECT_EQ(std::set<uint64_t>{*log.rbegin()}, BlobFiles());
  EXPECT_EQ(kKeys / 2u, Stats().moved_values);  // out of the one with garbage
  ExpectSized(0, kKeys, 1, kMedium, 2);
  ExpectSized(1, kKeys, 0, kMedium, 2);
  ExpectSized(kKeys, 2 * kKeys, 0, kMedium);
  Close();

  hybrid_.medium_value_size = 100;
  Open();
  FillSized(0, kKeys, 2, kMedium, 4);
  Flush();
  Compact();
  EXPECT_EQ(0u, References());
  EXPECT_TRUE(BlobFiles().empty());
  EXPECT_EQ(kKeys + kKeys / 4u, Stats().merged_values);
  ExpectSized(0, kKeys, 2, kMedium, 4);
  ExpectSized(2, kKeys, 1, kMedium, 4);
  ExpectSized(1, kKeys, 0, kMedium, 2);
  ExpectSized(kKeys, 2 * kKeys, 0, kMedium);
}

class LevelTest : public MediumTest, public testing::WithParamInterface<MergeLevel> {
 protected:
  LevelTest() { hybrid_.merge_level = GetParam(); }
};

// Levels 1 and 2 lie between a flush and the last level, which is 3.
TEST_P(LevelTest, MergesThereAndNotAbove) {
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  CompactLevel(0, 3);
  EXPECT_EQ(0u, References());
  FillSized(0, kKeys, 1, kMedium, 2);
  Flush();
  CompactLevel(0, 1);
  EXPECT_EQ(kKeys / 2u, References());
  ExpectSized(0, kKeys, 1, kMedium, 2);
  CompactLevel(1, 2);
  EXPECT_EQ(GetParam() == MergeLevel::kLast ? kKeys / 2u : 0u, References());
  ExpectSized(0, kKeys, 1, kMedium, 2);
  CompactLevel(2, 3);
  EXPECT_EQ(0u, References());
  EXPECT_TRUE(BlobFiles().empty());
  EXPECT_EQ(kKeys + kKeys / 2u, Stats().merged_values);
  ExpectSized(0, kKeys, 1, kMedium, 2);
  ExpectSized(1, kKeys, 0, kMedium, 2);
}

INSTANTIATE_TEST_CASE_P(Levels, LevelTest,
                        testing::Values(MergeLevel::kLast, MergeLevel::kLastButOne));

// A value that the merge level has in an SST goes on in it, whatever comes from above.
TEST_F(MediumTest, MergeOperandsAndDeletions) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  Compact();
  for (int i = 0; i < kKeys; i += 4) {
    ASSERT_OK(db_->Merge(WriteOptions(), KeyOf(i), std::string(i % 8 == 0 ? 10 : 600, 'm')));
    ASSERT_OK(db_->Delete(WriteOptions(), KeyOf(i + 1)));
    ASSERT_OK(db_->SingleDelete(WriteOptions(), KeyOf(i + 2)));
  }
  ASSERT_OK(db_->DeleteRange(WriteOptions(), KeyOf(100), KeyOf(120)));
  const auto check = [&] {
    for (int i = 0; i < kKeys; i++) {
      const std::string merged =
          ValueOf(i, 0, kMedium) + "," + std::string(i % 8 == 0 ? 10 : 600, 'm');
      EXPECT_EQ(i >= 100 && i < 120 ? "none"
                : i % 4 == 0        ? merged
                : i % 4 == 3        ? ValueOf(i, 0, kMedium)
                                    : "none",
                Get(i))
          << i;
    }
  };
  check();
  Flush();
  check();
  Compact();
  check();
  Compact();
  check();
  EXPECT_EQ(0u, References());
  EXPECT_EQ(1u, BlobFiles().size());  // merged to large values
}

// Operands over a value that is still in the log.
TEST_F(MediumTest, MergeOperandsOverTheLog) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open();
  Put(1000, 0, kSmall);
  Flush();
  CompactLevel(0, 3);
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  for (int i = 0; i < kKeys; i += 2) {
    ASSERT_OK(db_->Merge(WriteOptions(), KeyOf(i), "m"));
  }
  Flush();
  CompactLevel(0, 1);
  EXPECT_EQ(kKeys / 2u, References());  // those that were merged are in the SST
  for (int i = 0; i < kKeys; i++) {
    EXPECT_EQ(ValueOf(i, 0, kMedium) + (i % 2 == 0 ? ",m" : ""), Get(i)) << i;
  }
  Compact();
  EXPECT_EQ(0u, References());
  EXPECT_TRUE(BlobFiles().empty());
  for (int i = 0; i < kKeys; i++) {
    EXPECT_EQ(ValueOf(i, 0, kMedium) + (i % 2 == 0 ? ",m" : ""), Get(i)) << i;
  }
}

// Only the newest version is merged; what a snapshot alone sees stays in the blob file, and goes
// with it.
TEST_F(MediumTest, SnapshotsSeeWhatTheySaw) {
  Open();
  FillSized(0, kKeys, 0, kMedium);
  const Snapshot* snapshot = db_->GetSnapshot();
  FillSized(0, kKeys, 1, kMedium, 2);
  Flush();
  Compact();
  EXPECT_EQ(kKeys / 2u, References());
  ReadOptions at;
  at.snapshot = snapshot;
  for (int i = 0; i < kKeys; i++) {
    EXPECT_EQ(ValueOf(i, 0, kMedium), Get(KeyOf(i), at)) << i;
    EXPECT_EQ(ValueOf(i, i % 2 == 0 ? 1 : 0, kMedium), Get(i)) << i;
  }
  db_->ReleaseSnapshot(snapshot);
  Compact();
  EXPECT_EQ(0u, References());
  EXPECT_TRUE(BlobFiles().empty());
  ExpectSized(0, kKeys, 1, kMedium, 2);
  ExpectSized(1, kKeys, 0, kMedium, 2);
}

TEST_F(MediumTest, Subcompactions) {
  options_.max_subcompactions = 4;
  options_.target_file_size_base = 8 << 10;
  options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 512;
  const auto counter = std::make_shared<SubcompactionCounter>();
  options_.listeners.push_back(counter);
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  Compact();
  FillSized(0, kKeys, 1, kMedium, 2);
  FillSized(1, kKeys, 1, kLarge, 2);
  Flush();
  Compact();
  EXPECT_GT(counter->most(), 1);
  EXPECT_EQ(0u, References());
  EXPECT_EQ(kKeys + kKeys / 2u, Stats().merged_values);
  ExpectSized(0, kKeys, 1, kMedium, 2);
  ExpectSized(1, kKeys, 1, kLarge, 2);
}

TEST_F(MediumTest, ParallelCompressionAndParanoidChecks) {
  options_.paranoid_file_checks = true;
  options_.compression = kLZ4Compression;
  options_.compression_opts.parallel_threads = 4;
  options_.target_file_size_base = 8 << 10;
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  for (int version = 0; version < 3; version++) {
    FillSized(0, kKeys, version, kMedium);
    Flush();
    Compact();
    EXPECT_EQ(0u, References());
    ExpectSized(0, kKeys, version, kMedium);
  }
  ASSERT_OK(db_->VerifyChecksum());
  ASSERT_OK(db_->VerifyFileChecksums(ReadOptions()));
}

TEST_F(MediumTest, CompressedBlobs) {
  options_.blob_compression_type = kLZ4Compression;
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  Compact();
  EXPECT_TRUE(BlobFiles().empty());
  EXPECT_EQ(kKeys * kMedium, Stats().merged_bytes);
  ExpectSized(0, kKeys, 0, kMedium);
}

// What a large value is compressed to may be of medium size: it stays in its blob file.
TEST_F(MediumTest, LargeValuesThatCompressWellStayLarge) {
  options_.blob_compression_type = kLZ4Compression;
  Open();
  const auto value = [](int i) { return KeyOf(i) + std::string(2000, 'x'); };
  for (int i = 0; i < kKeys; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), KeyOf(i), value(i)));
  }
  Flush();
  const auto files = BlobFiles();
  EXPECT_EQ(1u, files.size());
  Compact();
  EXPECT_EQ(files, BlobFiles());
  EXPECT_EQ(0u, Stats().merged_values);
  EXPECT_EQ(0u, Stats().moved_values);
  EXPECT_EQ(0u, Stats().medium_bytes) << "no merge gets rid of them, so they are no log";
  EXPECT_GT(Stats().large_bytes, 0u);
  for (int i = 0; i < kKeys; i++) {
    EXPECT_EQ(value(i), Get(i));
  }
}

// There is nothing in the place of a value at any time that a user's value could be mistaken for.
TEST_F(MediumTest, ValuesThatLookLikeReferences) {
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  const uint64_t file = *BlobFiles().begin();
  std::map<std::string, std::string> values;
  for (const CompressionType compression : {kNoCompression, kLZ4Compression}) {
    std::string index;
    BlobIndex::EncodeBlob(&index, file, 43, kMedium, compression);
    values["blob" + std::to_string(compression)] = index;
    BlobIndex::EncodeInlinedTTL(&index, 1, index + std::string(200, 'x'));
    values["inlined" + std::to_string(compression)] = index;
  }
  for (const auto& [key, value] : values) {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
  }
  Flush();
  for (int round = 0; round < 3; round++) {
    for (const auto& [key, value] : values) {
      EXPECT_EQ(value, Get(key)) << key;
    }
    Compact();
  }
  ExpectSized(0, kKeys, 0, kMedium);
}

// A value that cannot be read stays where it is: an error to those who read it, not to the
// compaction.
TEST_F(MediumTest, DamagedValueStays) {
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  const uint64_t blob = *BlobFiles().begin();
  const std::string file = BlobFileName(path_, blob);
  std::string bytes;
  ASSERT_OK(ReadFileToString(Env::Default(), file, &bytes));
  const std::string victim = ValueOf(101, 0, kMedium);
  const size_t at = bytes.find(victim);
  ASSERT_NE(std::string::npos, at);
  {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(at + 50));
    out.put(static_cast<char>(victim[50] ^ 1));
  }
  Compact();
  EXPECT_EQ(1u, Stats().read_errors);
  EXPECT_EQ(1u, References());
  EXPECT_EQ(std::set<uint64_t>{blob}, BlobFiles());
  for (int i = 0; i < kKeys; i++) {
    if (i == 101) {
      EXPECT_NE(std::string::npos, Get(i).find("Corruption")) << Get(i);
    } else {
      EXPECT_EQ(ValueOf(i, 0, kMedium), Get(i));
    }
  }
}

TEST_F(MediumTest, LogIsReadWithoutThePlugin) {
  Open();
  Put(1000, 0, kSmall);
  Flush();
  CompactLevel(0, 3);
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  CompactLevel(0, 1);
  EXPECT_EQ(static_cast<uint64_t>(kKeys), References());
  Checkpoint* raw = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  ASSERT_OK(checkpoint->CreateCheckpoint(root_ + "/copy"));
  std::unique_ptr<DB> copy;
  ASSERT_OK(OpenDb(options_, root_ + "/copy", &copy));
  std::string value;
  for (int i = 0; i < kKeys; i++) {
    ASSERT_OK(copy->Get(ReadOptions(), KeyOf(i), &value));
    EXPECT_EQ(ValueOf(i, 0, kMedium), value);
  }
  copy.reset();
  Close();
  OpenWithoutPlugin();
  ExpectSized(0, kKeys, 0, kMedium);
  Compact();
  ExpectSized(0, kKeys, 0, kMedium);
  Close();
  // And back: what was left in the log is merged.
  Open();
  Put(0, 1, kMedium);
  Flush();
  Compact();
  EXPECT_EQ(0u, References());
  EXPECT_TRUE(BlobFiles().empty());
  ExpectSized(1, kKeys, 0, kMedium);
}

// Flushes of a recovery have no options of their own: they leave medium values in SSTs.
TEST_F(MediumTest, Recovery) {
  options_.avoid_flush_during_shutdown = true;
  Open();
  FillSized(0, kKeys, 0, kMedium);
  FillSized(kKeys, kKeys + 10, 0, kLarge);
  Close();
  Open();
  EXPECT_EQ(0u, References());
  EXPECT_EQ(1u, BlobFiles().size());
  EXPECT_EQ(500u, db_->GetOptions().min_blob_size);
  ExpectSized(0, kKeys, 0, kMedium);
  FillSized(0, kKeys, 1, kMedium);
  Flush();
  EXPECT_EQ(static_cast<uint64_t>(kKeys), References());
  Compact();
  EXPECT_EQ(0u, References());
  ExpectSized(0, kKeys, 1, kMedium);
  ExpectSized(kKeys, kKeys + 10, 0, kLarge);
}

#ifndef NDEBUG
// A flush that fails leaves nothing behind.
TEST_F(MediumTest, FailedFlush) {
  Open();
  FillSized(0, kKeys, 0, kMedium);
  auto* points = SyncPoint::GetInstance();
  points->SetCallBack("BlobFileBuilder::OpenBlobFileIfNeeded:NewWritableFile", [](void* status) {
    *static_cast<Status*>(status) = Status::IOError("test");
  });
  points->EnableProcessing();
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  points->DisableProcessing();
  points->ClearAllCallBacks();
  EXPECT_EQ(500u, db_->GetOptions().min_blob_size);
  if (!db_->Resume().ok()) {
    Close();
    Open();
  }
  ExpectSized(0, kKeys, 0, kMedium);
  FillSized(0, kKeys, 1, kMedium);
  Flush();
  EXPECT_EQ(static_cast<uint64_t>(kKeys), References());
  Compact();
  EXPECT_TRUE(BlobFiles().empty());
  ExpectSized(0, kKeys, 1, kMedium);
}

// Outputs that are abandoned, with what was merged into them.
TEST_F(MediumTest, FailedCompaction) {
  options_.max_subcompactions = 4;
  options_.target_file_size_base = 8 << 10;
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  const auto files = BlobFiles();
  std::atomic<int> outputs{0};
  auto* points = SyncPoint::GetInstance();
  points->SetCallBack("CompactionJob::FinishCompactionOutputFile()::AfterFinish",
                      [&](void* status) {
                        if (++outputs == 3) {
                          *static_cast<Status*>(status) = Status::IOError("test");
                        }
                      });
  points->EnableProcessing();
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  EXPECT_TRUE(db_->CompactRange(all, nullptr, nullptr).IsIOError());
  points->DisableProcessing();
  points->ClearAllCallBacks();
  EXPECT_GE(outputs.load(), 3);
  EXPECT_GT(Stats().merged_values, 0u);
  EXPECT_EQ(files, BlobFiles());
  EXPECT_EQ(static_cast<uint64_t>(kKeys), References());
  ExpectSized(0, kKeys, 0, kMedium);
  Close();
  Open();
  ExpectSized(0, kKeys, 0, kMedium);
  Compact();
  EXPECT_EQ(0u, References());
  EXPECT_TRUE(BlobFiles().empty());
  ExpectSized(0, kKeys, 0, kMedium);
}
#endif

// Asked after the plugin's listener.
class Forgetter : public EventListener {
 public:
  std::atomic<bool> forgets{true};

  void OnSubcompactionBegin(const SubcompactionJobInfo& /*info*/) override {
    if (forgets) {
      ForgetCompaction();
    }
  }
};

// A compaction whose level the listener was not told, as when a database is being closed, merges
// nothing.
TEST_F(MediumTest, CompactionOfUnknownLevel) {
  Options options = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  const auto forgetter = std::make_shared<Forgetter>();
  options.listeners.push_back(forgetter);
  ASSERT_OK(OpenDb(options, path_, &db_));
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  Compact();
  forgetter->forgets = false;
  EXPECT_EQ(0u, Stats().merged_values);
  EXPECT_EQ(static_cast<uint64_t>(kKeys), References());
  ExpectSized(0, kKeys, 0, kMedium);
  Compact();
  EXPECT_EQ(0u, References());
  ExpectSized(0, kKeys, 0, kMedium);
}

TEST_F(MediumTest, AtomicFlushOfFamiliesWithOtherClasses) {
  options_.atomic_flush = true;
  Options options = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  ASSERT_OK(OpenDb(options, path_, &db_));
  ColumnFamilyOptions wide_options = options_;
  wide_options.min_blob_size = 5000;
  BlobHybridOptions wide;
  wide.max_space_amplification = 0;
  wide.medium_value_size = 400;
  ASSERT_OK(UseBlobHybrid(wide, &options, &wide_options));
  std::vector<ColumnFamilyHandle*> all = {db_->DefaultColumnFamily(), nullptr, nullptr};
  ASSERT_OK(db_->CreateColumnFamily(wide_options, "wide", &all[1]));
  ASSERT_OK(db_->CreateColumnFamily(options_, "plain", &all[2]));
  for (ColumnFamilyHandle* family : all) {
    for (int i = 0; i < kKeys; i++) {
      const size_t bytes = i % 2 == 0 ? kMedium : kLarge;
      ASSERT_OK(db_->Put(WriteOptions(), family, KeyOf(i), ValueOf(i, 0, bytes)));
    }
  }
  ASSERT_OK(db_->Flush(FlushOptions(), all));
  const uint64_t medium[] = {kKeys / 2 * kRecord, kKeys / 2 * (kLarge + 32 + 11), 0};
  const uint64_t large[] = {kKeys / 2 * (kLarge + 32 + 11), 0, kKeys / 2 * (kLarge + 32 + 11)};
  const uint64_t min_blob_size[] = {500, 5000, 500};
  for (size_t f = 0; f < all.size(); f++) {
    BlobHybridStats stats;
    ASSERT_OK(GetBlobHybridStats(db_.get(), all[f], &stats));
    EXPECT_EQ(medium[f], stats.medium_bytes) << f;
    EXPECT_EQ(large[f], stats.large_bytes) << f;
    EXPECT_EQ(min_blob_size[f], db_->GetOptions(all[f]).min_blob_size);
  }
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  for (size_t f = 0; f < all.size(); f++) {
    ASSERT_OK(db_->CompactRange(force, all[f], nullptr, nullptr));
    BlobHybridStats stats;
    ASSERT_OK(GetBlobHybridStats(db_.get(), all[f], &stats));
    EXPECT_EQ(0u, stats.medium_bytes);
    for (int i = 0; i < kKeys; i++) {
      std::string value;
      ASSERT_OK(db_->Get(ReadOptions(), all[f], KeyOf(i), &value));
      EXPECT_EQ(ValueOf(i, 0, i % 2 == 0 ? kMedium : kLarge), value);
    }
  }
  ASSERT_OK(db_->DestroyColumnFamilyHandle(all[1]));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(all[2]));
}

// An SST that came to the last level without a compaction is merged there.
TEST_F(MediumTest, MovedFilesAreMergedForTheBudget) {
  LeaveToTheJob();
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  ASSERT_OK(experimental::PromoteL0(db_.get(), db_->DefaultColumnFamily(), 3));
  EXPECT_EQ(static_cast<uint64_t>(kKeys), References());
  Close();
  hybrid_.transient_log_budget = 0.1;
  hybrid_.space_floor = 0;
  Open();
  Put(1000, 0, kSmall);  // the first event makes the family known
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  EXPECT_EQ(0u, References());
  EXPECT_TRUE(BlobFiles().empty());
  EXPECT_GT(Stats().log_jobs, 0u);
  ExpectSized(0, kKeys, 0, kMedium);
}

TEST_F(MediumTest, UpperLevelsAreMergedForTheBudget) {
  LeaveToTheJob();
  hybrid_.transient_log_budget = 0.1;
  hybrid_.space_floor = 0;
  Open();
  for (int version = 0; version < 3; version++) {
    FillSized(0, kKeys, version, kMedium);
    Flush();
    ASSERT_OK(SettleBlobHybrid(db_.get()));
    EXPECT_EQ(0u, References());
    EXPECT_TRUE(BlobFiles().empty());
    ExpectSized(0, kKeys, version, kMedium);
  }
  EXPECT_GE(Stats().log_jobs, 3u);
}

// As long as the job cannot make room.
TEST_F(MediumTest, FlushesLeaveThemInSstsWhereThereIsNoRoom) {
  LeaveToTheJob();
  hybrid_.max_space_amplification = 1.5;
  hybrid_.space_floor = 0;
  Open();
  FillSized(0, kKeys, 0, kMedium);
  FillSized(kKeys, 3 * kKeys, 0, kLarge);
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  ASSERT_LT(Stats().space_amplification_percent, 120u);  // the log has been merged
  db_->DisableManualCompaction();
  FillSized(0, kKeys, 1, kMedium);
  FillSized(kKeys, 3 * kKeys, 1, kLarge);
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  EXPECT_EQ(0u, Stats().crowded_flushes);
  ASSERT_GT(Stats().space_amplification_percent, 150u);

  const uint64_t references = References();
  FillSized(0, kKeys, 2, kMedium);
  FillSized(kKeys, 3 * kKeys, 2, kLarge);
  const size_t blob_files = BlobFiles().size();
  Flush();
  EXPECT_EQ(1u, Stats().crowded_flushes);
  EXPECT_EQ(references, References());
  EXPECT_EQ(blob_files + 1, BlobFiles().size());  // of large values
  EXPECT_EQ(0u, Stats().not_separated);
  EXPECT_EQ(500u, db_->GetOptions().min_blob_size);
  ExpectSized(0, kKeys, 2, kMedium);

  db_->EnableManualCompaction();
  Compact();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  ASSERT_LT(Stats().space_amplification_percent, 125u);
  db_->DisableManualCompaction();  // which would merge the log at once
  FillSized(3 * kKeys, 4 * kKeys, 2, kMedium);
  Flush();
  EXPECT_EQ(1u, Stats().crowded_flushes);
  EXPECT_EQ(static_cast<uint64_t>(kKeys), References());
  ExpectSized(0, kKeys, 2, kMedium);
  ExpectSized(kKeys, 3 * kKeys, 2, kLarge);
}

// With dynamic levels data begins at the last one: nothing is pushed to a level that RocksDB does
// not use yet.
TEST_F(MediumTest, DynamicLevels) {
  LeaveToTheJob();
  options_.level_compaction_dynamic_level_bytes = true;
  hybrid_.transient_log_budget = 0.1;
  hybrid_.space_floor = 0;
  for (const MergeLevel level : {MergeLevel::kLast, MergeLevel::kLastButOne}) {
    hybrid_.merge_level = level;
    Open();
    FillSized(0, kKeys, 0, kMedium);
    Flush();
    ASSERT_OK(SettleBlobHybrid(db_.get()));
    EXPECT_EQ(0u, References());
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    for (const LevelMetaData& files : meta.levels) {
      EXPECT_EQ(files.level == 6, !files.files.empty()) << files.level;
    }
    ExpectSized(0, kKeys, 0, kMedium);
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
  }
}

// As long as a snapshot keeps old versions in the log the job does not go on for ever, and does not
// stop flushes.
TEST_F(MediumTest, BudgetThatASnapshotExceeds) {
  LeaveToTheJob();
  hybrid_.transient_log_budget = 0.1;
  hybrid_.space_floor = 0;
  Open();
  FillSized(0, kKeys, 0, kMedium);
  const Snapshot* snapshot = db_->GetSnapshot();
  FillSized(0, kKeys, 1, kMedium);
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  EXPECT_EQ(static_cast<uint64_t>(kKeys), References());
  Put(0, 2, kMedium);
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));  // Compact() leaves what the job writes meanwhile
  db_->ReleaseSnapshot(snapshot);
  Compact();
  EXPECT_EQ(0u, References());
  EXPECT_EQ(ValueOf(0, 2, kMedium), Get(0));
  ExpectSized(1, kKeys, 1, kMedium);
}

// Lowering it below the medium size at run time makes every value from there on large.
TEST_F(MediumTest, MinBlobSizeChanges) {
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  ASSERT_OK(db_->SetOptions({{"min_blob_size", "60"}}));
  FillSized(0, kKeys, 1, 80, 2);
  Flush();
  Compact();
  EXPECT_EQ(2u, BlobFiles().size());
  EXPECT_EQ(60u, db_->GetOptions().min_blob_size);
  ExpectSized(0, kKeys, 1, 80, 2);
  ExpectSized(1, kKeys, 0, kMedium, 2);
  ASSERT_OK(db_->SetOptions({{"min_blob_size", "500"}}));
  Compact();
  EXPECT_TRUE(BlobFiles().empty());
  ExpectSized(0, kKeys, 1, 80, 2);
  ExpectSized(1, kKeys, 0, kMedium, 2);
}

// RocksDB does not validate families that are made in an open database. Without the listener
// nothing would be merged.
TEST_F(MediumTest, FamilyWithoutListenerIsPlain) {
  ASSERT_OK(OpenDb(options_, path_, &db_));
  Options options = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  ColumnFamilyHandle* family = nullptr;
  const Status s = db_->CreateColumnFamily(options, "family", &family);
  if (!s.ok()) {
    EXPECT_NE(std::string::npos, s.ToString().find("listeners")) << s.ToString();
    return;
  }
  for (int i = 0; i < kKeys; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), family, KeyOf(i), ValueOf(i, 0, kMedium)));
  }
  ASSERT_OK(db_->Flush(FlushOptions(), family));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr));
  ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(family, &meta);
  EXPECT_EQ(0u, meta.blob_files.size());
  for (int i = 0; i < kKeys; i++) {
    std::string value;
    ASSERT_OK(db_->Get(ReadOptions(), family, KeyOf(i), &value));
    EXPECT_EQ(ValueOf(i, 0, kMedium), value);
  }
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

// With key_size, too, the large size is what RocksDB goes by.
TEST_F(MediumTest, MinBlobSizeChangesWithKeySize) {
  hybrid_.medium_value_size = 0;
  hybrid_.key_size = 11;  // medium from 44, large from 539
  Open();
  EXPECT_EQ(539u, db_->GetOptions().min_blob_size);
  ASSERT_OK(db_->SetOptions({{"min_blob_size", "200"}}));
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  EXPECT_EQ(0u, References());
  const auto files = BlobFiles();
  EXPECT_EQ(1u, files.size());
  Compact();
  EXPECT_EQ(0u, Stats().merged_values);
  EXPECT_EQ(files, BlobFiles());
  ExpectSized(0, kKeys, 0, kMedium);
}

// A user's filter sees medium values as it sees others, in the log and out of it.
TEST_F(MediumTest, UserFilter) {
  class Filter : public CompactionFilter {
   public:
    const char* Name() const override { return "Filter"; }
    Decision FilterV3(int, const Slice& key, ValueType type, const Slice* value, const WideColumns*,
                      std::string* new_value, std::vector<std::pair<std::string, std::string>>*,
                      std::string*) const override {
      EXPECT_EQ(ValueType::kValue, type);
      const int i = std::stoi(key.ToString().substr(3));
      EXPECT_EQ(0, value->compare(0 == i % 5 ? *value : Slice(ValueOf(i, 0, kMedium))));
      switch (i % 5) {
        case 0:
          *new_value = "changed " + key.ToString();
          return Decision::kChangeValue;
        case 1:
          return Decision::kRemove;
        default:
          return Decision::kKeep;
      }
    }
  };
  const Filter filter;
  hybrid_.user_filter = &filter;
  Open();
  FillSized(0, kKeys, 0, kMedium);
  Flush();
  for (int round = 0; round < 2; round++) {
    Compact();
    EXPECT_EQ(0u, References());
    EXPECT_EQ(kKeys * 3 / 5u, Stats().merged_values);
    for (int i = 0; i < kKeys; i++) {
      EXPECT_EQ(i % 5 == 0   ? "changed " + KeyOf(i)
                : i % 5 == 1 ? "none"
                             : ValueOf(i, 0, kMedium),
                Get(i));
    }
  }
}

// Without the level of the compaction nothing is merged, and nothing is lost.
TEST(SubcompactionTest, LevelIsThatOfTheThreadAndFamily) {
  ForgetCompaction();
  EXPECT_EQ(-1, OutputLevel(0));
  SetOutputLevel(7, 5);
  EXPECT_EQ(5, OutputLevel(7));
  EXPECT_EQ(-1, OutputLevel(0));
  ForgetCompaction();
  EXPECT_EQ(-1, OutputLevel(7));
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
