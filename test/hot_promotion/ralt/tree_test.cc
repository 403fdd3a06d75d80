// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The tree against an exact model.

#include "plugin/hot_promotion/ralt/tree.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "test/hot_promotion/ralt/model.h"
#include "test/hot_promotion/ralt/support.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

class TreeTest : public testing::Test {
 protected:
  static constexpr Space kSpace = 0x0102030405060708;

  TreeTest() : env_(NewMemEnv(Env::Default())) {
    options_.env = env_.get();
    options_.path = "/ralt";
    options_.fast_bytes = 1 << 20;
  }

  void Open() {
    tree_.reset();
    tree_ = std::make_unique<Tree>(options_);
    ASSERT_OK(tree_->Open());
    if (!model_) {
      model_ = std::make_unique<Model>(Parameters(options_));
    }
  }

  void Access(uint64_t number, uint64_t size) {
    const std::string name = Name(number);
    feeder_.Access(kSpace, name, size - name.size());
    model_->Access(Whole(kSpace, name), size);
  }

  void Maintain() {
    ASSERT_OK(feeder_.Feed(tree_.get()));
    ASSERT_OK(tree_->Maintain(Always));
  }

  // Records, scores, counters and tags are those of the model.
  void ExpectAsModel() const {
    const std::map<std::string, Record> records = RecordsOf(*tree_);
    ASSERT_EQ(model_->tick(), tree_->tick());
    ASSERT_EQ(model_->keys().size(), records.size());
    for (const auto& [name, key] : model_->keys()) {
      const auto it = records.find(name);
      ASSERT_NE(records.end(), it) << name;
      const Record& record = it->second;
      const double fade =
          std::pow(options_.alpha, static_cast<double>(tree_->tick() - record.last));
      ASSERT_NEAR(model_->Score(key), record.score * fade, 1e-4 * record.score) << name;
      ASSERT_EQ(key.size, record.size) << name;
      ASSERT_EQ(key.ticks.size() > 1, record.again) << name;
      ASSERT_EQ(model_->Stable(key), tree_->scoring().Stable(record, tree_->tick())) << name;
    }
  }

  void ExpectAllHot() const {
    for (const auto& [name, key] : model_->keys()) {
      Slice rest(name);
      rest.remove_prefix(kSpaceSize);
      ASSERT_TRUE(tree_->IsHot(kSpace, rest)) << name;
    }
  }

  uint64_t DiskBytes() const {
    std::vector<std::string> files;
    EXPECT_OK(env_->GetChildren(options_.path, &files));
    uint64_t bytes = 0;
    for (const std::string& file : files) {
      uint64_t size = 0;
      EXPECT_OK(env_->GetFileSize(options_.path + "/" + file, &size));
      bytes += size;
    }
    return bytes;
  }

  size_t HotOf(uint64_t begin, uint64_t end) const {
    size_t hot = 0;
    for (uint64_t i = begin; i < end; ++i) {
      hot += tree_->IsHot(kSpace, Name(i)) ? 1 : 0;
    }
    return hot;
  }

  const std::unique_ptr<Env> env_;
  RaltOptions options_;
  std::unique_ptr<Tree> tree_;
  std::unique_ptr<Model> model_;
  Feeder feeder_;
};

TEST_F(TreeTest, NothingIsHotAtFirst) {
  Open();
  EXPECT_FALSE(tree_->IsHot(kSpace, "key"));
  EXPECT_EQ(0u, tree_->Stats().hot_bytes);
  EXPECT_OK(tree_->Maintain(Always));
}

TEST_F(TreeTest, KnowsEveryAccessExactly) {
  Random random(Seed());
  options_.initial_hot_ratio = 1;
  options_.hot_max_ratio = 1;
  options_.max_bytes = 8 << 20;
  Open();
  for (int flush = 0; flush < 60; ++flush) {
    for (int i = 0; i < 100; ++i) {
      Access(random.Skewed(10), 100 + random.Uniform(50));
    }
    Maintain();
    if (flush % 20 == 7) {
      Open();
    }
  }
  EXPECT_EQ(0u, tree_->Stats().evictions);
  EXPECT_GT(tree_->Stats().merges, 0u);
  EXPECT_LT(tree_->Stats().runs, 8u);
  ExpectAsModel();
  ExpectAllHot();
}

