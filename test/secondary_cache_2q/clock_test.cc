// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Whom the policy evicts, and that it goes on so after a restart.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/coding.h"
#include "plugin/secondary_cache_2q/policy.h"
#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

// Adds the blocks 0, 1, ... with hashes of their own.
uint64_t HashOf(BlockId id) { return (uint64_t{id} + 1) << 40 | (id + 1); }

void AddBlocks(TwoQ* policy, BlockId blocks) {
  for (BlockId id = 0; id < blocks; id++) {
    policy->Add(id, HashOf(id));
  }
}

TEST(ClockTest, SomeVictimsAreBlocksThatThePrimaryCacheHas) {
  TwoQ policy(Policy::k2Q, 0.5);
  AddBlocks(&policy, 20);
  policy.Promote(10);
  policy.Promote(11);
  policy.Promote(12);
  policy.Return(12);                // left the primary cache: an ordinary block again
  EXPECT_EQ(11u, policy.Victim());  // promoted last
  for (BlockId id = 0; id < 5; id++) {
    EXPECT_EQ(id, policy.Victim());  // then the least recently used ones
  }
  EXPECT_EQ(10u, policy.Victim());                        // every sixth
  EXPECT_TRUE(policy.Offer(HashOf(10), /*room=*/false));  // taken back at its offer
  EXPECT_FALSE(policy.Offer(HashOf(0), /*room=*/false));  // an ordinary victim is not
  std::vector<BlockId> rest;
  for (BlockId id = policy.Victim(); id != kNoBlock; id = policy.Victim()) {
    rest.push_back(id);
  }
  EXPECT_EQ(13u, rest.size());
  EXPECT_EQ(12u, rest.back());  // most recently used
  EXPECT_EQ(0u, policy.blocks());
}

// Of a primary cache that is gone, say: such blocks must not stay for ever.
TEST(ClockTest, PromotedBlocksThatNeverReturnAgeOut) {
  for (const BlockId lost : {10u, 90u}) {  // some are forgotten as promotions
    TwoQ policy(Policy::k2Q, 0.5);
    AddBlocks(&policy, lost);
    for (BlockId id = 0; id < lost; id++) {
      policy.Promote(id);
    }
    BlockId victims = 0;
    BlockId next = lost;
    for (BlockId i = lost; i < 1000; i++) {
      policy.Add(next, HashOf(i));
      next = policy.ids();
      if (policy.blocks() > 100) {
        next = policy.Victim();
        victims += next < lost && policy.Find(HashOf(next)) == kNoBlock ? 1 : 0;
      }
    }
    BlockId left = 0;
    for (BlockId id = 0; id < lost; id++) {
      left += policy.Find(HashOf(id)) != kNoBlock ? 1 : 0;
    }
    EXPECT_EQ(0u, left);
  }
}

// CLOCK: a block that was used since the hand came by stays for another round.
TEST(ClockTest, TheHandPassesWhatWasUsed) {
  TwoQ policy(Policy::kLru, 0);
  AddBlocks(&policy, 6);
  bool ghost_hit;
  EXPECT_EQ(0u, policy.Lookup(HashOf(0), &ghost_hit));
  EXPECT_EQ(2u, policy.Lookup(HashOf(2), &ghost_hit));
  EXPECT_EQ(1u, policy.Victim());
  policy.Add(1, HashOf(10));  // where the hand comes last
  for (const BlockId next : {3u, 4u, 5u, 0u, 1u, 2u}) {
    EXPECT_EQ(next, policy.Victim());
  }
  EXPECT_EQ(kNoBlock, policy.Victim());
}

// New blocks stay for half a round at least, and for one and a half at most, wherever they come.
TEST(ClockTest, NewBlocksStayForAboutARound) {
  constexpr BlockId kBlocks = 1000;
  for (const BlockId hole : {0u, 100u, 499u, 501u, 900u, 999u}) {
    TwoQ policy(Policy::kLru, 0);
    AddBlocks(&policy, kBlocks);
    for (BlockId id = 0; id < kBlocks; id++) {  // all were used, and the hand is in the middle
      policy.Return(id);
    }
    for (BlockId i = 0; i < kBlocks / 2; i++) {
      const BlockId id = policy.Victim();
      policy.Add(id, HashOf(kBlocks + i));
    }
    policy.Remove(hole, /*moved=*/false);
    policy.Add(hole, HashOf(3 * kBlocks));
    BlockId stays = 0;
    for (; policy.Find(HashOf(3 * kBlocks)) != kNoBlock; stays++) {
      const BlockId id = policy.Victim();
      policy.Add(id, HashOf(4 * kBlocks + stays));
    }
    EXPECT_GE(stays, kBlocks * 45 / 100) << hole;
    EXPECT_LE(stays, kBlocks * 155 / 100) << hole;
  }
}

