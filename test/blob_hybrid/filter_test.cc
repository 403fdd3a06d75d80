// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Values move out of blob files with garbage, and nothing else changes.

#include <algorithm>
#include <fstream>

#include "file/filename.h"
#include "plugin/blob_hybrid/factory.h"
#include "rocksdb/advanced_cache.h"
#include "rocksdb/statistics.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/blob_hybrid/support.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 200;

class FilterTest : public HybridDb {
 protected:
  FilterTest() { hybrid_.gc_garbage_ratio = 0.3; }

  // Two versions of each step-th key: the first blob file has garbage in all of them.
  void MakeGarbage(int step) {
    Fill(0, kKeys, 0);
    Flush();
    Fill(0, kKeys, 1, step);
    Flush();
    Compact();
  }

  void ExpectValues(int step, const std::string& context = "") {
    for (int i = 0; i < kKeys; i++) {
      ASSERT_EQ(ValueOf(i, i % step == 0 ? 1 : 0), Get(i)) << context << " " << i;
    }
  }

  // But for one that cannot be read.
  void ExpectValuesBut(int damaged, int step) {
    for (int i = 0; i < kKeys; i++) {
      if (i == damaged) {
        EXPECT_NE(std::string::npos, Get(i).find("Corruption")) << Get(i);
      } else {
        EXPECT_EQ(ValueOf(i, i % step == 0 ? 1 : 0), Get(i)) << i;
      }
    }
  }

  // Changes a byte of a value in a blob file.
  void Damage(uint64_t blob_file, const std::string& victim) {
    const std::string file = BlobFileName(path_, blob_file);
    std::string bytes;
    ASSERT_OK(ReadFileToString(Env::Default(), file, &bytes));
    const size_t at = bytes.find(victim);
    ASSERT_NE(std::string::npos, at);
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(at + 50));
    out.put(static_cast<char>(victim[50] ^ 1));
  }

  // As Compact(), which expects that it is OK.
  Status TryCompact() {
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    return db_->CompactRange(all, nullptr, nullptr);
  }
};

TEST_F(FilterTest, ValuesMoveOutOfFilesWithGarbage) {
  Open();
  MakeGarbage(2);
  const auto before = BlobFiles();
  ASSERT_EQ(2u, before.size());
  EXPECT_EQ(0u, Stats().moved_values);
  EXPECT_GT(Stats().large_garbage_bytes, kKeys / 2 * 1000u);
  Compact();
  const auto after = BlobFiles();
  EXPECT_EQ(0u, after.count(*before.begin()));
  EXPECT_EQ(1u, after.count(*before.rbegin()));  // has no garbage, and is left alone
  const BlobHybridStats stats = Stats();
  EXPECT_EQ(kKeys / 2u, stats.moved_values);
  EXPECT_EQ(kKeys / 2 * 1000u, stats.moved_bytes);
  EXPECT_EQ(0u, stats.large_garbage_bytes);
  EXPECT_EQ(0u, stats.read_errors);
  ExpectValues(2);
  Close();
  OpenWithoutPlugin();
  ExpectValues(2, "without the plugin");
}

TEST_F(FilterTest, FilesWithLittleGarbageStay) {
  Open();
  MakeGarbage(10);
  const auto before = BlobFiles();
  Compact();
  EXPECT_EQ(before, BlobFiles());
  EXPECT_EQ(0u, Stats().moved_values);
  ExpectValues(10);
}

TEST_F(FilterTest, RatioDecides) {
  hybrid_.gc_garbage_ratio = 0.05;
  Open();
  MakeGarbage(10);
  Compact();
  EXPECT_EQ(kKeys - kKeys / 10u, Stats().moved_values);
  ExpectValues(10);
}

TEST_F(FilterTest, WithoutReadahead) {
  hybrid_.readahead_size = 0;
  Open();
  MakeGarbage(2);
  Compact();
  EXPECT_EQ(kKeys / 2u, Stats().moved_values);
  ExpectValues(2);
}

TEST_F(FilterTest, MappedFiles) {
  options_.allow_mmap_reads = true;
  Open();
  MakeGarbage(2);
  Compact();
  EXPECT_EQ(kKeys / 2u, Stats().moved_values);
  EXPECT_EQ(0u, Stats().read_errors);
  ExpectValues(2);
}

