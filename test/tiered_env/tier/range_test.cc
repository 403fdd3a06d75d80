// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Placement by the keys of SSTs.

#include <algorithm>

#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

// Keys are key1000000 to key1019999.
class TieredRangeTest : public TieredTest {
 protected:
  // Expects each SST in fast whose keys are all in [from, to), and all others in slow.
  void ExpectInFast(const std::string& from, const std::string& to) {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    int in_fast = 0;
    for (const LiveFileMetaData& file : files) {
      const bool fits = file.smallestkey >= from && (to.empty() || file.largestkey < to);
      EXPECT_EQ(TierOf(file.name.substr(1)), fits ? "fast" : "slow")
          << file.smallestkey << " to " << file.largestkey;
      in_fast += fits ? 1 : 0;
    }
    EXPECT_GT(in_fast, 0);
    EXPECT_LT(in_fast, static_cast<int>(files.size()));
  }
};

TEST_F(TieredRangeTest, SstsInTheRangeAreMovedThere) {
  NewFs(Tiers(), "range:key1005..key101=fast;0..=slow");
  Open();
  Fill(30000);
  Settle();
  ExpectInFast("key1005", "key101");
  Verify();
  Fill(10000);
  ExpectQuiet();
  ExpectInFast("key1005", "key101");
  Verify();
}

TEST_F(TieredRangeTest, AnotherRangeMovesWhatMustAndNothingElse) {
  NewFs(Tiers(), "range:..key1008=fast;0..=slow");
  Open();
  Fill(30000);
  Settle();
  ExpectInFast("", "key1008");
  std::map<std::string, std::string> before;
  for (const std::string& base : FilesOf(".sst")) {
    before[base] = TierOf(base);
  }
  Reopen(Tiers(), "range:..key1012=fast;0..=slow");
  Settle();
  ExpectInFast("", "key1012");
  uint64_t changed = 0;
  for (const std::string& base : FilesOf(".sst")) {
    changed += before.count(base) > 0 && before[base] != TierOf(base) ? 1 : 0;
  }
  EXPECT_EQ(Moves(), changed);
  EXPECT_GT(changed, 0u);
  Reopen(Tiers(), "range:key1012..=fast;0..=slow");
  Settle();
  ExpectInFast("key1012", "");
  Verify();
}

TEST_F(TieredRangeTest, WithALevelAndInHexadecimalDigits) {
  // 0x6b657931303035: key1005.
  NewFs(Tiers(), "range:0x6b657931303035../0=fast;0..=slow");
  Options options = DbOptions();
  options.disable_auto_compactions = true;
  Open(options);
  ASSERT_OK(db_->Put(WriteOptions(), "key1004", "below"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->Put(WriteOptions(), "key1005", "in"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  Settle();
  EXPECT_EQ(Census(), (std::map<std::string, int>{{"L0 fast", 1}, {"L0 slow", 1}}));
  CompactRangeOptions all;
  all.change_level = true;
  all.target_level = 2;
  ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
  Settle();
  EXPECT_EQ(Census(), (std::map<std::string, int>{{"L2 slow", 2}})) << "not of level 0 any more";
}

}  // namespace

}  // namespace rocktier