// So that the memory for their sorting is bounded.
TEST_F(TreeTest, VeryManyAccessesBecomeSeveralRuns) {
  constexpr uint64_t kAccesses = 5000;
  options_.fast_bytes = 1 << 30;
  Open();
  Buffer buffer(32 << 20, UINT64_MAX);
  const std::string filling(4000, 'k');
  for (uint64_t i = 0; i < kAccesses; ++i) {
    ASSERT_TRUE(buffer.Add(kSpace, Name(i) + filling, 10));
  }
  ASSERT_OK(tree_->Add(buffer.Collect()));
  EXPECT_EQ(2u, tree_->Stats().runs);
  EXPECT_EQ(2u, tree_->Stats().flushes);
  EXPECT_EQ(kAccesses, tree_->Stats().records);
  for (uint64_t i = 0; i < kAccesses; i += 100) {
    EXPECT_TRUE(tree_->IsHot(kSpace, Name(i) + filling));
  }
}

TEST_F(TreeTest, EvictionLeavesTheStableRecords) {
  Random random(Seed());
  // A tick is 10000 bytes, the initial limit 50000, what may be unstable 7000.
  options_.fast_bytes = 100000;
  Open();
  uint64_t evictions = 0;
  for (int flush = 0; flush < 400; ++flush) {
    for (int i = 0; i < 20; ++i) {
      Access(random.OneIn(3) ? random.Uniform(100) : 100 + random.Uniform(5000), 100);
    }
    const uint64_t limit = tree_->Stats().hot_limit;
    Maintain();
    const RaltStats stats = tree_->Stats();
    // No false positive of a filter may make a key uncounted at the very limit.
    if (model_->Bytes() > limit + 1000) {
      EXPECT_GT(stats.evictions, evictions);
    } else if (model_->Bytes() <= limit) {
      EXPECT_EQ(stats.evictions, evictions);
    }
    if (stats.evictions > evictions) {
      ASSERT_EQ(0u, stats.evicted_cold);
      model_->EvictUnstable();
      ExpectAsModel();
      EXPECT_EQ(model_->StableBytes(), stats.stable_bytes);
      EXPECT_EQ(std::clamp<uint64_t>(model_->StableBytes() + 7000, 5000, 70000), stats.hot_limit);
      EXPECT_EQ(model_->Bytes(), stats.hot_bytes);
      EXPECT_EQ(1u, stats.runs);
    }
    evictions = stats.evictions;
  }
  EXPECT_GT(evictions, 10u);
  ExpectAsModel();
}

TEST_F(TreeTest, RecordsOfLowScoreGoWhenTheStableOnesAreTooMany) {
  Random random(Seed());
  options_.fast_bytes = 100000;  // hot records have 70000 at most
  options_.max_bytes = 8 << 20;
  Open();
  // 1000 keys of 100 bytes: key i is accessed twice in every (1 + i/100)th round.
  for (int round = 0; round < 40; ++round) {
    for (uint64_t i = 0; i < 1000; ++i) {
      if (round % static_cast<int>(1 + i / 100) == 0) {
        Access(i, 100);
        Access(i, 100);
      }
    }
    Maintain();
  }
  const RaltStats stats = tree_->Stats();
  EXPECT_GT(stats.evictions, 0u);
  EXPECT_EQ(70000u, stats.hot_limit);
  // An eviction leaves 63000, and the next is not due before 70000.
  EXPECT_LE(stats.hot_bytes, 70000u + 500);
  EXPECT_GE(stats.hot_bytes, 60000u);
  EXPECT_EQ(100u, HotOf(0, 100)) << "the most often accessed";
  EXPECT_EQ(100u, HotOf(100, 200));
  EXPECT_LT(HotOf(900, 1000u), 50) << "the least often accessed";
}

TEST_F(TreeTest, TheTableKeepsToItsOwnLimit) {
  Random random(Seed());
  options_.fast_bytes = 100 << 20;  // no limit to speak of
  options_.max_bytes = 256 << 10;
  Open();
  for (int flush = 0; flush < 100; ++flush) {
    for (int i = 0; i < 500; ++i) {
      const uint64_t number = random.Uniform(20000);
      Access(number, 1000);
      Access(number, 1000);
    }
    Maintain();
    ASSERT_LE(tree_->Stats().file_bytes, 256u << 10);
  }
  EXPECT_GT(tree_->Stats().evictions, 0u);
  EXPECT_GT(tree_->Stats().evicted_cold, 0u);
  EXPECT_GT(tree_->Stats().files, 1u);
}

TEST_F(TreeTest, HotBytesAreThoseOfTheRecords) {
  Random random(Seed());
  options_.initial_hot_ratio = 1;
  options_.hot_max_ratio = 1;
  options_.fast_bytes = 100 << 20;
  Open();
  for (int flush = 0; flush < 12; ++flush) {
    for (int i = 0; i < 3000; ++i) {
      Access(random.Uniform(20000), 500);
    }
    Maintain();
  }
  const RaltStats stats = tree_->Stats();
  const uint64_t all = model_->Bytes();
  EXPECT_NEAR(static_cast<double>(all), static_cast<double>(stats.hot_bytes), 0.01 * all);
}

