// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What an opening takes away: nothing while anything is missing, and else it puts aside what
// nothing names.

#include <set>

#include "plugin/tiered_env/files/clock.h"
#include "plugin/tiered_env/files/lost.h"
#include "plugin/tiered_env/files/stub.h"
#include "test/mistakes/tiered_env_durable.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kDay = 24 * 60 * 60;  // seconds

class LostMistakes : public DurableMistakes {
 protected:
  // So many seconds later.
  static void Wait(uint64_t seconds) {
    SyncPoint::GetInstance()->SetCallBack(
        "SecondsSince1970", [seconds](void* now) { *static_cast<uint64_t*>(now) += seconds; });
    SyncPoint::GetInstance()->EnableProcessing();
  }
  std::vector<std::string> LostIn(const std::string& tier) const {
    std::vector<std::string> names;
    const std::string lost = FolderIn(tier) + "/lost";
    if (fs::exists(lost)) {
      for (const auto& entry : fs::directory_iterator(lost)) {
        names.push_back(entry.path().filename().string());
      }
    }
    return names;
  }
  // Below the tier: its folder and name.
  std::string PathOf(const std::string& base) const {
    Stub stub;
    EXPECT_OK(Stub::Decode(ReadFile(db_name_ + "/" + base), base, &stub));
    return TierPath(stub.tier) + "/" + stub.path;
  }
};

TEST_F(LostMistakes, AnOldHomeOverFullTiers) {
  FillTiers();
  fs::copy(db_name_, folder_ + "/old", fs::copy_options::recursive);
  ASSERT_OK(TryOpen(Tiers()));
  Fill(20000);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Settle();
  Fill(200);
  Close();
  fs::rename(db_name_, folder_ + "/newest");
  fs::rename(folder_ + "/old", db_name_);
  EXPECT_FALSE(TryOpen(Tiers()).ok());
  Close();
  fs::remove_all(db_name_);
  fs::rename(folder_ + "/newest", db_name_);
  ExpectWhole(Tiers());
}

TEST_F(LostMistakes, PathsThatChangedPlacesWithLogsInATier) {
  const std::string placement = "0..1=fast;2..=slow;wal=fast";
  FillTiers(placement);
  ASSERT_OK(TryOpen(Tiers(), placement));
  WriteOptions synced;
  synced.sync = true;
  for (int i = 0; i < 1000; i++) {
    auto it = model_.begin();
    std::advance(it, i);
    it->second = "overwritten " + std::to_string(i);
    ASSERT_OK(db_->Put(synced, it->first, it->second));
  }
  Close();
  const std::string swapped =
      "fast={path=" + TierPath("slow") + "};slow={path=" + TierPath("fast") + "}";
  EXPECT_FALSE(TryOpen(swapped, placement).ok());
  EXPECT_FALSE(TryOpen(swapped, placement).ok());
  ExpectWhole(Tiers(), placement);
}

TEST_F(LostMistakes, WhatNothingNamesIsPutAside) {
  FillTiers();
  const std::string precious = FolderIn("slow") + "/000999.sst.0123456789abcdef";
  const std::string unfinished = FolderIn("slow") + "/000998.sst.0123456789abcdef.tiers-tmp";
  WriteFile(precious, "precious");
  WriteFile(unfinished, "half of it");
  ExpectWhole(Tiers());
  EXPECT_FALSE(fs::exists(precious));
  EXPECT_FALSE(fs::exists(unfinished));
  ASSERT_EQ(LostIn("slow").size(), 1u);
  EXPECT_EQ(ReadFile(FolderIn("slow") + "/lost/" + LostIn("slow")[0]), "precious");
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/true, &check));
  ASSERT_EQ(check.problems.size(), 1u);
  EXPECT_NE(check.problems[0].what.find("8 bytes"), std::string::npos) << check.problems[0].what;
  EXPECT_TRUE(check.problems[0].harmless);
  // A day less than the seven, and one more.
  Wait(6 * kDay);
  ExpectWhole(Tiers());
  EXPECT_EQ(LostIn("slow").size(), 1u);
  Wait(7 * kDay);
  ExpectWhole(Tiers());
  EXPECT_EQ(LostIn("slow").size(), 0u);
}

// A loss of power can leave a file under both of its names, and a name can be another file's.
TEST_F(LostMistakes, ANameThatIsTakenIsLeft) {
  FillTiers();
  const std::string precious = "000999.sst.0123456789abcdef";
  const std::string other = "000998.sst.0123456789abcdef";
  const std::string lost = FolderIn("slow") + "/lost";
  fs::create_directory(lost);
  WriteFile(FolderIn("slow") + "/" + precious, "precious");
  WriteFile(FolderIn("slow") + "/" + other, "put aside now");
  // All the seconds in which the opening can be.
  for (uint64_t i = 0, now = SecondsSince1970(); i < 100; i++) {
    const std::string time = "." + std::to_string(now + i);
    fs::create_hard_link(FolderIn("slow") + "/" + precious, lost + "/" + precious + time);
    WriteFile(lost + "/" + other + time, "put aside before");
  }
  ExpectWhole(Tiers());
  EXPECT_FALSE(fs::exists(FolderIn("slow") + "/" + precious));
  EXPECT_FALSE(fs::exists(FolderIn("slow") + "/" + other));
  int now = 0;
  int before = 0;
  for (const std::string& name : LostIn("slow")) {
    const std::string text = ReadFile(lost + "/" + name);
    now += text == "put aside now" ? 1 : 0;
    before += text == "put aside before" ? 1 : 0;
  }
  EXPECT_EQ(now, 1);
  EXPECT_EQ(before, 100);
}

