// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Options that DB::Open would refuse, and that nobody asks the plugin about: of SetOptions() and
// CreateColumnFamily(). Answers are right in any case.

#include <functional>
#include <map>
#include <unordered_map>

#include "rocksdb/convenience.h"
#include "test/blob_hybrid/support.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 300;

// The parameter: whether values are medium, else they are large.
class UncheckedTest : public HybridDb, public testing::WithParamInterface<bool> {
 protected:
  UncheckedTest() {
    if (GetParam()) {
      UseMedium();
    }
    options_.blob_file_size = 64 << 10;
    options_.target_file_size_base = 8 << 10;
    hybrid_.gc_garbage_ratio = 0.1;
  }
  ~UncheckedTest() override { CloseFamily(); }

  // Of the family, or of the default one.
  ColumnFamilyHandle* handle() { return family_ == nullptr ? db_->DefaultColumnFamily() : family_; }

  // The next version of every step-th key.
  void Overwrite(int step) {
    version_++;
    for (int i = 0; i < kKeys; i += step) {
      versions_[i] = version_;
      ASSERT_OK(db_->Put(WriteOptions(), handle(), KeyOf(i), ValueOf(i, version_)));
    }
    ASSERT_OK(db_->Flush(FlushOptions(), handle()));
  }

  void CompactAll() {
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(all, handle(), nullptr, nullptr));
  }

  void ExpectValues(const std::string& context) {
    for (int i = 0; i < kKeys; i++) {
      std::string value;
      ASSERT_OK(db_->Get(ReadOptions(), handle(), KeyOf(i), &value)) << context << " " << i;
      ASSERT_EQ(ValueOf(i, versions_[i]), value) << context << " " << i;
    }
    ASSERT_OK(db_->VerifyChecksum());
  }

  // Garbage in all files, and compactions that come across it.
  void Churn(const std::string& context) {
    for (const int step : {1, 2, 3}) {
      Overwrite(step);
      ExpectValues(context + ", flushed");
      CompactAll();
      ExpectValues(context + ", compacted");
    }
    CompactAll();
    ExpectValues(context + ", compacted twice");
  }

  void Set(const std::string& options) {
    std::unordered_map<std::string, std::string> map;
    ASSERT_OK(StringToMap(options, &map));
    ASSERT_OK(db_->SetOptions(handle(), map));
  }

  size_t BlobFilesOfFamily() {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(handle(), &meta);
    return meta.blob_files.size();
  }

  // A family with the plugin, and what `change` makes of its options. False: RocksDB refuses it,
  // with the name of an option.
  bool CreateFamily(const std::function<void(ColumnFamilyOptions*)>& change,
                    const std::string& option) {
    Options options = options_;
    ColumnFamilyOptions family = options_;
    EXPECT_OK(UseBlobHybrid(hybrid_, &options, &family));
    EXPECT_OK(OpenDb(options, path_, &db_));
    change(&family);
    const Status s = db_->CreateColumnFamily(family, "family", &family_);
    EXPECT_TRUE(s.ok() || s.ToString().find(option) != std::string::npos) << s.ToString();
    return s.ok();
  }

  void CloseFamily() {
    if (family_ != nullptr) {
      EXPECT_OK(db_->DestroyColumnFamilyHandle(family_));
      family_ = nullptr;
    }
    Close();
  }

  // Without the plugin.
  void ReopenFamily(const std::function<void(ColumnFamilyOptions*)>& change) {
    CloseFamily();
    ColumnFamilyOptions family = options_;
    change(&family);
    std::vector<ColumnFamilyHandle*> handles;
    ASSERT_OK(OpenInto(&db_, [&](auto* result) {
      return DB::Open(options_, path_, {{kDefaultColumnFamilyName, options_}, {"family", family}},
                      &handles, result);
    }));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(handles[0]));
    family_ = handles[1];
  }

  void TryFamily(const std::string& name, const std::function<void(ColumnFamilyOptions*)>& change) {
    if (CreateFamily(change, name)) {
      Churn(name);
      ASSERT_OK(SettleBlobHybrid(db_.get()));
      ExpectValues(name);
      BlobHybridStats stats;
      ASSERT_OK(GetBlobHybridStats(db_.get(), family_, &stats));
      EXPECT_EQ(0u, stats.jobs + stats.job_errors + stats.read_errors);
      ReopenFamily(change);
      ExpectValues(name + ", without the plugin");
    }
  }

  ColumnFamilyHandle* family_ = nullptr;
  int version_ = 0;
  std::map<int, int> versions_;
};

TEST_P(UncheckedTest, SetOptions) {
  Open();
  Churn("as it was opened");
  EXPECT_GT(Stats().moved_values + Stats().merged_values, 0u);
  Overwrite(2);  // something is in the log
  Set("enable_blob_garbage_collection=true;blob_garbage_collection_age_cutoff=1");
  Churn("collected by age, too");
  Overwrite(2);
  EXPECT_GT(BlobFilesOfFamily(), 0u);
  Set("enable_blob_files=false");
  Churn("without blob files");
  EXPECT_EQ(0u, BlobFilesOfFamily());
  Set("enable_blob_garbage_collection=false");
  Churn("without blob files, not collected by age");
  EXPECT_EQ(0u, BlobFilesOfFamily());
  Set("enable_blob_files=true");
  const uint64_t before = Stats().moved_values + Stats().merged_values;
  Churn("as it was opened, again");
  EXPECT_GT(Stats().moved_values + Stats().merged_values, before);
  EXPECT_EQ(0u, Stats().read_errors);
  Close();
  OpenWithoutPlugin();
  ExpectValues("without the plugin");
}

TEST_P(UncheckedTest, FamilyThatIsCollectedByAge) {
  TryFamily("enable_blob_garbage_collection", [](ColumnFamilyOptions* family) {
    family->enable_blob_garbage_collection = true;
    family->blob_garbage_collection_age_cutoff = 0.5;
  });
}

TEST_P(UncheckedTest, FamilyWithoutBlobFiles) {
  TryFamily("enable_blob_files",
            [](ColumnFamilyOptions* family) { family->enable_blob_files = false; });
}

// Above a bound, which it has no job to keep: that goes by levels. Flushes do not wait for it.
TEST_P(UncheckedTest, FamilyWithUniversalCompaction) {
  hybrid_.max_space_amplification = 1.1;
  hybrid_.space_floor = 1;
  hybrid_.transient_log_budget = 0.01;
  TryFamily("compaction_style", [](ColumnFamilyOptions* family) {
    family->compaction_style = kCompactionStyleUniversal;
  });
}

TEST_P(UncheckedTest, FamilyWithFifoCompaction) {
  hybrid_.max_space_amplification = 1.1;
  hybrid_.space_floor = 1;
  hybrid_.transient_log_budget = 0.01;
  TryFamily("compaction_style", [](ColumnFamilyOptions* family) {
    family->compaction_style = kCompactionStyleFIFO;
    family->compaction_options_fifo.max_table_files_size = 1 << 30;
  });
}

INSTANTIATE_TEST_CASE_P(Medium, UncheckedTest, testing::Bool());

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
