// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The bounds of space and of the log where small, medium and large values are in one family.
// ROCKTIER_SEED: another seed.

#include <tuple>

#include "test/blob_hybrid/space.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

// The sizes of values, by the last digit of the key: small ones below 60 bytes, large ones from 500
// on.
struct Mix {
  const char* name;
  size_t sizes[10];
  bool changing = false;  // with each write
};
constexpr Mix kMixes[] = {
    {"Equal", {20, 100, 1000, 4000, 20, 100, 1000, 20, 100, 4000}},
    {"MostlyMedium", {20, 100, 1000, 100, 20, 100, 100, 4000, 100, 100}},
    {"NearlyAllMedium", {400, 400, 400, 20, 400, 400, 400, 1000, 400, 400}},
    {"Changing", {20, 400, 1000, 20, 400, 1000, 20, 400, 1000, 400}, true},
};

using Case = std::tuple<int, MergeLevel>;

class MixedTest : public SpaceTest, public testing::WithParamInterface<Case> {
 protected:
  MixedTest() {
    UseLog(std::get<1>(GetParam()));
    options_.min_blob_size = 500;
    hybrid_.medium_value_size = 60;
    options_.write_buffer_size = 32 << 10;
  }

  size_t SizeOf(int i) const override {
    const Mix& mix = kMixes[std::get<0>(GetParam())];
    return mix.sizes[(mix.changing ? i + version_ : i) % 10];
  }
};

TEST_P(MixedTest, UniformOverwrites) {
  Load();
  Overwrite(10 * kKeys, [this] { return Uniform(); });
  Finish();
  EXPECT_GT(Stats().merged_values, 0u);
  EXPECT_GT(Stats().moved_values, 0u);
}

// Frequent keys lie anywhere.
TEST_P(MixedTest, ZipfOverwrites) {
  const Zipf zipf(kKeys, 0.99);
  Load();
  Overwrite(10 * kKeys, [&] { return zipf.Next(&random_) * 7919 % kKeys; });
  Finish();
  EXPECT_GT(Stats().merged_values, 0u);
  EXPECT_GT(Stats().moved_values, 0u);
}

TEST_P(MixedTest, DeletionOfEverything) {
  LoadAndDeleteAll(/*may_miss=*/true);  // what is live may become less faster than the job works
}

TEST_P(MixedTest, Churn) {
  Open();
  WriteAndExpire(5 * kKeys);
  Finish();
  EXPECT_GT(Stats().merged_values, 0u);
}

std::string NameOf(const testing::TestParamInfo<Case>& each) {
  return std::string(kMixes[std::get<0>(each.param)].name) +
         (std::get<1>(each.param) == MergeLevel::kLast ? "Last" : "LastButOne");
}

INSTANTIATE_TEST_CASE_P(Mixes, MixedTest,
                        testing::Combine(testing::Range(0, static_cast<int>(std::size(kMixes))),
                                         testing::Values(MergeLevel::kLast,
                                                         MergeLevel::kLastButOne)),
                        NameOf);

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