TEST(ClockTest, AHandThatFindsNoneUnusedTakesOne) {
  constexpr BlockId kBlocks = 100000;
  TwoQ policy(Policy::kLru, 0);
  AddBlocks(&policy, kBlocks);
  for (BlockId id = 0; id < kBlocks; id++) {
    policy.Return(id);
  }
  EXPECT_EQ(1u << 14, policy.Victim());
}

// A block that is carried is evicted about when the one would have been whose place it takes.
TEST(ClockTest, CarriedBlocksHaveTheAgeOfThoseBefore) {
  constexpr BlockId kBlocks = 100;
  TwoQ policy(Policy::kLru, 0);
  AddBlocks(&policy, kBlocks);
  for (BlockId i = 0; i < kBlocks / 2; i++) {
    policy.Add(policy.Victim(), HashOf(kBlocks + i));
  }
  policy.Return(90);
  // The hand is in the middle: what is before it was not used for up to half a round.
  EXPECT_LE(policy.Age(49), TwoQ::kRound * 6 / 10);
  EXPECT_GE(policy.Age(51), TwoQ::kRound * 13 / 10);
  EXPECT_LE(policy.Age(90), TwoQ::kRound / 2);
  EXPECT_TRUE(TwoQ::IsYoung(policy.Age(49)) && TwoQ::IsYoung(policy.Age(90)));
  EXPECT_FALSE(TwoQ::IsYoung(policy.Age(51)));
  policy.Remove(60, /*moved=*/false);
  policy.Remove(61, /*moved=*/false);
  policy.AddCarried(60, HashOf(1000), policy.Age(90));
  policy.AddCarried(61, HashOf(1001), policy.Age(59));
  std::vector<BlockId> victims;
  for (BlockId i = 0; i < 12; i++) {
    victims.push_back(policy.Victim());
  }
  EXPECT_EQ(0, std::count(victims.begin(), victims.end(), 60u));
  EXPECT_EQ(1, std::count(victims.begin(), victims.end(), 61u));
}

TEST(ClockTest, PaperAndLruKnowNoPromotion) {
  for (Policy kind : {Policy::k2QPaper, Policy::kLru}) {
    TwoQ policy(kind, 0.5);
    AddBlocks(&policy, 3);
    policy.Promote(1);
    for (BlockId id = 0; id < 3; id++) {
      EXPECT_EQ(id, policy.Victim());
    }
  }
}

// The order of use and A1 are the same afterwards: the same calls give the same answers.
TEST(ClockTest, GoesOnWhereItWasSaved) {
  constexpr BlockId kBlocks = 500;
  for (Policy kind : {Policy::k2Q, Policy::k2QPaper, Policy::kLru}) {
    Random64 random(17);
    TwoQ policy(kind, 0.5);
    std::vector<uint64_t> hashes;  // by id
    const auto use = [&](TwoQ* on, std::vector<uint64_t>* of, uint64_t hash, bool room) {
      bool ghost_hit;
      if (on->Lookup(hash, &ghost_hit) != kNoBlock) {
        return std::string("hit");
      }
      if (!on->Offer(hash, room)) {
        return std::string("pass");
      }
      const BlockId id = on->blocks() < kBlocks ? on->ids() : on->Victim();
      on->Add(id, hash);
      of->resize(std::max<size_t>(of->size(), id + 1));
      (*of)[id] = hash;
      return "load " + std::to_string(id);
    };
    const auto next = [](Random64* from) {
      return from->Uniform(1 + from->Uniform(2000)) * 0x9E3779B97F4A7C15u | 0x1000000u;
    };
    for (int i = 0; i < 20000; i++) {
      use(&policy, &hashes, next(&random), policy.blocks() < kBlocks);
    }
    std::string saved;
    policy.Save(kBlocks, &saved);
    EXPECT_LE(saved.size(), TwoQ::SavedSize(kBlocks, kBlocks));
    TwoQ again(kind, 0.5);
    for (BlockId id = 0; id < kBlocks; id++) {
      again.Add(id, hashes[id]);
    }
    ASSERT_TRUE(again.Restore(kBlocks, saved));
    EXPECT_EQ(policy.ghosts(), again.ghosts());
    std::vector<uint64_t> copy = hashes;
    Random64 other = random;
    for (int i = 0; i < 400; i++) {
      ASSERT_EQ(use(&policy, &hashes, next(&random), false),
                use(&again, &copy, next(&other), false))
          << i;
    }
  }
}

