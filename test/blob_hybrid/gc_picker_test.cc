// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/gc_picker.h"

#include <algorithm>
#include <map>
#include <utility>

#include "test/blob_hybrid/file_info.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

std::vector<uint64_t> Numbers(const Plan& plan) {
  std::vector<uint64_t> numbers;
  for (const SstInfo& sst : plan.inputs) {
    numbers.push_back(sst.number);
  }
  return numbers;
}

using List = std::vector<uint64_t>;

TEST(FindCollectedTest, DoneWhenAllOlderSstsAreRewritten) {
  Survey survey;
  survey.ssts = {Sst(20, 0, 5, 1), Sst(15, 5, 10, 3), Sst(16, 6, 20, 5), Sst(17, 6, 20, 0)};
  // Level 0 does not count.
  EXPECT_EQ((Collected{{2, true}, {3, false}, {5, false}}),
            FindCollected(survey, {{2, 30}, {3, 30}, {5, 30}}, {}));
  // Made later.
  EXPECT_EQ((Collected{{2, true}, {3, true}, {5, false}}),
            FindCollected(survey, {{2, 15}, {3, 14}, {5, 15}}, {}));
  // What cannot be compacted for a time is not waited for.
  EXPECT_EQ((Collected{{2, true}, {3, true}, {5, false}}),
            FindCollected(survey, {{2, 30}, {3, 30}, {5, 30}}, {15}));
  EXPECT_EQ((Collected{{2, true}, {3, true}, {5, true}}),
            FindCollected(survey, {{2, 30}, {3, 30}, {5, 30}}, {15, 16}));
  EXPECT_EQ((Collected{}), FindCollected(survey, {}, {}));
}

// Blob file 7 has a byte of garbage for each byte that has to be moved, 8 has two, 5 is not
// collected. An SST that is busy refers to what others do not refer to. SSTs have 10 bytes for each
// entry.
class PickTest : public testing::Test {
 protected:
  PickTest() {
    survey_.last_level = 6;
    survey_.blobs = {Blob(5, 100000, 0), Blob(7, 100000, 50000), Blob(8, 90000, 60000)};
  }

  SstInfo* Add(uint64_t number, int level, uint64_t entries, const std::string& smallest,
               const std::string& largest, const References& references = {}) {
    survey_.ssts.push_back(
        Sst(number, level, entries, references.empty() ? 0 : references.begin()->first));
    SstInfo* sst = &survey_.ssts.back();
    sst->keys = std::make_shared<const KeyRange>(KeyRange{smallest, largest});
    sst->references = std::make_shared<References>(references);
    return sst;
  }

  SstInfo* AddUnsaid(uint64_t number, int level, uint64_t entries, uint64_t oldest_blob) {
    SstInfo* sst = Add(number, level, entries, "k", "l");
    sst->oldest_blob = oldest_blob;
    sst->references = nullptr;
    return sst;
  }

  void Remove(uint64_t number) {
    auto& ssts = survey_.ssts;
    ssts.erase(std::remove_if(ssts.begin(), ssts.end(),
                              [&](const SstInfo& sst) { return sst.number == number; }),
               ssts.end());
  }

  // Of the last level, as most are.
  References Rest() const {
    std::map<uint64_t, uint64_t> rest;
    for (const BlobInfo& blob : survey_.blobs) {
      rest[blob.number] = blob.bytes - blob.garbage_bytes;
    }
    for (const SstInfo& sst : survey_.ssts) {
      for (const auto& [blob, bytes] : sst.references == nullptr ? References() : *sst.references) {
        rest[blob] -= bytes;
      }
    }
    return References(rest.begin(), rest.end());
  }

  void Sort() {
    std::sort(survey_.ssts.begin(), survey_.ssts.end(), [&](const SstInfo& a, const SstInfo& b) {
      return a.level != b.level
                 ? a.level < b.level
                 : survey_.comparator->Compare(a.keys->smallest, b.keys->smallest) < 0;
    });
  }

  Plan DoPick() {
    if (has_rest_) {
      Add(kRest, 6, 1, "~", "~", Rest());
    }
    Sort();
    std::set<uint64_t> busy = busy_;
    busy.insert(kRest);
    const std::vector<Plan> plans = PickCompactions(survey_, space_, since_, busy, options_);
    const Plan plan = plans.empty() ? Plan() : plans.front();
    Remove(kRest);
    return plan;
  }

  static constexpr uint64_t kRest = 1;