TEST_F(FilterTest, CompressedBlobs) {
  options_.blob_compression_type = kLZ4Compression;
  Open();
  MakeGarbage(2);
  Compact();
  EXPECT_EQ(kKeys / 2u, Stats().moved_values);
  ExpectValues(2);
}

TEST_F(FilterTest, Subcompactions) {
  options_.max_subcompactions = 4;
  options_.target_file_size_base = 2 << 10;
  options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 512;
  Open();
  MakeGarbage(2);
  Close();
  const auto counter = std::make_shared<SubcompactionCounter>();
  options_.listeners.push_back(counter);
  Open();
  Compact();
  EXPECT_GT(counter->most(), 1);
  EXPECT_EQ(kKeys / 2u, Stats().moved_values);
  ExpectValues(2);
}

// Values that move are read through the blob cache, and leave it as it is.
TEST_F(FilterTest, BlobCache) {
  options_.blob_cache = NewLRUCache(4 << 20);
  options_.statistics = CreateDBStatistics();
  const auto ticks = [&](Tickers ticker) { return options_.statistics->getTickerCount(ticker); };
  for (const bool warm : {false, true}) {
    Open();
    MakeGarbage(2);
    Close();
    Open();  // with nothing in the cache
    ASSERT_OK(options_.statistics->Reset());
    if (warm) {
      for (int i = 1; i < kKeys; i += 2) {
        EXPECT_EQ(ValueOf(i, 0), Get(i));
      }
      EXPECT_EQ(kKeys / 2u, ticks(BLOB_DB_CACHE_ADD));
      ASSERT_OK(options_.statistics->Reset());
    }
    const size_t usage = options_.blob_cache->GetUsage();
    Compact();
    EXPECT_EQ(kKeys / 2u, Stats().moved_values);
    EXPECT_EQ(warm ? kKeys / 2u : 0u, ticks(BLOB_DB_CACHE_HIT));
    EXPECT_EQ(warm ? 0u : kKeys / 2u, ticks(BLOB_DB_CACHE_MISS));
    EXPECT_EQ(0u, ticks(BLOB_DB_CACHE_ADD));
    EXPECT_EQ(usage, options_.blob_cache->GetUsage());
    ExpectValues(2);
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    options_.blob_cache->EraseUnRefEntries();
  }
}

// A value that is no longer large goes to the SST.
TEST_F(FilterTest, ClassChangesWithTheOption) {
  Open();
  MakeGarbage(2);
  ASSERT_OK(db_->SetOptions({{"min_blob_size", "5000"}}));
  Compact();
  EXPECT_EQ(1u, BlobFiles().size());
  EXPECT_EQ(kKeys / 2u, Stats().moved_values);
  ExpectValues(2);
}

TEST_F(FilterTest, SnapshotsSeeWhatTheySaw) {
  Open();
  Fill(0, kKeys, 0);
  Flush();
  const Snapshot* snapshot = db_->GetSnapshot();
  Fill(0, kKeys, 1);
  ASSERT_OK(db_->Delete(WriteOptions(), KeyOf(7)));
  Flush();
  Compact();
  Fill(0, kKeys, 2, 2);
  Compact();
  Compact();
  ReadOptions at;
  at.snapshot = snapshot;
  for (int i = 0; i < kKeys; i++) {
    EXPECT_EQ(ValueOf(i, 0), Get(KeyOf(i), at)) << i;
    EXPECT_EQ(i % 2 == 0 ? ValueOf(i, 2) : i == 7 ? "none" : ValueOf(i, 1), Get(i)) << i;
  }
  EXPECT_GT(Stats().moved_values, 0u);
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(FilterTest, WideColumns) {
  Open();
  Fill(0, kKeys, 0);
  const std::string big = ValueOf(0, 9);
  ASSERT_OK(db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), "wide",
                           WideColumns{{kDefaultWideColumnName, "small"}, {"big", big}}));
  Flush();
  Fill(0, kKeys, 1, 2);
  Flush();
  Compact();
  Compact();
  EXPECT_EQ(kKeys / 2u, Stats().moved_values);
  PinnableWideColumns columns;
  ASSERT_OK(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), "wide", &columns));
  EXPECT_EQ((WideColumns{{kDefaultWideColumnName, "small"}, {"big", big}}), columns.columns());
  ExpectValues(2);
}

