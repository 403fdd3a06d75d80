// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The policy on traces computed by hand, and 2Q against LRU on a generated one.

#include "plugin/secondary_cache_2q/policy.h"

#include <deque>
#include <string>
#include <vector>

#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

// A secondary cache of `capacity` blocks without a primary one in front: what is missed is offered
// at once. Blocks are named by small numbers.
class Simulation {
 public:
  Simulation(Policy policy, double ghost_ratio, size_t capacity)
      : policy_(policy, ghost_ratio), capacity_(capacity) {}

  // FIX: "hit", "load" (missed and taken) or "pass" (missed and not taken).
  std::string Fix(uint64_t id) {
    if (Lookup(id)) {
      return "hit";
    }
    return Offer(id) ? "load" : "pass";
  }

  bool Lookup(uint64_t id) {
    bool ghost_hit;
    return policy_.Lookup(Hash(id), &ghost_hit) != kNoBlock;
  }

  bool Offer(uint64_t id) {
    const bool room = policy_.blocks() < capacity_ && !(once_ && filled_);
    if (!policy_.Offer(Hash(id), room)) {
      return false;
    }
    if (policy_.blocks() >= capacity_) {
      free_.push_back(policy_.Victim());
    }
    BlockId block = policy_.ids();
    if (!free_.empty()) {
      block = free_.back();
      free_.pop_back();
    }
    policy_.Add(block, Hash(id));
    filled_ = filled_ || policy_.blocks() >= capacity_;
    return true;
  }

  void Remove(uint64_t id, bool moved) {
    const BlockId block = policy_.Find(Hash(id));
    policy_.Remove(block, moved);
    free_.push_back(block);
  }

  bool Holds(uint64_t id) const { return policy_.Find(Hash(id)) != kNoBlock; }
  void FillOnce() { once_ = true; }
  TwoQ& policy() { return policy_; }

 private:
  // Spread like real hashes, but never sampled by the estimate of the primary cache's size.
  static uint64_t Hash(uint64_t id) { return id * 0x9E3779B97F4A7C15u | 0x1000000u; }

  TwoQ policy_;
  const size_t capacity_;
  bool once_ = false;
  bool filled_ = false;
  std::vector<BlockId> free_;
};

// Algorithm 1, line by line: AM of 3 blocks, A1 of 2 references (ratio 0.67).
TEST(PolicyTest, PaperAlgorithm1) {
  Simulation s(Policy::k2QPaper, 0.67, 3);
  // Line 5: AM is not full, so each new block is loaded (line 6).
  EXPECT_EQ("load", s.Fix(1));
  EXPECT_EQ("load", s.Fix(2));
  EXPECT_EQ("load", s.Fix(3));
  // Lines 2-3: in AM. The order of use, oldest first, is now 2 3 1.
  EXPECT_EQ("hit", s.Fix(1));
  // Lines 9-10: AM full, not in A1: read from NVRAM, A1 = {4}.
  EXPECT_EQ("pass", s.Fix(4));
  // A1 = {4, 5}.
  EXPECT_EQ("pass", s.Fix(5));
  // Line 5: in A1, so loaded. VICTIM is 2 (line 16) and goes to A1 (line 17), which drops 4.
  EXPECT_EQ("load", s.Fix(4));
  EXPECT_FALSE(s.Holds(2));
  // A1 = {5, 2}: the victim comes back at once. VICTIM is 3, A1 = {2, 3}, 5 rolled over.
  EXPECT_EQ("load", s.Fix(2));
  EXPECT_FALSE(s.Holds(3));
  EXPECT_EQ("pass", s.Fix(5));
  // A1 = {3, 5}. Now 1 is the oldest in AM.
  EXPECT_EQ("load", s.Fix(5));
  EXPECT_FALSE(s.Holds(1));
  EXPECT_TRUE(s.Holds(4) && s.Holds(2) && s.Holds(5));
}

TEST(PolicyTest, PaperReferencesRollOverInFifoOrder) {
  Simulation s(Policy::k2QPaper, 1.0, 2);
  s.Fix(1);
  s.Fix(2);
  EXPECT_EQ("pass", s.Fix(3));  // A1 = {3}
  EXPECT_EQ("pass", s.Fix(4));  // A1 = {3, 4}
  EXPECT_EQ("pass", s.Fix(5));  // A1 = {4, 5}
  EXPECT_EQ("pass", s.Fix(3));  // too late; A1 = {5, 3}
  EXPECT_EQ("load", s.Fix(5));
}

TEST(PolicyTest, LruTakesAllAndEvictsTheOldest) {
  Simulation s(Policy::kLru, 0.5, 2);
  EXPECT_EQ("load", s.Fix(1));
  EXPECT_EQ("load", s.Fix(2));
  EXPECT_EQ("hit", s.Fix(1));
  EXPECT_EQ("load", s.Fix(3));
  EXPECT_FALSE(s.Holds(2));
  EXPECT_TRUE(s.Holds(1) && s.Holds(3));
  EXPECT_EQ(0u, s.policy().ghosts());
}