  Survey survey_;
  Space space_;
  BlobHybridOptions options_;
  Since since_{{7, 100}, {8, 100}};
  std::set<uint64_t> busy_;
  bool has_rest_ = true;
};

TEST_F(PickTest, LastLevelIsRewrittenWhereItIs) {
  Add(10, 6, 100, "a", "b", {{5, 9000}});
  Add(11, 6, 100, "c", "d", {{7, 1000}});
  EXPECT_EQ(List{11}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  busy_ = {11};
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

TEST_F(PickTest, FilesThatAreNotTrackedAreLeftAlone) {
  Add(10, 6, 100, "a", "b", {{7, 1000}});
  since_.clear();
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

TEST_F(PickTest, TheMostGarbageFirst) {
  const auto with = [&](const References& references) {
    Remove(10);
    Add(10, 6, 100, "a", "b", references);
    return Numbers(DoPick());
  };
  Add(11, 6, 100, "c", "d", {{8, 1000}});
  EXPECT_EQ(List{11}, with({{7, 1000}}));
  EXPECT_EQ(List{10}, with({{7, 3000}}));
  EXPECT_EQ(List{11}, with({{8, 800}}));
  EXPECT_EQ(List{10}, with({{7, 1000}, {8, 800}}));
}

TEST_F(PickTest, TheSmallestSstForEqualGarbage) {
  Add(10, 6, 1000, "a", "b", {{7, 1000}});
  Add(11, 6, 100, "c", "d", {{7, 1000}});
  EXPECT_EQ(List{11}, Numbers(DoPick()));
}

TEST_F(PickTest, TheLeastToMoveForEqualGarbage) {
  Add(10, 6, 100, "a", "b", {{7, 20000}});
  Add(11, 6, 100, "c", "d", {{8, 10000}});
  EXPECT_EQ(List{11}, Numbers(DoPick()));
}

// 10 gains more for its bytes: 200 for 400, 11: 10000 for 30000.
TEST_F(PickTest, AJobHasACostOfItsOwn) {
  Add(10, 6, 10, "a", "b", {{8, 100}});
  Add(11, 6, 1000, "c", "d", {{8, 5000}});
  EXPECT_EQ(List{11}, Numbers(DoPick()));
}

// They are rewritten once: with a snapshot they may refer to the file still.
TEST_F(PickTest, SstsThatWereMadeLaterAreLeftAlone) {
  Add(10, 6, 100, "a", "b", {{7, 100}});
  Add(101, 6, 100, "c", "d", {{8, 10000}});
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  EXPECT_EQ((Collected{{7, false}, {8, true}}), FindCollected(survey_, since_, {}));
  Remove(10);
  EXPECT_EQ(List{}, Numbers(DoPick()));
  EXPECT_EQ((Collected{{7, true}, {8, true}}), FindCollected(survey_, since_, {}));
}

// What they refer to is not what is left to do: so there is less of 7, for more garbage.
TEST_F(PickTest, SstsThatWereMadeLaterDoNotCount) {
  Add(10, 6, 100, "a", "b", {{7, 1000}});
  Add(11, 6, 100, "c", "d", {{8, 1000}});
  Add(90, 6, 10000, "e", "f", {{7, 40000}});
  busy_ = {90};
  EXPECT_EQ(List{11}, Numbers(DoPick()));
  since_[7] = 89;
  EXPECT_EQ(List{10}, Numbers(DoPick()));
}

// 60000 bytes of garbage for 10 bytes that are left: they count as a page.
TEST_F(PickTest, LittleThatIsLeftDoesNotCountForAll) {
  survey_.blobs.push_back(Blob(9, 60010, 60000));
  since_[9] = 100;
  Add(10, 6, 100, "a", "b", {{9, 10}});
  Add(11, 6, 100, "c", "d", {{7, 1000}});
  EXPECT_EQ(List{11}, Numbers(DoPick()));
  busy_ = {11};
  EXPECT_EQ(List{10}, Numbers(DoPick()));
}

TEST_F(PickTest, UpperLevelsArePushedToTheNextOne) {
  Add(20, 3, 100, "a", "b", {{8, 1000}});
  Add(30, 5, 100, "x", "y");
  EXPECT_EQ(List{20}, Numbers(DoPick()));
  EXPECT_EQ(5, DoPick().output_level);
  Remove(30);
  EXPECT_EQ(List{20}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
}

TEST_F(PickTest, OverlapsAreAlsoPaidFor) {
  Add(20, 5, 100, "b", "c", {{8, 1000}});
  Add(21, 5, 100, "m", "n", {{8, 1000}});
  Add(30, 6, 1000, "a", "b");
  EXPECT_EQ(List{21}, Numbers(DoPick()));
  Add(31, 6, 2000, "n", "o");
  EXPECT_EQ(List{20}, Numbers(DoPick()));
  Remove(31);
  Add(31, 6, 2000, "n1", "o");
  EXPECT_EQ(List{21}, Numbers(DoPick()));
}

TEST_F(PickTest, OverlapsGainToo) {
  Add(20, 5, 100, "b", "c", {{8, 5000}});
  Add(21, 5, 100, "m", "n", {{8, 6000}});
  Add(30, 6, 100, "d", "e", {{8, 5000}});
  EXPECT_EQ(List{21}, Numbers(DoPick()));
  Remove(30);
  Add(30, 6, 100, "a", "d", {{8, 5000}});
  EXPECT_EQ(List{20}, Numbers(DoPick()));
}

// In the order of the family's keys.
TEST_F(PickTest, OverlapsMustNotBeBusy) {
  Add(20, 5, 100, "f", "i", {{8, 1000}});
  for (char c = 'a'; c <= 'z'; c++) {
    Add(100 + static_cast<uint64_t>(c), 6, 10, std::string(1, c) + "0", std::string(1, c) + "9");
  }
  EXPECT_EQ(List{20}, Numbers(DoPick()));
  for (char c = 'a'; c <= 'z'; c++) {
    busy_ = {100 + static_cast<uint64_t>(c)};
    EXPECT_EQ(c >= 'f' && c <= 'h' ? List{} : List{20}, Numbers(DoPick())) << c;
  }
  survey_.comparator = ReverseBytewiseComparator();
  for (SstInfo& sst : survey_.ssts) {
    sst.keys = std::make_shared<const KeyRange>(KeyRange{sst.keys->largest, sst.keys->smallest});
  }
  for (char c = 'a'; c <= 'z'; c++) {
    busy_ = {100 + static_cast<uint64_t>(c)};
    EXPECT_EQ(c >= 'f' && c <= 'h' ? List{} : List{20}, Numbers(DoPick())) << c;
  }
}

// 10 gains 2000 bytes for 20384, 20 half of the hidden ones for 18384.
TEST_F(PickTest, HalfOfTheHiddenGarbageIsGained) {
  Add(10, 6, 100, "c", "d", {{8, 1000}});
  Add(20, 5, 100, "a", "b");
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  space_.hidden_bytes = 3500;
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  space_.hidden_bytes = 3700;
  EXPECT_EQ(List{20}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  // By entries, of all levels above.
  Add(21, 0, 300, "e", "f");
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  space_.hidden_bytes = 4 * 3500;
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  space_.hidden_bytes = 4 * 3700;
  EXPECT_EQ(List{20}, Numbers(DoPick()));
}

TEST_F(PickTest, NothingIsUncoveredAboveTheLastLevel) {
  space_.hidden_bytes = 1000000;
  Add(20, 4, 100000, "a", "b");
  Add(21, 5, 1, "a", "b");
  EXPECT_EQ(List{21}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
}

TEST_F(PickTest, SstsThatDoNotSayAreCollectedInTheEnd) {
  AddUnsaid(10, 6, 100, 7);
  Add(11, 6, 100, "m", "n", {{7, 1000}});
  EXPECT_EQ(List{11}, Numbers(DoPick()));
  busy_ = {11};
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  Remove(10);
  AddUnsaid(101, 6, 100, 7);
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

TEST_F(PickTest, SstsThatDoNotSayReferToOldFilesAtMost) {
  AddUnsaid(10, 6, 100, 5);
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  survey_.ssts[0].oldest_blob = 8;
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  survey_.ssts[0].oldest_blob = 9;
  EXPECT_EQ(List{}, Numbers(DoPick()));
  survey_.ssts[0].oldest_blob = 0;
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

// 10 has 5000 bytes for 28384, 11 has 45000 for 124384, 12 has 10000 for 38384.
TEST_F(PickTest, SstsThatDoNotSayShareTheRest) {
  has_rest_ = false;
  since_ = {{7, 100}};
  AddUnsaid(10, 6, 100, 5);
  AddUnsaid(11, 6, 900, 5);
  EXPECT_EQ(List{11}, Numbers(DoPick()));
  Add(12, 6, 100, "x", "y", {{7, 10000}});
  busy_ = {11};
  EXPECT_EQ(List{12}, Numbers(DoPick()));
}

TEST_F(PickTest, RangeDeletionsOfMuchArePushedFirstAndThrough) {
  space_.value_bytes = 1000000;
  Add(10, 6, 100, "a", "b", {{8, 20000}});
  Add(20, 3, 100, "c", "d")->covered = 50;
  Add(21, 4, 10, "e", "f")->covered = 50;
  Add(22, 5, 100, "g", "h")->covered = 1;
  Add(23, 5, 100, "i", "j")->range_deletions = 1;
  EXPECT_EQ(List{21}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  busy_ = {21};
  EXPECT_EQ(List{20}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  busy_ = {20, 21};
  EXPECT_EQ(List{10}, Numbers(DoPick()));
}

TEST_F(PickTest, RangeDeletionsThatHideLessThanTheirPushCostsWait) {
  space_.value_bytes = 100000;
  Add(10, 6, 100, "a", "b", {{8, 20000}});
  Add(20, 5, 100, "c", "f")->covered = 50;
  EXPECT_EQ(List{20}, Numbers(DoPick()));
  Add(11, 6, 1000, "e", "g");
  EXPECT_EQ(List{10}, Numbers(DoPick()));
}

TEST_F(PickTest, LevelZeroIsPushedAsAWholeIfSomethingIsHidden) {
  has_rest_ = false;
  Add(20, 0, 5, "a", "b", {{8, 1000}});
  Add(21, 0, 6, "a", "b", {{8, 1000}});
  survey_.last_level = 0;
  EXPECT_EQ(List{}, Numbers(DoPick()));
  space_.hidden_bytes = 1;
  EXPECT_EQ((List{20, 21}), Numbers(DoPick()));
  EXPECT_EQ(1, DoPick().output_level);
  survey_.base_level = 6;
  EXPECT_EQ(6, DoPick().output_level);
  // Only when nothing else gains.
  survey_.last_level = 6;
  Add(10, 6, 100, "c", "d", {{7, 10}});
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  busy_ = {10};
  EXPECT_EQ((List{20, 21}), Numbers(DoPick()));
}

// 8 is freed when nothing refers to 5 any more, for which 100000 bytes have to be moved.
TEST_F(PickTest, WhatHoldsUpGarbageGainsIt) {
  survey_.blobs = {Blob(5, 100000, 0), Blob(8, 90000, 90000)};
  since_ = {{5, 100}};
  Add(10, 6, 100, "a", "b", {{5, 1000}});
  EXPECT_EQ(List{}, Numbers(DoPick()));
  survey_.blobs[1].corrected = true;
  EXPECT_EQ(List{10}, Numbers(DoPick()));
}

TEST_F(PickTest, LevelZeroIsNotPushedForFilesThatWait) {
  has_rest_ = false;
  survey_.blobs = {Blob(5, 100000, 0), Blob(8, 90000, 90000), Blob(9, 1000, 0)};
  since_.clear();
  Add(20, 0, 5, "a", "b", {{9, 1000}});
  space_.disk_bytes = 200000;
  space_.live_bytes = 90000;
  space_.amplification = 2;
  space_.hidden_bytes = 10;
  EXPECT_EQ(List{20}, Numbers(DoPick()));
  survey_.blobs[1].corrected = true;
  EXPECT_EQ(List{}, Numbers(DoPick()));
  // 5 is held up by level 0.
  survey_.ssts[0].oldest_blob = 5;
  EXPECT_EQ(List{20}, Numbers(DoPick()));
  survey_.ssts[0].oldest_blob = 9;
  EXPECT_EQ(List{}, Numbers(DoPick()));
  // There is too much without 8.
  space_.amplification = 4;
  EXPECT_EQ(List{20}, Numbers(DoPick()));
}

TEST_F(PickTest, NothingLeft) {
  space_.hidden_bytes = 200000;
  Add(110, 6, 50, "a", "b", {{7, 1000}});
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

// As compactions would change the survey. In the end all is in the last level, and nothing old
// refers to the victims.
TEST_F(PickTest, ItEnds) {
  has_rest_ = false;
  uint64_t number = 10;
  for (int level = 0; level <= 6; level++) {
    for (char c = 'a'; c < 'a' + 3 * (level + 1); c++) {
      const std::string key(1, c);
      if (number % 5 == 0) {
        AddUnsaid(number, level, 10, number % 3 + 6);
      } else {
        Add(number, level, 10, key + "0", key + "9", {{number % 4 + 5, 500}});
      }
      number++;
    }
  }
  since_ = {{7, number}, {8, number}};
  const size_t most = survey_.ssts.size();
  size_t jobs = 0;
  while (true) {
    space_.hidden_bytes = 0;
    for (const SstInfo& sst : survey_.ssts) {
      space_.hidden_bytes += sst.level < 6 ? 10 * sst.entries : 0;
    }
    const Plan plan = DoPick();
    if (plan.inputs.empty()) {
      break;
    }
    ASSERT_LE(++jobs, 7 * most);
    for (const SstInfo& input : plan.inputs) {
      Remove(input.number);
      Add(++number, plan.output_level, input.entries, input.keys->smallest, input.keys->largest);
    }
  }
  EXPECT_EQ(most, survey_.ssts.size());
  for (const SstInfo& sst : survey_.ssts) {
    EXPECT_EQ(6, sst.level);
  }
  EXPECT_EQ((Collected{{7, true}, {8, true}}), FindCollected(survey_, since_, {}));
}

TEST(MergeLevelTest, LastOrTheOneAbove) {
  EXPECT_EQ(6, MergeLevelOf(MergeLevel::kLast, 6));
  EXPECT_EQ(5, MergeLevelOf(MergeLevel::kLastButOne, 6));
  // Never level 0.
  EXPECT_EQ(1, MergeLevelOf(MergeLevel::kLastButOne, 1));
  EXPECT_EQ(1, MergeLevelOf(MergeLevel::kLast, 0));
}

class PickMergeTest : public testing::Test {
 protected:
  PickMergeTest() {
    survey_.ssts = {Sst(20, 0, 5, 1),  Sst(21, 0, 5, 9),  Sst(15, 4, 10, 6),
                    Sst(16, 5, 10, 7), Sst(17, 5, 20, 7), Sst(10, 6, 50, 5)};
    for (SstInfo& sst : survey_.ssts) {
      sst.medium_bytes = 100 * sst.entries;
    }
    survey_.last_level = 6;
  }

  Plan DoPick(MergeLevel level = MergeLevel::kLast) {
    return PickMerge(survey_, level, merged_, busy_);
  }

  Survey survey_;
  std::set<uint64_t> merged_;
  std::set<uint64_t> busy_;
};

TEST_F(PickMergeTest, MovedSstsOnce) {
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  merged_ = {10};
  EXPECT_EQ(List{15}, Numbers(DoPick()));
  // Moved while merges are under way.
  survey_.ssts.push_back(Sst(22, 6, 10, 4));
  survey_.ssts.back().medium_bytes = 1000;
  EXPECT_EQ(List{22}, Numbers(DoPick()));
}

TEST_F(PickMergeTest, OldestFilesFirst) {
  survey_.ssts[5].medium_bytes = 0;
  EXPECT_EQ(List{15}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  busy_ = {15};
  EXPECT_EQ(List{17}, Numbers(DoPick()));  // refers to more of the same file than 16
  busy_ = {15, 17};
  EXPECT_EQ(List{16}, Numbers(DoPick()));
  busy_ = {15, 16, 17};
  EXPECT_EQ((List{20, 21}), Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  busy_ = {15, 16, 17, 20};  // level 0 goes as a whole
  EXPECT_EQ(List{}, Numbers(DoPick()));
  busy_ = {15, 16, 17, 20, 21};
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

TEST_F(PickMergeTest, LastButOne) {
  survey_.ssts[5].medium_bytes = 0;
  busy_ = {15};
  EXPECT_EQ(List{17}, Numbers(DoPick(MergeLevel::kLastButOne)));  // where it is
  EXPECT_EQ(5, DoPick(MergeLevel::kLastButOne).output_level);
  busy_ = {};
  EXPECT_EQ(List{15}, Numbers(DoPick(MergeLevel::kLastButOne)));
  EXPECT_EQ(5, DoPick(MergeLevel::kLastButOne).output_level);
  // Level 5 is not used yet.
  survey_.ssts.erase(survey_.ssts.begin() + 3, survey_.ssts.begin() + 5);
  EXPECT_EQ(List{15}, Numbers(DoPick(MergeLevel::kLastButOne)));
  EXPECT_EQ(6, DoPick(MergeLevel::kLastButOne).output_level);
}

TEST_F(PickMergeTest, NothingInTheLog) {
  for (SstInfo& sst : survey_.ssts) {
    sst.medium_bytes = 0;
  }
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