// Two databases with equal file numbers and keys share the factory: the values of one never get
// into the other.
TEST_F(FilterTest, SharedByDatabases) {
  Options options = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  std::unique_ptr<DB> dbs[2];
  for (int d = 0; d < 2; d++) {
    ASSERT_OK(OpenDb(options, path_ + std::to_string(d), &dbs[d]));
  }
  const auto put = [&](int step, int version) {
    for (int d = 0; d < 2; d++) {
      for (int i = 0; i < kKeys; i += step) {
        ASSERT_OK(dbs[d]->Put(WriteOptions(), KeyOf(i), ValueOf(i, version + d * 10)));
      }
      ASSERT_OK(dbs[d]->Flush(FlushOptions()));
    }
  };
  put(1, 0);
  put(2, 1);
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  for (int round = 0; round < 2; round++) {
    for (const auto& db : dbs) {
      ASSERT_OK(db->CompactRange(all, nullptr, nullptr));
    }
  }
  for (int d = 0; d < 2; d++) {
    BlobHybridStats stats;
    ASSERT_OK(GetBlobHybridStats(dbs[d].get(), dbs[d]->DefaultColumnFamily(), &stats));
    EXPECT_EQ(2u * kKeys / 2, stats.moved_values);  // of the factory
    for (int i = 0; i < kKeys; i++) {
      std::string value;
      ASSERT_OK(dbs[d]->Get(ReadOptions(), KeyOf(i), &value));
      EXPECT_EQ(ValueOf(i, (i % 2 == 0 ? 1 : 0) + d * 10), value);
    }
  }
}

TEST_F(FilterTest, FamiliesOfOneDatabase) {
  Options options = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  ASSERT_OK(OpenDb(options, path_, &db_));
  ColumnFamilyHandle* plain = nullptr;
  ColumnFamilyHandle* second = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "plain", &plain));
  ColumnFamilyOptions family = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &family));
  ASSERT_OK(db_->CreateColumnFamily(family, "second", &second));
  const std::vector<ColumnFamilyHandle*> all = {db_->DefaultColumnFamily(), plain, second};
  for (const int step : {1, 2}) {
    for (size_t f = 0; f < all.size(); f++) {
      for (int i = 0; i < kKeys; i += step) {
        ASSERT_OK(db_->Put(WriteOptions(), all[f], KeyOf(i),
                           ValueOf(i, step + 10 * static_cast<int>(f))));
      }
      ASSERT_OK(db_->Flush(FlushOptions(), all[f]));
    }
  }
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  for (int round = 0; round < 2; round++) {
    for (ColumnFamilyHandle* handle : all) {
      ASSERT_OK(db_->CompactRange(force, handle, nullptr, nullptr));
    }
  }
  for (size_t f = 0; f < all.size(); f++) {
    BlobHybridStats stats;
    ASSERT_OK(GetBlobHybridStats(db_.get(), all[f], &stats));
    EXPECT_EQ(f == 1 ? 0u : kKeys / 2u, stats.moved_values) << f;
    EXPECT_EQ(f == 1, stats.large_garbage_bytes > 0) << f;
    for (int i = 0; i < kKeys; i++) {
      std::string value;
      ASSERT_OK(db_->Get(ReadOptions(), all[f], KeyOf(i), &value));
      EXPECT_EQ(ValueOf(i, (i % 2 == 0 ? 2 : 1) + 10 * static_cast<int>(f)), value);
    }
  }
  ASSERT_OK(db_->DestroyColumnFamilyHandle(plain));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(second));
}

// A value that cannot be read stays where it is: an error to those who read it, not to the
// compaction.
TEST_F(FilterTest, DamagedValueStays) {
  Open();
  MakeGarbage(2);
  const uint64_t first = *BlobFiles().begin();
  Damage(first, ValueOf(101, 0));
  Compact();
  EXPECT_EQ(kKeys / 2u - 1, Stats().moved_values);
  EXPECT_EQ(1u, Stats().read_errors);
  EXPECT_EQ(1u, BlobFiles().count(first));
  ExpectValuesBut(101, 2);
}

