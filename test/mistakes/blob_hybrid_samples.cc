// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A database that the first version has written: see data/README.md.

#include "plugin/blob_hybrid/properties.h"
#include "plugin/blob_hybrid/verify.h"
#include "rocksdb/utilities/options_util.h"
#include "test/blob_hybrid/support.h"
#include "test/mistakes/samples.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 60;

class BlobSamples : public HybridDb {
 protected:
  BlobSamples() {
    options_.min_blob_size = 2000;
    hybrid_.medium_value_size = 200;
    hybrid_.transient_log_budget = 0;
    const std::string sample = rocktier::SamplePath("blob_hybrid_v1.tar.gz");
    EXPECT_EQ(0, system(("tar -xzf '" + sample + "' -C '" + root_ + "'").c_str()));
  }

  static size_t BytesOf(int i) { return i % 20 == 0 ? 2500 : i % 3 == 0 ? 60 : 400; }

  // Even ones were overwritten, then one was deleted, and a range, and one of these was written
  // again.
  static std::string Expected(int i) {
    if (i == 41 || (i >= 30 && i < 40 && i != 35)) {
      return "none";
    }
    return ValueOf(i, i == 35 ? 2 : i % 2 == 0 ? 1 : 0, BytesOf(i));
  }

  void ExpectSample() {
    for (int i = 0; i < kKeys; i++) {
      ASSERT_EQ(Expected(i), Get(i)) << i;
    }
  }
};

TEST_F(BlobSamples, FirstVersionIsWhole) {
  std::map<std::string, BlobCheck> families;
  ASSERT_OK(VerifyBlobs(path_, &families));
  ASSERT_EQ(1u, families.size());
  EXPECT_EQ(0u, families.begin()->second.problem_count);
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> descriptors;
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), path_, &db_options, &descriptors));
  EXPECT_EQ(1u, db_options.listeners.size());
}

TEST_F(BlobSamples, PropertiesOfTheFirstVersionAreRead) {
  Open();
  ExpectSample();
  EXPECT_GT(Stats().medium_bytes, 1000u);
  TablePropertiesCollection tables;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  EXPECT_EQ(3u, tables.size());
  for (const auto& [name, properties] : tables) {
    EXPECT_NE(nullptr, ReferencesOf(properties->user_collected_properties)) << name;
    EXPECT_NE(nullptr, SketchOf(properties->user_collected_properties)) << name;
  }
}

TEST_F(BlobSamples, JobWorksOnWhatTheFirstVersionHasWritten) {
  LeaveToTheJob();
  hybrid_.max_space_amplification = 1.5;
  hybrid_.space_floor = 4 << 10;
  const std::set<uint64_t> before = [this] {
    OpenWithoutPlugin();
    return BlobFiles();
  }();
  Close();
  Open();
  Put(0, 1, BytesOf(0));
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  EXPECT_GT(Stats().jobs, 0u) << Stats().ToString();
  EXPECT_NE(before, BlobFiles());
  ExpectSample();
  Compact();
  ExpectSample();
  Close();
  std::map<std::string, BlobCheck> families;
  ASSERT_OK(VerifyBlobs(path_, &families));
  EXPECT_EQ(0u, families.begin()->second.problem_count);
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