// Behind a primary cache: a block is offered long after it was looked up.
TEST(PolicyTest, ReferenceFoundByALookupSurvivesTheStayInThePrimaryCache) {
  Simulation s(Policy::k2Q, 1.0, 4);
  s.FillOnce();
  for (uint64_t id = 1; id <= 4; id++) {
    EXPECT_EQ("load", s.Fix(id));
  }
  EXPECT_FALSE(s.Lookup(10));
  EXPECT_FALSE(s.Offer(10));   // unknown: A1 = {10}
  EXPECT_FALSE(s.Lookup(10));  // found in A1: marked
  // While the primary cache holds 10, others roll A1 over.
  for (uint64_t id = 20; id < 40; id++) {
    EXPECT_EQ("pass", s.Fix(id));
  }
  EXPECT_TRUE(s.Offer(10));
  EXPECT_TRUE(s.Holds(10));
  // The paper's rule forgets it.
  Simulation paper(Policy::k2QPaper, 1.0, 4);
  for (uint64_t id = 1; id <= 5; id++) {
    paper.Fix(id);
  }
  paper.Offer(10);
  paper.Lookup(10);
  for (uint64_t id = 20; id < 40; id++) {
    paper.Fix(id);
  }
  EXPECT_FALSE(paper.Offer(10));
}

TEST(PolicyTest, AnOfferWithoutALookupIsNoSecondUse) {
  Simulation s(Policy::k2Q, 1.0, 2);
  s.FillOnce();
  s.Fix(1);
  s.Fix(2);
  s.Fix(3);
  EXPECT_FALSE(s.Offer(9));
  EXPECT_FALSE(s.Offer(9));  // known to A1, but nobody asked for it
  EXPECT_FALSE(s.Lookup(9));
  EXPECT_TRUE(s.Offer(9));
}

TEST(PolicyTest, BlockMovedToThePrimaryCacheIsTakenBack) {
  for (Policy policy : {Policy::k2Q, Policy::kLru}) {
    Simulation s(policy, 0.5, 4);
    s.FillOnce();
    for (uint64_t id = 1; id <= 5; id++) {
      s.Fix(id);
    }
    s.Remove(4, /*moved=*/true);
    EXPECT_FALSE(s.Holds(4));
    EXPECT_TRUE(s.Offer(4));
  }
}

// So many references come to A1, a fourth of them victims, and so many of 100 of each kind return.
void PushTo(Window* window, int references, int victims_per_100, int newcomers_per_100) {
  for (int i = 0; i < references; i++) {
    const bool victim = i % 4 == 0;
    window->OnPush(victim);
    if (i / 4 % 100 < (victim ? victims_per_100 : newcomers_per_100)) {
      window->OnReturn(victim);
    }
  }
}

TEST(WindowTest, OpensWhileTheHotSetMoves) {
  Window window;
  EXPECT_EQ(1, window.factor());
  PushTo(&window, 40000, 2, 20);
  EXPECT_EQ(8, window.factor());
  PushTo(&window, 40000, 20, 20);  // they return alike: a little open
  EXPECT_EQ(1.5, window.factor());
  PushTo(&window, 40000, 40, 20);  // victims return more often: closed
  EXPECT_EQ(1, window.factor());
}

int TakenOf(Window* window, int newcomers) {
  int taken = 0;
  for (int i = 0; i < newcomers; i++) {
    taken += window->TakesNewcomer() ? 1 : 0;
  }
  return taken;
}

TEST(WindowTest, TakesNewcomersWhileTheyReturnMuchMoreOftenThanVictims) {
  Window window;
  PushTo(&window, 3400, 2, 20);  // too few to be sure
  EXPECT_EQ(0, TakenOf(&window, 80));
  PushTo(&window, 40000, 2, 20);
  EXPECT_EQ(70, TakenOf(&window, 80));  // the others go on to tell how often they return
  PushTo(&window, 40000, 10, 20);       // half as often: it stays as it is
  EXPECT_EQ(70, TakenOf(&window, 80));
  PushTo(&window, 40000, 16, 20);
  EXPECT_EQ(0, TakenOf(&window, 80));
  PushTo(&window, 40000, 10, 20);
  EXPECT_EQ(0, TakenOf(&window, 80));
}

TEST(PolicyTest, RemovedBlockLeavesNoReference) {
  Simulation s(Policy::k2Q, 1.0, 2);
  s.FillOnce();
  s.Fix(1);
  s.Fix(2);
  s.Remove(2, /*moved=*/false);
  EXPECT_EQ("pass", s.Fix(2));  // the room it left is not for blocks used once
}