TEST_F(FilterTest, CheckpointNeedsNoPlugin) {
  Open();
  MakeGarbage(2);
  Compact();
  Checkpoint* raw = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  ASSERT_OK(checkpoint->CreateCheckpoint(root_ + "/copy"));
  Close();
  ASSERT_OK(OpenDb(options_, root_ + "/copy", &db_));
  ExpectValues(2);
  ASSERT_OK(db_->VerifyChecksum());
}

// Does something different with each kind of key, and notes what it is shown.
class UserFilter : public CompactionFilter {
 public:
  explicit UserFilter(bool by_key) : by_key_(by_key) {}
  const char* Name() const override { return "UserFilter"; }

  Decision FilterBlobByKey(int /*level*/, const Slice& key, std::string* new_value,
                           std::string* skip_until) const override {
    return by_key_ ? Decide(key, new_value, skip_until) : Decision::kUndetermined;
  }

  Decision FilterV2(int /*level*/, const Slice& key, ValueType type, const Slice& value,
                    std::string* new_value, std::string* skip_until) const override {
    EXPECT_EQ(ValueType::kValue, type);
    EXPECT_TRUE(value.starts_with(key.ToString() + "@") || value.starts_with("changed"))
        << value.ToString().substr(0, 40);
    return Decide(key, new_value, skip_until);
  }

  static Decision Decide(const Slice& key, std::string* new_value, std::string* skip_until) {
    switch (atoi(key.ToString().substr(3).c_str()) % 12) {
      case 0:
        return Decision::kRemove;
      case 1:
        *new_value = "changed small " + key.ToString();
        return Decision::kChangeValue;
      case 2:
        *new_value = "changed large " + key.ToString() + std::string(2000, 'x');
        return Decision::kChangeValue;
      case 3:
        *new_value = "rubbish that must not be used";
        return Decision::kKeep;
      case 4:
        *skip_until = key.ToString() + "\xff";
        return Decision::kRemoveAndSkipUntil;
      default:
        return Decision::kKeep;
    }
  }

 private:
  const bool by_key_;
};

class UserFactory : public CompactionFilterFactory {
 public:
  explicit UserFactory(bool by_key) : by_key_(by_key) {}
  const char* Name() const override { return "UserFactory"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    return std::make_unique<UserFilter>(by_key_);
  }

 private:
  const bool by_key_;
};

class UserFilterTest : public FilterTest, public testing::WithParamInterface<bool> {
 protected:
  std::vector<std::string> Run() {
    MakeGarbage(2);
    Compact();
    Compact();
    std::vector<std::string> values;
    for (int i = 0; i < kKeys; i++) {
      values.push_back(Get(i));
    }
    return values;
  }
};

TEST_P(UserFilterTest, DoesWhatItDoesWithoutThePlugin) {
  const auto factory = std::make_shared<UserFactory>(GetParam());
  Options stock = options_;
  stock.compaction_filter_factory = factory;
  ASSERT_OK(OpenDb(stock, root_ + "/stock", &db_));
  const auto expected = Run();
  EXPECT_EQ(kKeys / 12 + 1, std::count_if(expected.begin(), expected.end(), [](const auto& value) {
              return value.compare(0, 13, "changed large") == 0;
            }));
  Close();
  hybrid_.user_filter_factory = factory;
  Open();
  EXPECT_EQ(expected, Run());
  EXPECT_GT(Stats().moved_values, 0u);
  Close();

  // The same without a factory.
  hybrid_.user_filter_factory = nullptr;
  const UserFilter filter(GetParam());
  hybrid_.user_filter = &filter;
  Options options = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  ASSERT_OK(OpenDb(options, root_ + "/other", &db_));
  EXPECT_EQ(expected, Run());
  EXPECT_GT(Stats().moved_values, 0u);
  Close();
}

INSTANTIATE_TEST_CASE_P(ByKeyOrValue, UserFilterTest, testing::Bool());

// At flushes, which have no blob references, the user's filter is used as it is.
TEST_F(FilterTest, UserFilterAtFlush) {
  class AtFlush : public UserFactory {
   public:
    AtFlush() : UserFactory(false) {}
    bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override {
      return reason == TableFileCreationReason::kFlush;
    }
  };
  hybrid_.user_filter_factory = std::make_shared<AtFlush>();
  Open();
  Fill(0, kKeys, 0);
  Flush();
  for (int i = 0; i < kKeys; i++) {
    const std::string value = Get(i);
    EXPECT_EQ(i % 12 == 0 || i % 12 == 4, value == "none") << i;
    EXPECT_EQ(i % 12 == 1, value == "changed small " + KeyOf(i)) << i;
  }
}

