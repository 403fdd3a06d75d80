// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The bound of space where families are flushed together, and where files are in several folders.
// ROCKTIER_SEED: another seed.

#include <tuple>

#include "test/blob_hybrid/space.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

class FamiliesTest : public SpaceTest {
 protected:
  FamiliesTest() {
    options_.atomic_flush = true;
    hybrid_.space_floor = 64 << 10;
  }
  ~FamiliesTest() override {
    if (slow_ != nullptr) {
      EXPECT_OK(db_->DestroyColumnFamilyHandle(slow_));
    }
  }

  // Each with a factory, and so counters, of its own.
  void OpenFamilies() {
    Open();
    Options options = options_;
    ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
    ASSERT_OK(db_->CreateColumnFamily(options, "slow", &slow_));
  }

  void WriteSlow(int i) {
    ASSERT_OK(db_->Put(WriteOptions(), slow_, KeyOf(i), ValueOf(i, version_, kValue)));
    slow_versions_[i] = version_++;
  }

  BlobHybridStats SlowStats() {
    BlobHybridStats stats;
    EXPECT_OK(GetBlobHybridStats(db_.get(), slow_, &stats));
    return stats;
  }

  void ExpectSlowBound(const char* where) {
    const uint64_t live = slow_versions_.size() * (KeyOf(0).size() + kValue);
    const double slack = 2.0 * static_cast<double>(options_.write_buffer_size);
    const double share = (static_cast<double>(DiskBytes(slow_)) - slack) /
                         static_cast<double>(std::max(live, hybrid_.space_floor));
    EXPECT_LE(share, hybrid_.max_space_amplification * kTolerance) << where << "\n"
                                                                   << SlowStats().ToString();
  }

  void ExpectSlowAnswers() {
    for (const auto& [i, version] : slow_versions_) {
      std::string value;
      ASSERT_OK(db_->Get(ReadOptions(), slow_, KeyOf(i), &value));
      ASSERT_EQ(ValueOf(i, version, kValue), value);
    }
  }

  ColumnFamilyHandle* slow_ = nullptr;
  std::map<int, int> slow_versions_;
};

// One family is overwritten fast, the other slowly; each flush is of both, and waits for both.
TEST_F(FamiliesTest, FlushedTogether) {
  constexpr int kSlowKeys = 200;
  OpenFamilies();
  for (int i = 0; i < kKeys; i++) {
    Write(i);
  }
  for (int i = 0; i < kSlowKeys; i++) {
    WriteSlow(i);
  }
  for (int i = 0; i < 10 * kKeys; i++) {
    Write(Uniform());
    if (i % 30 == 0) {
      WriteSlow(static_cast<int>(random_.Uniform(kSlowKeys)));
    }
    if (i % 500 == 0) {
      ExpectBound("the fast family");
      ExpectSlowBound("the slow family");
    }
  }
  ASSERT_OK(db_->Flush(FlushOptions(), {db_->DefaultColumnFamily(), slow_}));
  Finish();
  ExpectSlowBound("at the end");
  ExpectSlowAnswers();
  EXPECT_GT(Stats().jobs, 0u);
  EXPECT_GT(SlowStats().jobs, 0u);
  EXPECT_EQ(0u, SlowStats().job_errors);
  EXPECT_EQ(0u, SlowStats().bound_missed);
}

enum class Paths { kOfDatabase, kOfFamily };

// Upper levels in one folder, with blob files, and lower ones in another.
class PathsTest : public SpaceTest, public testing::WithParamInterface<std::tuple<Paths, bool>> {
 protected:
  PathsTest() {
    if (std::get<1>(GetParam())) {
      UseLog(MergeLevel::kLast);
    } else {
      options_.target_file_size_base = 4 << 10;
      options_.max_bytes_for_level_base = 8 << 10;
    }
    auto& paths =
        std::get<0>(GetParam()) == Paths::kOfDatabase ? options_.db_paths : options_.cf_paths;
    paths.emplace_back(root_ + "/upper", 4 * options_.max_bytes_for_level_base);
    paths.emplace_back(root_ + "/lower", 1 << 30);
  }

  int CountSsts(const std::string& folder) {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    int count = 0;
    for (const LevelMetaData& level : meta.levels) {
      for (const SstFileMetaData& file : level.files) {
        count += file.directory == root_ + folder ? 1 : 0;
      }
    }
    return count;
  }
};

TEST_P(PathsTest, UniformOverwrites) {
  Load();
  int upper = 0;
  int lower = 0;
  for (int round = 0; round < 10; round++) {
    Overwrite(kKeys / 2, [this] { return Uniform(); });
    upper += CountSsts("/upper");
    lower += CountSsts("/lower");
  }
  Finish();
  EXPECT_GT(upper, 0);
  EXPECT_GT(lower, 0);
  EXPECT_GT(Stats().jobs, 0u);
  if (std::get<1>(GetParam())) {
    EXPECT_GT(Stats().merged_values, 0u);
  } else {
    EXPECT_GT(Stats().moved_values, 0u);
  }
  Close();
  Open();
  ExpectAnswers();
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Paths, bool>>& each) {
  return std::string(std::get<0>(each.param) == Paths::kOfDatabase ? "OfDatabase" : "OfFamily") +
         (std::get<1>(each.param) ? "Medium" : "Large");
}

INSTANTIATE_TEST_CASE_P(Paths, PathsTest,
                        testing::Combine(testing::Values(Paths::kOfDatabase, Paths::kOfFamily),
                                         testing::Bool()),
                        NameOf);

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