TEST(PolicyTest, NoReferencesWithoutRoomForThem) {
  Simulation s(Policy::k2Q, 0.0, 2);
  s.FillOnce();
  for (uint64_t id = 1; id <= 3; id++) {
    s.Fix(id);
  }
  for (int round = 0; round < 3; round++) {
    EXPECT_EQ("pass", s.Fix(9));
  }
  EXPECT_EQ(0u, s.policy().ghosts());
}

TEST(PolicyTest, GhostLimitBoundsA1) {
  TwoQ policy(Policy::k2Q, 16.0);
  policy.SetGhostLimit(10);
  policy.Add(0, 7);
  for (uint64_t hash = 100; hash < 200; hash++) {
    EXPECT_FALSE(policy.Offer(hash * 0x9E3779B97F4A7C15u, /*room=*/false));
    EXPECT_LE(policy.ghosts(), 10u);
  }
  EXPECT_EQ(10u, policy.ghosts());
}

// The primary cache's size is learned from the distance between look-up and offer, and A1 grows.
TEST(PolicyTest, GhostsGrowWithThePrimaryCache) {
  constexpr size_t kPrimary = 2000;
  TwoQ policy(Policy::k2Q, 0.5);
  policy.Add(0, 7);
  Random64 random(301);
  std::deque<uint64_t> primary;
  for (int i = 0; i < 200000; i++) {
    const uint64_t hash = random.Next();
    bool ghost_hit;
    policy.Lookup(hash, &ghost_hit);
    primary.push_back(hash);
    if (primary.size() > kPrimary) {
      policy.Offer(primary.front(), /*room=*/false);
      primary.pop_front();
    }
  }
  EXPECT_GT(policy.ghosts(), kPrimary * 3 / 2);
  EXPECT_LT(policy.ghosts(), kPrimary * 3);
}

uint64_t HitsOnZipfWithScans(Policy policy, double ghost_ratio) {
  constexpr uint64_t kBlocks = 10000;
  Simulation s(policy, ghost_ratio, 500);
  s.FillOnce();
  Random random(301);
  uint64_t hits = 0;
  for (int i = 0; i < 200000; i++) {
    // Skewed: the square of a uniform number falls near zero often.
    const double u = random.Uniform(1 << 20) / static_cast<double>(1 << 20);
    hits += s.Fix(static_cast<uint64_t>(u * u * u * u * kBlocks)) == "hit";
    if (i % 50000 == 49999) {
      for (uint64_t id = 0; id < kBlocks; id++) {  // a full scan
        s.Fix(1000000 + id);
      }
    }
  }
  return hits;
}

TEST(PolicyTest, TwoQBeatsLruOnSkewWithScans) {
  const uint64_t two_q = HitsOnZipfWithScans(Policy::k2Q, 0.5);
  const uint64_t lru = HitsOnZipfWithScans(Policy::kLru, 0.5);
  fprintf(stderr, "hits: 2q %d, lru %d\n", static_cast<int>(two_q), static_cast<int>(lru));
  EXPECT_GT(two_q, lru * 105 / 100);
  EXPECT_EQ(two_q, HitsOnZipfWithScans(Policy::k2Q, 0.5));  // the same calls, the same answers
}

// Blocks that are used for some time, then never again: the latest ones are the best to have.
// Misses of the second half, where it is known how they are used.
uint64_t MissesOnMovingHotSet(Policy policy) {
  constexpr int kAccesses = 400000;
  Simulation s(policy, 0.5, 1000);
  s.FillOnce();
  Random random(301);
  uint64_t misses = 0;
  for (int i = 0; i < kAccesses; i++) {
    const uint64_t id = static_cast<uint64_t>(i / 10) + random.Uniform(800);
    const bool hit = s.Fix(id) == "hit";
    misses += !hit && i >= kAccesses / 2 ? 1 : 0;
  }
  return misses;
}

TEST(PolicyTest, TwoQFollowsAHotSetThatMovesFast) {
  const uint64_t two_q = MissesOnMovingHotSet(Policy::k2Q);
  const uint64_t lru = MissesOnMovingHotSet(Policy::kLru);
  fprintf(stderr, "misses: 2q %d, lru %d\n", static_cast<int>(two_q), static_cast<int>(lru));
  EXPECT_LT(two_q, lru * 125 / 100);  // twice as many, if each newcomer had to be missed twice
}

TEST(PolicyTest, AScanDoesNotFlushAm) {
  Simulation s(Policy::k2Q, 0.5, 100);
  s.FillOnce();
  for (uint64_t id = 0; id < 100; id++) {
    s.Fix(id);
  }
  for (uint64_t id = 1000; id < 100000; id++) {
    EXPECT_EQ("pass", s.Fix(id));
  }
  for (uint64_t id = 0; id < 100; id++) {
    EXPECT_TRUE(s.Holds(id));
  }
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