// What RocksDB refuses of filters that are not its own it refuses also behind ours.
TEST_F(FilterTest, InternalDecisionsOfUserFiltersFail) {
  class Wrong : public CompactionFilter {
   public:
    const char* Name() const override { return "Wrong"; }
    Decision FilterV2(int, const Slice&, ValueType, const Slice&, std::string* new_value,
                      std::string*) const override {
      *new_value = "no reference";
      return Decision::kChangeBlobIndex;
    }
  };
  Open();
  MakeGarbage(2);
  Close();
  const Wrong wrong;
  hybrid_.user_filter = &wrong;
  Open();
  // The first event makes the database known.
  Put(0, 1);
  Flush();
  EXPECT_TRUE(TryCompact().IsNotSupported());
  Close();
  OpenWithoutPlugin();
  ExpectValues(2);
}

// It asks for what RocksDB no longer has, and would remove everything.
class HeedsSnapshots : public CompactionFilter {
 public:
  const char* Name() const override { return "HeedsSnapshots"; }
  bool IgnoreSnapshots() const override { return false; }
  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*value*/,
              std::string* /*new_value*/, bool* /*value_changed*/) const override {
    return true;
  }
};

class HeedsSnapshotsFactory : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "HeedsSnapshotsFactory"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    return std::make_unique<HeedsSnapshots>();
  }
};

TEST_F(FilterTest, UserFiltersThatHeedSnapshotsFail) {
  Open();
  MakeGarbage(2);
  Close();
  const HeedsSnapshots filter;
  options_.compaction_filter = &filter;
  OpenWithoutPlugin();
  const Status stock = TryCompact();
  EXPECT_TRUE(stock.IsNotSupported()) << stock.ToString();
  Close();
  options_.compaction_filter = nullptr;

  for (const bool by_factory : {false, true}) {
    hybrid_.user_filter = by_factory ? nullptr : &filter;
    hybrid_.user_filter_factory = by_factory ? std::make_shared<HeedsSnapshotsFactory>() : nullptr;
    Open();
    Put(0, 1);  // the first event makes the database known
    Flush();
    EXPECT_EQ(stock.ToString(), TryCompact().ToString()) << by_factory;
    ExpectValues(2);
    Close();
  }
  OpenWithoutPlugin();
  ExpectValues(2);
}

// Keeps everything that it is shown. `by_key`: without a look at values.
class KeepingFilter : public CompactionFilter {
 public:
  explicit KeepingFilter(bool by_key) : by_key_(by_key) {}
  const char* Name() const override { return "KeepingFilter"; }
  Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                           std::string* /*skip_until*/) const override {
    return by_key_ ? Decision::kKeep : Decision::kUndetermined;
  }

 private:
  const bool by_key_;
};

// A filter cannot be passed by: what it would have to see and cannot be read fails the compaction,
// and all stays as it is.
TEST_F(FilterTest, DamagedValueFailsUserFilter) {
  Open();
  MakeGarbage(2);
  Close();
  const KeepingFilter filter(false);
  hybrid_.user_filter = &filter;
  Open();
  const auto files = BlobFiles();
  ASSERT_EQ(2u, files.size());
  Damage(*files.begin(), ValueOf(101, 0));
  const Status s = TryCompact();
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_GT(Stats().read_errors, 0u);
  EXPECT_EQ(files, BlobFiles());
  ExpectValuesBut(101, 2);
  Close();
  Open();
  EXPECT_EQ(files, BlobFiles());
  ExpectValuesBut(101, 2);
  Close();
}

// One that decides by the key does not have to see it.
TEST_F(FilterTest, DamagedValueStaysWithUserFilterByKey) {
  const KeepingFilter filter(true);
  hybrid_.user_filter = &filter;
  Open();
  MakeGarbage(2);
  const uint64_t first = *BlobFiles().begin();
  Damage(first, ValueOf(101, 0));
  Compact();
  EXPECT_EQ(kKeys / 2u - 1, Stats().moved_values);
  EXPECT_EQ(1u, Stats().read_errors);
  EXPECT_EQ(1u, BlobFiles().count(first));
  ExpectValuesBut(101, 2);
  Close();
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