TEST_F(LostMistakes, AStubBringsItsFileBack) {
  FillTiers();
  const std::string path = PathOf(OneIn("slow"));
  fs::create_directory(FolderIn("slow") + "/lost");
  fs::rename(path, FolderIn("slow") + "/lost/" + fs::path(path).filename().string() + ".1000");
  Wait(30 * kDay);
  ExpectWhole(Tiers());
  EXPECT_TRUE(fs::exists(path));
  EXPECT_NE(Log().find("is back from"), std::string::npos);
}

TEST_F(LostMistakes, WhileAnythingIsMissingNothingIsTakenAway) {
  FillTiers();
  const std::string precious = FolderIn("fast") + "/000999.sst.0123456789abcdef";
  WriteFile(precious, "precious");
  const std::string old = FolderIn("fast") + "/lost/000997.sst.0123456789abcdef.1000";
  fs::create_directory(FolderIn("fast") + "/lost");
  WriteFile(old, "precious, too");
  const std::string copy = db_name_ + "/000996.sst.tiers-tmp";
  WriteFile(copy, "the only copy");
  const std::string path = PathOf(OneIn("slow"));
  const std::string stub = db_name_ + "/" + OneIn("slow");
  for (const std::string& victim : {path, stub}) {
    fs::rename(victim, folder_ + "/away");
    EXPECT_FALSE(TryOpen(Tiers()).ok());
    Close();
    uint64_t files;
    uint64_t bytes;
    EXPECT_FALSE(PurgeTiers(fs_.get(), db_name_, &files, &bytes).ok());
    EXPECT_TRUE(fs::exists(precious));
    EXPECT_TRUE(fs::exists(old));
    EXPECT_TRUE(fs::exists(copy));
    fs::rename(folder_ + "/away", victim);
  }
  ExpectWhole(Tiers());
  EXPECT_FALSE(fs::exists(precious));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_EQ(LostIn("fast").size(), 1u);
  uint64_t files;
  uint64_t bytes;
  ASSERT_OK(PurgeTiers(fs_.get(), db_name_, &files, &bytes));
  EXPECT_EQ(files, 1u);
  EXPECT_EQ(bytes, 8u);
  EXPECT_EQ(LostIn("fast").size(), 0u);
  ExpectWhole(Tiers());
}

TEST_F(LostMistakes, WhatWasPutAsideHasABudget) {
  FillTiers();
  fs::create_directory(FolderIn("slow") + "/lost");
  const uint64_t now = SecondsSince1970();
  for (int day = 0; day < 5; day++) {
    WriteFile(FolderIn("slow") + "/lost/00099" + std::to_string(day) + ".sst.0123456789abcdef." +
                  std::to_string(now - day * kDay),
              std::string(1000, 'x'));
  }
  NewFs(Tiers(), kPlacement, "orphan_budget=2500");
  Open();
  Verify();
  Close();
  EXPECT_EQ(LostIn("slow").size(), 2u);
  NewFs(Tiers(), kPlacement, "orphan_budget=500");
  Open();
  Close();
  EXPECT_EQ(LostIn("slow").size(), 1u);  // it is not a day old
}

TEST_F(LostMistakes, WithoutCurrentNoNewDatabaseIsMade) {
  FillTiers();
  std::map<std::string, std::string> metadata;
  for (const char* manifest : {"", "with"}) {
    for (const auto& entry : fs::directory_iterator(db_name_)) {
      const std::string base = entry.path().filename().string();
      if (base == "CURRENT" || (*manifest != 0 && base.compare(0, 8, "MANIFEST") == 0)) {
        metadata[base] = ReadFile(entry.path().string());
      }
    }
    for (const auto& [base, contents] : metadata) {
      fs::remove(db_name_ + "/" + base);
    }
    std::set<std::string> before;
    for (const auto& [path, contents] : Everything()) {
      before.insert(path);
    }
    const Status s = TryOpen(Tiers());
    for (const char* text : {"CURRENT", "tiers have", "RepairDB"}) {
      EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
    }
    Close();
    std::set<std::string> after;
    for (const auto& [path, contents] : Everything()) {
      after.insert(path);
    }
    EXPECT_EQ(before, after);
    for (const auto& [base, contents] : metadata) {
      WriteFile(db_name_ + "/" + base, contents);
    }
    ExpectWhole(Tiers());
    metadata.clear();
  }
}

}  // namespace

}  // namespace rocktier
