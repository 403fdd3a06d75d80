// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The seed of the random plans is printed; ROCKTIER_SEED sets it.

#include "plugin/tiered_env/tier/placement.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>

#include "plugin/tiered_env/tier/plan.h"
#include "rocksdb/env.h"
#include "test/support/seed.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {
namespace {

const std::vector<std::string> kTiers = {"fast", "mid", "slow", "home"};
constexpr int kHome = 3;

Facts Table(int level, LevelRange shape, Temperature temperature = Temperature::kUnknown) {
  Facts facts;
  facts.content = Content::kTable;
  facts.level = level;
  facts.shape = shape;
  facts.temperature = temperature;
  return facts;
}

Facts File(Content content) {
  Facts facts;
  facts.content = content;
  return facts;
}

std::string TierOf(const std::string& rules, const Facts& facts) {
  Placement placement;
  EXPECT_OK(Placement::Parse(rules, kTiers, &placement)) << rules;
  return kTiers[static_cast<size_t>(placement.TierOf(facts, kHome))];
}

// Tiers of the levels from 0 on, each by its first letter.
std::string Levels(const std::string& rules, LevelRange shape, int levels = 7) {
  std::string tiers;
  for (int level = 0; level < levels; level++) {
    tiers += TierOf(rules, Table(level, shape))[0];
  }
  return tiers;
}

TEST(TieredPlacementTest, RulesOfLevels) {
  const struct {
    const char* rules;
    LevelRange shape;
    const char* tiers;  // f, m, s and h of L0 to L6
  } kCases[] = {
      {"", {1, 6}, "hhhhhhh"},
      {"0=fast", {1, 6}, "fhhhhhh"},
      {"0..2=fast;3..=slow", {1, 6}, "fffssss"},
      {"{0..2=fast;3..=slow}", {1, 6}, "fffssss"},
      {" 0 .. 2 = fast ; 3 .. = slow ; ", {1, 6}, "fffssss"},
      {"0..=fast", {1, 6}, "fffffff"},
      {"2..2=mid", {1, 6}, "hhmhhhh"},
      {"0..3=fast;2..5=mid;0..=slow", {1, 6}, "ffffmms"},
      {"last=slow;0..=fast", {1, 6}, "ffffffs"},
      {"last-1..last=slow", {1, 6}, "hhhhhss"},
      {"last-1..=slow", {1, 6}, "hhhhhss"},
      {"last-2=slow", {1, 6}, "hhhhshh"},
      {"base+1..=slow", {1, 6}, "hhsssss"},
      {"base..base+1=mid;base+2..=slow;0=fast", {1, 6}, "fmmssss"},
      {"base..last-1=mid;last=slow", {1, 6}, "hmmmmms"},
      {"1..last-1=mid;last=slow", {1, 6}, "hmmmmms"},
      {"9=slow;10..=mid", {1, 6}, "hhhhhhh"},
      {"wal=fast;blob=slow;meta=mid", {1, 6}, "hhhhhhh"},
      {"home=fast", {1, 6}, nullptr},
      {"0..=home;0=fast", {1, 6}, "hhhhhhh"},
  };
  for (const auto& c : kCases) {
    if (c.tiers == nullptr) {
      Placement placement;
      EXPECT_TRUE(Placement::Parse(c.rules, kTiers, &placement).IsInvalidArgument()) << c.rules;
    } else {
      EXPECT_EQ(Levels(c.rules, c.shape), c.tiers) << c.rules;
    }
  }
}

// With level_compaction_dynamic_level_bytes the base comes up as the database grows.
TEST(TieredPlacementTest, RelativeRulesFollowTheBase) {
  const std::string rules = "0=fast;base=fast;base+1=mid;base+2..=slow";
  const struct {
    LevelRange shape;
    int level;
    const char* tier;
  } kCases[] = {
      {{6, 6}, 0, "fast"},
      {{6, 6}, 6, "fast"},  // L0 and L6
      {{5, 6}, 0, "fast"},
      {{5, 6}, 5, "fast"},
      {{5, 6}, 6, "mid"},  // the base is L5
      {{4, 6}, 0, "fast"},
      {{4, 6}, 4, "fast"},
      {{4, 6}, 5, "mid"},
      {{4, 6}, 6, "slow"},
      // The first file of a new base, or of a new last level, is of the new shape.
      {{6, 6}, 5, "fast"},
      {{6, 6}, 4, "fast"},
      {{1, 2}, 3, "slow"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(TierOf(rules, Table(c.level, c.shape)), c.tier)
        << "L" << c.level << " of L" << c.shape.base << " to L" << c.shape.last;
  }
}

TEST(TieredPlacementTest, RelativeRulesFollowTheLastLevel) {
  const std::string rules = "last-1..last=slow;0..=fast";
  EXPECT_EQ(Levels(rules, {1, 1}, 2), "fs") << "L0 is not last-1";
  EXPECT_EQ(Levels(rules, {1, 2}, 3), "fss");
  EXPECT_EQ(Levels(rules, {1, 3}, 4), "ffss");
  EXPECT_EQ(TierOf("last=slow;0..=fast", Table(4, {1, 3})), "slow") << "a new last level";
  EXPECT_EQ(TierOf("last-1=slow;0..=fast", Table(1, {1, 1})), "fast");
  EXPECT_EQ(TierOf("0..last-1=slow", Table(0, {1, 1})), "slow") << "L0 by its number";
}

TEST(TieredPlacementTest, TheFirstRuleThatFitsCounts) {
  const Facts cold = Table(1, {1, 3}, Temperature::kCold);
  EXPECT_EQ(TierOf("cold=slow;0..=fast", cold), "slow");
  EXPECT_EQ(TierOf("0..=fast;cold=slow", cold), "fast");
  EXPECT_EQ(TierOf("hot=fast;warm=mid", cold), "home");
  EXPECT_EQ(TierOf("cold=slow;0..=fast", Table(1, {1, 3})), "fast") << "it has no temperature";
  EXPECT_EQ(TierOf("cold=slow;0..=fast", Table(1, {1, 3}, Temperature::kHot)), "fast");
}

TEST(TieredPlacementTest, AFileWhoseLevelIsNotKnownFitsNoLevels) {
  EXPECT_EQ(TierOf("0..=fast;base=fast;last=fast", Table(-1, {1, 6})), "home");
  EXPECT_EQ(TierOf("0..=fast;cold=slow", Table(-1, {1, 6}, Temperature::kCold)), "slow");
}

TEST(TieredPlacementTest, OtherFilesHaveRulesOfTheirOwn) {
  const std::string rules = "0..=slow;wal=fast;blob=mid;meta=fast";
  EXPECT_EQ(TierOf(rules, File(Content::kWal)), "fast");
  EXPECT_EQ(TierOf(rules, File(Content::kBlob)), "mid");
  EXPECT_EQ(TierOf(rules, File(Content::kMeta)), "fast");
  EXPECT_EQ(TierOf(rules, File(Content::kOther)), "home");
  EXPECT_EQ(TierOf("0..=slow", File(Content::kWal)), "home");
  Facts blob = File(Content::kBlob);
  blob.level = 0;
  blob.temperature = Temperature::kCold;
  EXPECT_EQ(TierOf("0..=slow;cold=slow", blob), "home") << "levels and temperatures are of SSTs";
}

TEST(TieredPlacementTest, RulesOfAnAge) {
  const std::string rules =
      "older:7d/blob=slow;blob=fast;older: 12h / 1..2=mid;older:90m=home;0..=fast";
  const auto at = [&](Facts facts, uint64_t age) {
    facts.age = age;
    return TierOf(rules, facts);
  };
  const uint64_t week = 7 * 24 * 60 * 60;
  EXPECT_EQ(at(File(Content::kBlob), 0), "fast");
  EXPECT_EQ(at(File(Content::kBlob), week - 1), "fast");
  EXPECT_EQ(at(File(Content::kBlob), week), "slow");
  EXPECT_EQ(at(Table(1, {1, 3}), 89 * 60), "fast");
  EXPECT_EQ(at(Table(1, {1, 3}), 90 * 60), "home");
  EXPECT_EQ(at(Table(1, {1, 3}), 12 * 3600), "mid");
  EXPECT_EQ(at(Table(3, {1, 3}), week), "home") << "a rule of a level and an age";
  EXPECT_EQ(at(File(Content::kWal), week), "home");
  EXPECT_EQ(at(File(Content::kMeta), week), "home");
  Placement placement;
  ASSERT_OK(Placement::Parse(rules, kTiers, &placement));
  EXPECT_EQ(placement.LeastAge(), 90 * 60u);
  ASSERT_OK(Placement::Parse("older:3s/cold=slow", kTiers, &placement));
  EXPECT_EQ(placement.LeastAge(), 3u);
  ASSERT_OK(Placement::Parse("0..=slow", kTiers, &placement));
  EXPECT_EQ(placement.LeastAge(), 0u);
}

TEST(TieredPlacementTest, RulesOfColumnFamilies) {
  const std::string rules =
      "cf:users/0..1=fast;cf:log_*/older:1d=slow;older:2d/cf:log_*/blob=mid;cf:log_*=fast;"
      "cf:[ab]?=mid;0..=slow";
  const auto of = [&](Facts facts, const std::string& family, uint64_t age = 0) {
    facts.family = family;
    facts.age = age;
    return TierOf(rules, facts);
  };
  const uint64_t day = 24 * 60 * 60;
  EXPECT_EQ(of(Table(0, {1, 3}), "users"), "fast");
  EXPECT_EQ(of(Table(2, {1, 3}), "users"), "slow");
  EXPECT_EQ(of(Table(0, {1, 3}), "users2"), "slow");
  EXPECT_EQ(of(Table(0, {1, 3}), "default"), "slow");
  EXPECT_EQ(of(Table(2, {1, 3}), "log_2026"), "fast");
  EXPECT_EQ(of(Table(2, {1, 3}), "log_2026", day), "slow");
  EXPECT_EQ(of(File(Content::kBlob), "log_"), "fast");
  EXPECT_EQ(of(File(Content::kBlob), "log_", 3 * day), "slow") << "the first rule that fits";
  EXPECT_EQ(of(File(Content::kBlob), "b1"), "mid");
  EXPECT_EQ(of(File(Content::kBlob), "b12"), "home");
  EXPECT_EQ(of(File(Content::kBlob), ""), "home") << "not known";
  EXPECT_EQ(of(Table(0, {1, 3}), ""), "slow");
  EXPECT_EQ(of(File(Content::kWal), ""), "home");
  Placement placement;
  ASSERT_OK(Placement::Parse("cf:a=mid;blob=slow;wal=fast", kTiers, &placement));
  EXPECT_TRUE(placement.HasIn(1, Content::kTable));
  EXPECT_TRUE(placement.HasIn(1, Content::kBlob));
  EXPECT_FALSE(placement.HasIn(1, Content::kWal));
  EXPECT_TRUE(placement.HasIn(2, Content::kBlob));
  EXPECT_FALSE(placement.HasIn(2, Content::kTable));
  EXPECT_TRUE(placement.HasIn(0, Content::kWal));
  for (const auto& [text, of_families] :
       std::map<std::string, bool>{{"", false},
                                   {"0..1=fast;blob=slow;older:1d=mid;range:a..b=slow", false},
                                   {"0..1=fast;cf:a=mid", true},
                                   {"older:1d/cf:a*/blob=slow", true}}) {
    ASSERT_OK(Placement::Parse(text, kTiers, &placement));
    EXPECT_EQ(placement.HasFamilies(), of_families) << text;
  }
}

TEST(TieredPlacementTest, RulesOfKeys) {
  const std::string rules =
      "range:b..d=fast;range:0x00ff..0x01/2..=slow;range:x../cf:users=mid;range:..a/1=slow";
  const auto of = [&](const std::string& smallest, const std::string& largest, int level = 1) {
    Facts facts = Table(level, {1, 3});
    facts.keys = std::make_shared<KeyRange>(KeyRange{smallest, largest});
    return TierOf(rules, facts);
  };
  EXPECT_EQ(of("b", "czzz"), "fast");
  EXPECT_EQ(of("b", "d"), "home") << "the end is not in the range";
  EXPECT_EQ(of("azz", "c"), "home") << "all keys must be";
  EXPECT_EQ(of(std::string("\0\xff", 2), std::string("\0\xff\xff", 3), 2), "slow");
  EXPECT_EQ(of(std::string("\0\xff", 2), std::string("\1", 1), 2), "home");
  EXPECT_EQ(of("", "Z"), "slow");
  EXPECT_EQ(of("x", "y"), "home") << "of another family";
  EXPECT_EQ(TierOf(rules, Table(1, {1, 3})), "home") << "not known";
  EXPECT_EQ(TierOf("range:..z=fast", File(Content::kBlob)), "home");
  Facts facts = Table(1, {1, 3});
  facts.keys = std::make_shared<KeyRange>(KeyRange{"x", "y"});
  facts.family = "users";
  EXPECT_EQ(TierOf(rules, facts), "mid");
}

TEST(TieredPlacementTest, ErrorsNameTheRule) {
  const std::vector<std::string> bad = {"0=nvme",
                                        "0=",
                                        "=fast",
                                        "2..1=fast",
                                        "base+2..base+1=fast",
                                        "last..last-1=fast",
                                        "base-1=fast",
                                        "last+1=fast",
                                        "base+=fast",
                                        "base1=fast",
                                        "-1=fast",
                                        "..2=fast",
                                        "0...2=fast",
                                        "0..2..3=fast",
                                        "1000=fast",
                                        "L1=fast",
                                        "Cold=fast",
                                        "unknown=fast",
                                        "kCold=fast",
                                        "sst=fast",
                                        "baseline=fast",
                                        "last - 1=fast",
                                        "1.5=fast",
                                        "0x1=fast",
                                        "0=Fast",
                                        "older=fast",
                                        "older:=fast",
                                        "older:7=fast",
                                        "older:0d=fast",
                                        "older:7w=fast",
                                        "older:-7d=fast",
                                        "older:1.5d=fast",
                                        "older:36501d=fast",
                                        "older:99999999999999999999d=fast",
                                        "older:400000000000000000h=fast",
                                        "older:7d/=fast",
                                        "older:7d/wal=fast",
                                        "older:7d/meta=fast",
                                        "older:7d/older:8d=fast",
                                        "older:7d//blob=fast/",
                                        "blob/older:7d=fast",
                                        "cf:=fast",
                                        "cf=fast",
                                        "cf:a/=fast",
                                        "cf:a/cf:b=fast",
                                        "cf:a/wal=fast",
                                        "cf:a/meta=fast",
                                        "cf:a/b=fast",
                                        "/cf:a=fast",
                                        "range:=fast",
                                        "range:a=fast",
                                        "range:..=fast",
                                        "range:b..a=fast",
                                        "range:a..a=fast",
                                        "range:a..b..c=fast",
                                        "range:0x6..=fast",
                                        "range:0xxx..=fast",
                                        "range:a..b/range:a..b=fast",
                                        "range:a..b/blob=fast",
                                        "range:a..b/wal=fast"};
  for (const std::string& rule : bad) {
    Placement placement;
    ASSERT_OK(Placement::Parse("0..=mid", kTiers, &placement));
    const Status s = Placement::Parse("last=slow;" + rule + ";0=mid", kTiers, &placement);
    EXPECT_TRUE(s.IsInvalidArgument()) << rule;
    EXPECT_NE(s.ToString().find("placement: " + rule), std::string::npos) << s.ToString();
    EXPECT_EQ(placement.TierOf(Table(6, {1, 6}), kHome), 1) << "the result is left as it was";
  }
}

TEST(TieredPlacementTest, LevelsOfHints) {
  const struct {
    int hint;
    bool flush;
    LevelRange shape;
    int level;
  } kCases[] = {
      {Env::WLTH_SHORT, true, {1, 6}, 0},
      {Env::WLTH_MEDIUM, true, {1, 6}, 0},
      {Env::WLTH_NOT_SET, true, {4, 6}, 0},
      {Env::WLTH_NOT_SET, false, {1, 6}, -1},
      {Env::WLTH_NONE, false, {1, 6}, -1},
      {Env::WLTH_SHORT, false, {1, 6}, -1},
      {99, false, {1, 6}, -1},
      {Env::WLTH_MEDIUM, false, {1, 6}, 1},
      {Env::WLTH_MEDIUM, false, {5, 6}, 5},
      {Env::WLTH_LONG, false, {1, 6}, 2},
      {Env::WLTH_LONG, false, {5, 6}, 6},
      {Env::WLTH_EXTREME, false, {1, 6}, 6},
      {Env::WLTH_EXTREME, false, {4, 6}, 6},
      {Env::WLTH_EXTREME, false, {1, 1}, 3},
      {Env::WLTH_EXTREME, false, {1, 2}, 3},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(LevelOfHint(c.hint, c.flush, c.shape), c.level)
        << "hint " << c.hint << " flush " << c.flush << " base " << c.shape.base;
  }
}

PlannedFile AFile(uint64_t number, uint64_t size, int level, int tier, int wanted) {
  PlannedFile file;
  file.number = number;
  file.size = size;
  file.level = level;
  file.tier = tier;
  file.wanted = wanted;
  return file;
}

PlannedTier ATier(uint64_t budget, uint64_t reserved = 0, bool usable = true) {
  PlannedTier tier;
  tier.budget = budget;
  tier.reserved = reserved;
  tier.usable = usable;
  return tier;
}

using Tiers = std::vector<int>;

TEST(TieredPlanTest, WhatHasRoomGoesWhereItBelongs) {
  EXPECT_EQ(Plan({}, {ATier(0)}), Tiers());
  EXPECT_EQ(Plan({AFile(1, 10, 0, 1, 0), AFile(2, 10, 1, 0, 1)}, {ATier(10), ATier(0)}),
            (Tiers{0, 1}));
}

TEST(TieredPlanTest, SpillsAlongTheChain) {
  const std::vector<PlannedFile> files = {AFile(1, 10, 3, 0, 0), AFile(2, 10, 2, 0, 0),
                                          AFile(3, 10, 1, 0, 0), AFile(4, 10, 0, 0, 0)};
  EXPECT_EQ(Plan(files, {ATier(10), ATier(10), ATier(10), ATier(0)}), (Tiers{3, 2, 1, 0}));
  EXPECT_EQ(Plan(files, {ATier(25), ATier(10), ATier(0)}), (Tiers{2, 1, 0, 0}));
  // What spills has the claim of its level in the next tier as well.
  EXPECT_EQ(Plan({AFile(1, 10, 2, 1, 1), AFile(2, 10, 1, 0, 0), AFile(3, 10, 0, 0, 0)},
                 {ATier(10), ATier(10), ATier(0)}),
            (Tiers{2, 1, 0}));
  // A small file takes the room that a larger one before it cannot use.
  EXPECT_EQ(Plan({AFile(1, 30, 0, 1, 0), AFile(2, 10, 1, 1, 0)}, {ATier(20), ATier(0)}),
            (Tiers{1, 0}));
}

TEST(TieredPlanTest, ComesBackWhenThereIsRoom) {
  std::vector<PlannedFile> files = {AFile(1, 10, 1, 0, 0), AFile(2, 10, 1, 1, 0)};
  const std::vector<PlannedTier> tiers = {ATier(10), ATier(0)};
  EXPECT_EQ(Plan(files, tiers), (Tiers{0, 1}));
  files.erase(files.begin());
  EXPECT_EQ(Plan(files, tiers), (Tiers{0}));
}

TEST(TieredPlanTest, WithinALevelIncumbentsStayThenTheNewestCome) {
  const std::vector<PlannedTier> tiers = {ATier(20), ATier(0)};
  EXPECT_EQ(Plan({AFile(1, 10, 1, 0, 0), AFile(2, 10, 1, 1, 0), AFile(3, 10, 1, 1, 0)}, tiers),
            (Tiers{0, 1, 0}));
  EXPECT_EQ(Plan({AFile(1, 20, 1, 0, 0), AFile(9, 20, 1, 1, 0)}, tiers), (Tiers{0, 1}));
  EXPECT_EQ(Plan({AFile(1, 20, 1, 0, 0), AFile(9, 20, 0, 1, 0)}, tiers), (Tiers{1, 0}))
      << "a lower level comes first";
}

TEST(TieredPlanTest, ReservedBytesAreOfTheBudget) {
  const std::vector<PlannedFile> files = {AFile(1, 10, 0, 1, 0)};
  EXPECT_EQ(Plan(files, {ATier(100, 90), ATier(0)}), (Tiers{0}));
  EXPECT_EQ(Plan(files, {ATier(100, 91), ATier(0)}), (Tiers{1}));
  EXPECT_EQ(Plan(files, {ATier(100, 101), ATier(0)}), (Tiers{1}));
  EXPECT_EQ(Plan(files, {ATier(0, 1000), ATier(0)}), (Tiers{0})) << "no limit";
}

TEST(TieredPlanTest, AnUnusableTierIsDrained) {
  const PlannedTier gone = ATier(0, 0, false);
  const std::vector<PlannedFile> files = {AFile(1, 10, 0, 1, 1), AFile(2, 10, 1, 0, 1)};
  EXPECT_EQ(Plan(files, {ATier(0), gone, ATier(0)}), (Tiers{2, 2}));
  EXPECT_EQ(Plan(files, {ATier(0), gone}), (Tiers{0, 0})) << "back, if there is none after it";
  EXPECT_EQ(Plan(files, {ATier(5), gone}), (Tiers{1, 0})) << "they have room nowhere";
}

TEST(TieredPlanTest, AFullLastTierSpillsToTheNearestBefore) {
  const std::vector<PlannedFile> files = {AFile(1, 10, 5, 2, 2), AFile(2, 10, 6, 2, 2),
                                          AFile(3, 10, 0, 0, 0)};
  EXPECT_EQ(Plan(files, {ATier(0), ATier(0), ATier(10)}), (Tiers{2, 1, 0}));
  EXPECT_EQ(Plan(files, {ATier(20), ATier(5), ATier(10)}), (Tiers{2, 0, 0}));
  EXPECT_EQ(Plan(files, {ATier(15), ATier(5), ATier(10)}), (Tiers{2, 2, 0}))
      << "what has room nowhere stays";
}

PlannedFile Of(int family, PlannedFile file) {
  file.family = family;
  return file;
}

// With what two families may have there.
PlannedTier With(PlannedTier tier, uint64_t first, uint64_t second, uint64_t reserved = 0) {
  tier.families = {{first, reserved}, {second, 0}};
  return tier;
}

TEST(TieredPlanTest, AFamilyHasItsBudgetAndNoMore) {
  const std::vector<PlannedFile> files = {
      Of(0, AFile(1, 10, 1, 0, 0)), Of(0, AFile(2, 10, 0, 0, 0)), Of(1, AFile(3, 10, 1, 0, 0)),
      Of(1, AFile(4, 10, 1, 0, 0)), AFile(5, 10, 1, 0, 0)};
  const PlannedTier home = With(ATier(0), 0, 0);
  EXPECT_EQ(Plan(files, {With(ATier(0), 10, 0), home}), (Tiers{1, 0, 0, 0, 0}))
      << "its deepest level leaves";
  EXPECT_EQ(Plan(files, {With(ATier(0), 0, 10), home}), (Tiers{0, 0, 1, 0, 0}))
      << "of a level the oldest leaves";
  EXPECT_EQ(Plan(files, {With(ATier(0), 5, 5), home}), (Tiers{1, 1, 1, 1, 0}));
  EXPECT_EQ(Plan(files, {With(ATier(0), 20, 20, 10), home}), (Tiers{1, 0, 0, 0, 0}))
      << "what is being written counts";
  // What it leaves of the tier's budget is the others'.
  EXPECT_EQ(Plan(files, {With(ATier(40), 10, 0), home}), (Tiers{1, 0, 0, 0, 0}));
  EXPECT_EQ(Plan(files, {With(ATier(30), 10, 0), home}), (Tiers{1, 0, 1, 0, 0}));
  // It comes back.
  EXPECT_EQ(Plan({Of(0, AFile(1, 10, 1, 1, 0))}, {With(ATier(0), 10, 0), home}), (Tiers{0}));
  // The next tier may have a budget for it, too.
  EXPECT_EQ(Plan(files, {With(ATier(0), 10, 10), With(ATier(0), 5, 10), home}),
            (Tiers{2, 0, 1, 0, 0}));
  EXPECT_EQ(Plan(files, {With(ATier(0), 10, 10), With(ATier(0), 10, 5)}), (Tiers{1, 0, 0, 0, 0}))
      << "what has room nowhere stays";
}

struct Scene {
  std::vector<PlannedFile> files;
  std::vector<PlannedTier> tiers;
};

Scene RandomScene(std::mt19937_64* random) {
  const auto below = [random](uint64_t n) { return (*random)() % n; };
  Scene scene;
  const uint64_t count = 1 + below(5);
  const uint64_t largest = 1 + below(60);
  for (uint64_t i = 0; i < count; i++) {
    scene.tiers.push_back(
        ATier(below(5) == 0 ? 0 : 1 + below(300), below(4) == 0 ? below(100) : 0, below(6) != 0));
  }
  const uint64_t families = below(4);
  for (PlannedTier& tier : scene.tiers) {
    for (uint64_t i = 0; i < families; i++) {
      tier.families.push_back({below(3) == 0 ? 1 + below(150) : 0, below(4) == 0 ? below(50) : 0});
    }
  }
  for (uint64_t i = below(60); i > 0; i--) {
    scene.files.push_back(AFile(i, below(largest), static_cast<int>(below(4)),
                                static_cast<int>(below(count)), static_cast<int>(below(count))));
    scene.files.back().family = static_cast<int>(below(families + 1)) - 1;
  }
  std::shuffle(scene.files.begin(), scene.files.end(), *random);
  return scene;
}

void Apply(const Tiers& plan, Scene* scene) {
  ASSERT_EQ(plan.size(), scene->files.size());
  for (size_t i = 0; i < plan.size(); i++) {
    ASSERT_GE(plan[i], 0);
    ASSERT_LT(static_cast<size_t>(plan[i]), scene->tiers.size());
    scene->files[i].tier = plan[i];
  }
}

// Bytes of a tier that are not used; none if it is over its budget.
uint64_t Left(uint64_t budget, uint64_t used) {
  return budget == 0 ? std::numeric_limits<uint64_t>::max() : budget - std::min(budget, used);
}

// Bytes that the tier can still take of the file's family, as the files are.
uint64_t Free(const Scene& scene, size_t tier, const PlannedFile& of) {
  const PlannedTier& t = scene.tiers[tier];
  const PlannedFamily family =
      of.family < 0 ? PlannedFamily() : t.families[static_cast<size_t>(of.family)];
  uint64_t used = t.reserved;
  uint64_t used_by_family = family.reserved;
  for (const PlannedFile& file : scene.files) {
    const bool is_there = static_cast<size_t>(file.tier) == tier;
    used += is_there ? file.size : 0;
    used_by_family += is_there && file.family == of.family ? file.size : 0;
  }
  return std::min(Left(t.budget, used), Left(family.budget, used_by_family));
}

bool HasRoomSomewhere(const Scene& scene, const PlannedFile& file) {
  for (size_t t = 0; t < scene.tiers.size(); t++) {
    if (scene.tiers[t].usable && file.size != 0 && file.size <= Free(scene, t, file)) {
      return true;
    }
  }
  return false;
}

// A tier and a family in it are over their budgets, and an unusable one has files, only by files
// that were there before and that no tier has room for.
void ExpectBudgetsKept(const Scene& before, const Scene& after) {
  for (size_t t = 0; t < after.tiers.size(); t++) {
    const PlannedTier& tier = after.tiers[t];
    uint64_t used = tier.reserved;
    std::vector<uint64_t> of_families;
    for (const PlannedFamily& family : tier.families) {
      of_families.push_back(family.reserved);
    }
    bool taken = false;
    for (size_t i = 0; i < after.files.size(); i++) {
      const PlannedFile& file = after.files[i];
      const bool stuck = before.files[i].tier == file.tier && !HasRoomSomewhere(after, file);
      if (static_cast<size_t>(file.tier) == t && !stuck) {
        used += file.size;
        taken = true;
        if (file.family >= 0) {
          of_families[static_cast<size_t>(file.family)] += file.size;
        }
      }
    }
    for (size_t i = 0; i < of_families.size(); i++) {
      const PlannedFamily& family = tier.families[i];
      EXPECT_TRUE(!tier.usable || family.budget == 0 ||
                  of_families[i] <= std::max(family.budget, family.reserved))
          << "family " << i << " in tier " << t << ": " << of_families[i];
    }
    EXPECT_TRUE(tier.usable || !taken) << "tier " << t;
    EXPECT_TRUE(!tier.usable || tier.budget == 0 || used <= std::max(tier.budget, tier.reserved))
        << "tier " << t << ": " << used << " of " << tier.budget;
  }
}

// A file is in another usable tier than its own only if it does not fit into its own as it is then.
void ExpectNoStrandedFiles(const Scene& after) {
  for (const PlannedFile& file : after.files) {
    const auto wanted = static_cast<size_t>(file.wanted);
    if (file.tier != file.wanted && after.tiers[wanted].usable) {
      EXPECT_GT(file.size, Free(after, wanted, file)) << "file " << file.number;
    }
  }
}

TEST(TieredPlanTest, RandomPlansKeepTheirPromises) {
  const uint64_t seed = rocktier::Seed();
  uint64_t moved = 0;
  uint64_t spilled = 0;
  for (uint64_t round = 0; round < 5000 && !HasFailure(); round++) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    std::mt19937_64 random(seed + round);
    const Scene before = RandomScene(&random);
    Scene after = before;
    const Tiers plan = Plan(before.files, before.tiers);
    Apply(plan, &after);
    EXPECT_EQ(Plan(after.files, after.tiers), plan) << "files would go to and fro";
    ExpectBudgetsKept(before, after);
    ExpectNoStrandedFiles(after);
    for (size_t i = 0; i < plan.size(); i++) {
      moved += plan[i] != before.files[i].tier ? 1 : 0;
      spilled += plan[i] != before.files[i].wanted ? 1 : 0;
    }
  }
  EXPECT_GT(moved, 1000u);
  EXPECT_GT(spilled, 1000u);
}

// While files come and go, those that stay at their level are moved only when room appears or is
// taken by a better claim: never by an equal one.
TEST(TieredPlanTest, NewFilesOfALevelDisplaceNone) {
  const uint64_t seed = rocktier::Seed();
  for (uint64_t round = 0; round < 2000 && !HasFailure(); round++) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    std::mt19937_64 random(seed + round);
    Scene scene = RandomScene(&random);
    const int last = static_cast<int>(scene.tiers.size()) - 1;
    const size_t families = scene.tiers.back().families.size();
    scene.tiers.back() = ATier(0);  // as home is, so that all files have room
    scene.tiers.back().families.resize(families);
    for (PlannedFile& file : scene.files) {
      file.level = 1;
    }
    const Tiers settled = Plan(scene.files, scene.tiers);
    Apply(settled, &scene);
    for (uint64_t i = 0; i < 5; i++) {
      scene.files.push_back(
          AFile(1000 + i, random() % 40, 1, last, static_cast<int>(i) % (last + 1)));
    }
    const Tiers again = Plan(scene.files, scene.tiers);
    for (size_t i = 0; i < settled.size(); i++) {
      EXPECT_EQ(again[i], settled[i]) << "file " << scene.files[i].number;
    }
  }
}

}  // namespace
}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