TEST(ClockTest, ASavedOrderThatIsDamagedChangesNothing) {
  TwoQ policy(Policy::k2Q, 0.5);
  AddBlocks(&policy, 100);
  policy.Promote(3);
  for (BlockId i = 0; i < 10; i++) {
    policy.Victim();
  }
  std::string saved;
  policy.Save(100, &saved);
  TwoQ again(Policy::k2Q, 0.5);
  AddBlocks(&again, 100);
  for (size_t n = 0; n < saved.size(); n++) {
    ASSERT_FALSE(again.Restore(100, Slice(saved.data(), n))) << n;
  }
  EXPECT_FALSE(again.Restore(100, saved + "x"));
  EXPECT_FALSE(again.Restore(1, saved));
  for (const uint32_t forged : {200u, 1u << 27, UINT32_MAX}) {
    std::string other = saved;
    EncodeFixed32(other.data(), forged);  // the hand
    EXPECT_FALSE(again.Restore(100, other));
    other = saved;
    EncodeFixed32(other.data() + 4, forged);  // ids
    EXPECT_FALSE(again.Restore(100, other));
  }
  for (BlockId id = 0; id < 100; id++) {
    EXPECT_EQ(id, again.Victim());
  }
  // Fields that are only estimates are bounded.
  TwoQ third(Policy::k2Q, 0.5);
  third.SetGhostLimit(1000);
  AddBlocks(&third, 100);
  memset(saved.data() + 8, 0xFF, 12);
  EXPECT_TRUE(third.Restore(100, saved));
  for (uint64_t hash = 1; hash < 5000; hash++) {
    EXPECT_FALSE(third.Offer(hash << 13, /*room=*/false));
  }
  EXPECT_LE(third.ghosts(), 1000u);
}

// Not all blocks are there again: those of blob files are not. The order counts then, too, and the
// one that is saved next.
TEST(ClockTest, AnOrderOfMoreBlocksThanThereAreCounts) {
  TwoQ policy(Policy::k2Q, 0.5);
  AddBlocks(&policy, 100);
  for (BlockId i = 0; i < 90; i++) {
    policy.Victim();
  }
  ASSERT_GT(policy.ghosts(), 0u);
  std::string saved;
  policy.Save(100, &saved);
  for (int round = 0; round < 2; round++) {
    TwoQ again(Policy::k2Q, 0.5);
    AddBlocks(&again, 50);
    ASSERT_TRUE(again.Restore(100, saved)) << round;
    EXPECT_EQ(policy.ghosts(), again.ghosts());
    EXPECT_LE(again.Age(0), TwoQ::kRound * 3 / 2);
    saved.clear();
    again.Save(100, &saved);
  }
}

// What Shard does when ids shall be dense, as each change of the capacity asks for.
TEST(ClockTest, TheHandGoesOnWhenIdsAreTruncated) {
  TwoQ policy(Policy::kLru, 0);
  AddBlocks(&policy, 100);
  for (BlockId i = 0; i < 300; i++) {
    const BlockId id = policy.Victim();
    EXPECT_EQ(i % 100, id);
    policy.Add(id, HashOf(100 + i));
    policy.Truncate(policy.ids());
  }
}

// Blocks of this size hold some gigabytes: a part of the hash is enough to tell them apart.
TEST(ClockTest, TagsRarelyMatch) {
  TwoQ policy(Policy::kLru, 0);
  Random64 random(301);
  BlockId added = 0;
  for (BlockId i = 0; i < 200000; i++) {
    const uint64_t hash = random.Next();
    if (policy.Find(hash) == kNoBlock) {
      policy.Add(added++, hash);
    }
  }
  EXPECT_GE(added, 199980u);
  int false_matches = 0;
  for (int i = 0; i < 200000; i++) {
    false_matches += policy.Find(random.Next()) != kNoBlock ? 1 : 0;
  }
  EXPECT_LE(false_matches, 40);  // 9 are expected
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