TEST_F(TreeTest, FewOtherKeysAreHot) {
  options_.fast_bytes = 100 << 20;
  Open();
  for (uint64_t i = 0; i < 20000; ++i) {
    Access(i, 100);
    if (i % 1000 == 0) {
      Maintain();
    }
  }
  Maintain();
  EXPECT_EQ(20000u, HotOf(0, 20000));
  EXPECT_LT(HotOf(20000, 120000u), 200) << "0.2%";
}

TEST_F(TreeTest, SpacesDoNotMix) {
  Open();
  feeder_.Access(1, "a", 10);
  feeder_.Access(2, "b", 10);
  Maintain();
  EXPECT_TRUE(tree_->IsHot(1, "a"));
  EXPECT_FALSE(tree_->IsHot(2, "a"));
  EXPECT_TRUE(tree_->IsHot(2, "b"));
  EXPECT_GE(tree_->Stats().hot_bytes, 22u);
}

TEST_F(TreeTest, AMergeThatIsInterruptedLosesNothing) {
  Random random(Seed());
  options_.initial_hot_ratio = 1;
  options_.hot_max_ratio = 1;
  options_.fast_bytes = 1 << 30;
  options_.max_bytes = 2 << 20;  // files of 64K
  options_.path = "/ralt";
  Open();
  for (int flush = 0; flush < 4; ++flush) {
    for (int i = 0; i < 5000; ++i) {
      Access(random.Uniform(20000), 100);
    }
    ASSERT_OK(feeder_.Feed(tree_.get()));
  }
  int steps = 2;
  const Status s = tree_->Maintain([&] { return --steps > 0; });
  ASSERT_TRUE(s.IsAborted()) << s.ToString();
  EXPECT_GT(tree_->Stats().runs, 4u) << "the four, and a part of the new one";
  ExpectAsModel();
  ExpectAllHot();
  Open();
  ExpectAsModel();
  // Runs that come while a merge is under way.
  bool fed = false;
  const Between feed = [&] {
    if (!fed) {
      Access(30000, 100);
      EXPECT_OK(feeder_.Feed(tree_.get()));
      fed = true;
    }
    return true;
  };
  ASSERT_OK(tree_->Maintain(feed));
  EXPECT_TRUE(fed);
  ExpectAsModel();
  Open();
  ExpectAsModel();
  EXPECT_TRUE(tree_->IsHot(kSpace, Name(30000)));
}

TEST_F(TreeTest, AMergeTakesLittleMoreRoomThanTheTable) {
  Random random(Seed());
  options_.initial_hot_ratio = 1;
  options_.hot_max_ratio = 1;
  options_.fast_bytes = 1 << 30;
  options_.max_bytes = 2 << 20;  // files of 64K
  Open();
  for (uint64_t i = 0; i < 60000; ++i) {
    Access(i * 7919 % 60000, 100);
    if (i % 1000 == 0) {
      Maintain();
    }
  }
  // As much as a sixth of it all, in runs of one file.
  for (int flush = 0; flush < 4; ++flush) {
    for (int i = 0; i < 2500; ++i) {
      Access(random.Uniform(60000), 100);
    }
    ASSERT_OK(feeder_.Feed(tree_.get()));
  }
  const uint64_t before = DiskBytes();
  uint64_t most = 0;
  int steps = 0;
  const Between watch = [&] {
    ++steps;
    most = std::max(most, DiskBytes());
    return true;
  };
  ASSERT_OK(tree_->Maintain(watch));
  EXPECT_GT(steps, 10);
  // A file of each input is being read, and one written.
  EXPECT_LT(most, before + 7 * (80u << 10));
  EXPECT_GT(before, 14 * (80u << 10)) << "else this says nothing";
  ExpectAsModel();
}

TEST_F(TreeTest, LeavesNoFilesBehind) {
  Random random(Seed());
  options_.fast_bytes = 100000;
  Open();
  for (int flush = 0; flush < 50; ++flush) {
    for (int i = 0; i < 50; ++i) {
      Access(random.Uniform(2000), 100);
    }
    Maintain();
  }
  std::vector<std::string> files;
  ASSERT_OK(env_->GetChildren(options_.path, &files));
  EXPECT_EQ(tree_->Stats().files + 2, files.size()) << "and the catalog and the lock";
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
