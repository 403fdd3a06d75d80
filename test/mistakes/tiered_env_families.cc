// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Budgets of column families that nothing fits, that no family goes by, or that are wrong. A family
// that is dropped.

#include "test/mistakes/tiered_env_durable.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

class FamilyMistakes : public DurableMistakes {
 protected:
  static constexpr char kAllFast[] = "0..=fast;blob=fast";

  TieredDirectoryInfo Look() const {
    TieredDirectoryInfo info;
    EXPECT_OK(InspectTiers(fs_.get(), db_name_, &info));
    return info;
  }
};

// No write fails, and nothing moves to and fro. The same with blob files, which are begun at once.
TEST_F(FamilyMistakes, ABudgetThatNoFileFitsInAnyTier) {
  const std::string tiers = Tiers("cf:*=1", "cf:*=1") + ";home={cf:*=1}";
  for (const bool blobs : {false, true}) {
    NewFs(tiers, kAllFast);
    Options options = DbOptions();
    options.enable_blob_files = blobs;
    Open(options);
    Fill(20000);
    Settle();
    Verify();
    const uint64_t moves = Moves();
    for (int i = 0; i < 3; i++) {
      ASSERT_OK(WaitForMoves(fs_.get()));
    }
    EXPECT_EQ(Moves(), moves);
    EXPECT_GT(StatsOf("home").files, StatsOf("fast").files + StatsOf("slow").files);
    Fill(200);
    Close();
    ExpectWhole(tiers, kAllFast);
  }
  // All of it comes where it belongs without the budgets.
  ASSERT_OK(TryOpen(Tiers(), kAllFast));
  Settle();
  EXPECT_EQ(StatsOf("home").files, 0u);
  Verify();
}

// The tier's own budget is full, and the next one's may not be used by the family.
TEST_F(FamilyMistakes, ABudgetBehindAFullTier) {
  const std::string tiers = Tiers("budget=100K", "cf:default=50K") + ";home={cf:default=50K}";
  ASSERT_OK(TryOpen(tiers, kAllFast));
  Fill(20000);
  Settle();
  EXPECT_LE(StatsOf("fast").bytes, uint64_t{100} << 10);
  EXPECT_GT(StatsOf("home").files, 0u);
  Verify();
  Close();
  ExpectWhole(tiers, kAllFast);
}

// Nothing is held then. "rocktier tier df" tells.
TEST_F(FamilyMistakes, ANameThatIsMisspeltOrNotReached) {
  ASSERT_OK(TryOpen(Tiers("cf:defualt=100K", "cf:*=1G;cf:default=100K"), kAllFast));
  Fill(20000);
  Settle();
  EXPECT_EQ(StatsOf("slow").files, 0u);
  const TieredDirectoryInfo info = Look();
  const std::vector<TieredFamilyInfo>& fast = info.tiers[0].families;
  ASSERT_EQ(fast.size(), 1u);
  EXPECT_EQ(fast[0].name, "defualt");
  EXPECT_TRUE(fast[0].is_pattern);
  const std::vector<TieredFamilyInfo>& slow = info.tiers[1].families;
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_EQ(slow[0].name, "default");
  EXPECT_FALSE(slow[0].is_pattern);
  EXPECT_EQ(slow[0].budget, uint64_t{1} << 30);
  EXPECT_EQ(slow[1].name, "default");
  EXPECT_TRUE(slow[1].is_pattern) << "the first pattern that fits counts";
  Verify();
}

TEST_F(FamilyMistakes, ATextThatIsWrongIsRefusedWithTheOption) {
  FillTiers();
  const auto before = Everything();
  for (const std::string& wrong : {std::string("cf:log=2GB"), std::string("cf:=2G"),
                                   std::string("cf:log/blob=2G"), std::string("cf:log=20%")}) {
    TieredOptions options;
    options.tiers = Tiers(wrong);
    options.placement = kPlacement;
    std::shared_ptr<FileSystem> fs;
    const Status s = NewTieredFileSystem(options, nullptr, &fs);
    EXPECT_TRUE(s.IsInvalidArgument()) << wrong;
    EXPECT_NE(s.ToString().find("TieredFileSystem: tiers: fast: " + wrong), std::string::npos)
        << s.ToString();
  }
  EXPECT_TRUE(Everything() == before);
  ExpectWhole(Tiers());
}

// Its blob files are gone for good, and nothing misses them.
TEST_F(FamilyMistakes, AFamilyWithBlobFilesThatIsDropped) {
  const std::string placement = "0..=fast;blob=slow";
  NewFs(Tiers(), placement);
  Options options = DbOptions();
  options.enable_blob_files = true;
  Open(options);
  Fill(2000);
  Settle();
  const size_t blobs = FilesOf(".blob").size();
  ASSERT_GT(blobs, 0u);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options, "log", &family));
  for (int i = 0; i < 100; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), family, std::to_string(i), std::string(100, 'x')));
  }
  ASSERT_OK(db_->Flush(FlushOptions(), family));
  ASSERT_GT(FilesOf(".blob").size(), blobs);
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  Settle();
  Close();
  ASSERT_EQ(FilesOf(".blob").size(), blobs);
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check));
  for (const TieredProblem& problem : check.problems) {
    EXPECT_TRUE(problem.harmless) << problem.path << " " << problem.what;
  }
  uint64_t moved = 0;
  ASSERT_OK(EvacuateTiers(fs_.get(), db_name_, &moved));
  EXPECT_GT(moved, 0u);
  ExpectWhole(Tiers(), placement);
}

// Tools keep to the budgets, and say whose.
TEST_F(FamilyMistakes, AToolThatWouldGoBeyondABudget) {
  FillTiers("0..=slow");
  NewFs(Tiers("cf:default=1K"), "0..=slow");
  const std::string base = OneIn("slow");
  std::string later;
  for (const bool dry_run : {true, false}) {
    const Status s = MoveToTier(fs_.get(), db_name_, base, "fast", &later, dry_run);
    EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
    EXPECT_NE(s.ToString().find("is beyond the budget of column family default in tier fast"),
              std::string::npos)
        << s.ToString();
  }
  // Home is the next tier that has room.
  uint64_t moved = 0;
  NewFs("slow={path=" + TierPath("slow") + "};fast={path=" + TierPath("fast") + ";cf:default=1K}",
        "0..=slow");
  ASSERT_OK(DrainTier(fs_.get(), db_name_, "slow", &moved));
  EXPECT_GT(moved, 0u);
  EXPECT_EQ(FilesIn("fast"), 0u);
  ExpectWhole(Tiers(), "0..=slow");
}

}  // namespace

}  // namespace rocktier
