// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Random changes, reads, snapshots, flushes, compactions and reopens in threads, with everything
// checked against what was written. ROCKTIER_SEED: another seed; ROCKTIER_ROUNDS: more rounds.

#pragma once

#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "test/hot_promotion/history.h"
#include "test/hot_promotion/support.h"
#include "test/support/direct.h"
#include "test/support/seed.h"
#include "utilities/merge_operators.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

constexpr int kKeys = 2000;
constexpr int kWriters = 2;
constexpr int kReaders = 2;
constexpr int kReadsPerRound = 20000;
// At least, or threads that were not run would leave nothing to test.
constexpr int kMaintenancePerRound = 10;
constexpr uint64_t kServed = 100;  // from copies, or nothing was tested
constexpr int kMoreRounds = 20;

class RandomDb : public HotDb {
 protected:
  RandomDb() : seed_(static_cast<uint32_t>(rocktier::Seed())) {
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    options_.disable_auto_compactions = false;
    options_.write_buffer_size = 64 << 10;
    options_.target_file_size_base = 32 << 10;
    options_.max_bytes_for_level_base = 64 << 10;
    options_.max_bytes_for_level_multiplier = 4;
    options_.level0_file_num_compaction_trigger = 2;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.max_subcompactions = 2;
    options_.cf_paths = {{root_ + "/db", 128 << 10}, {root_ + "/slow", 1 << 30}};
    hot_.slow = root_ + "/slow";
    hot_.budget = 1 << 20;
    hot_.promotion_cache = 256 << 10;
    hot_.ralt_buffer_bytes = 4 << 10;
    hot_.direct_io = seed_ % 2 == 0 && CanDirectIo(root_);
  }

  // Most reads go to few keys.
  static int Key(Random* random) {
    return random->OneIn(4) ? random->Uniform(kKeys) : random->Uniform(kKeys / 10) * 10;
  }

  void Write(int writer, uint32_t seed) {
    const int share = kKeys / kWriters;
    RandomWriter random_writer(db_.get(), &history_, writer * share, (writer + 1) * share, seed);
    if (!ranges_) {
      random_writer.LeaveRanges();
    }
    while (!stop_) {
      ASSERT_OK(random_writer.WriteOne());
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  void Read(uint32_t seed) {
    Random random(seed);
    for (int i = 0;
         i < kReadsPerRound || (maintained_ < kMaintenancePerRound && !HasFatalFailure()); i++) {
      if (random.OneIn(8)) {
        ReadMany(&random);
      } else if (random.OneIn(10)) {
        ReadEntity(Key(&random));
      } else {
        const int key = Key(&random);
        const size_t mark = history_.Mark(key);
        Expect(key, mark, Get(history_.Name(key)));
      }
    }
  }

  void ReadMany(Random* random) {
    std::set<int> keys;
    while (keys.size() < 20) {
      keys.insert(Key(random));
    }
    std::vector<std::string> names;
    std::vector<size_t> marks;
    for (const int key : keys) {
      names.push_back(history_.Name(key));
      marks.push_back(history_.Mark(key));
    }
    const auto values = MultiGet(names);
    size_t i = 0;
    for (const int key : keys) {
      Expect(key, marks[i], values[i]);
      i++;
    }
  }

  void ReadEntity(int key) {
    const size_t mark = history_.Mark(key);
    PinnableWideColumns columns;
    const Status s =
        db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), history_.Name(key), &columns);
    Expect(key, mark,
           s.ok()           ? columns.columns()[0].value().ToString()
           : s.IsNotFound() ? kAbsent
                            : s.ToString());
  }

  // What a snapshot has does not change, whatever is promoted meanwhile.
  void Snapshots(uint32_t seed) {
    Random random(seed);
    while (!stop_) {
      ReadOptions at;
      at.snapshot = db_->GetSnapshot();
      std::map<int, std::string> first;
      for (int i = 0; i < 200; i++) {
        const int key = Key(&random);
        const std::string value = Get(history_.Name(key), at);
        const auto [it, inserted] = first.emplace(key, value);
        EXPECT_EQ(it->second, value) << history_.Name(key);
      }
      std::unique_ptr<Iterator> it(db_->NewIterator(at));
      for (const auto& [key, value] : first) {
        EXPECT_EQ(value, Get(history_.Name(key), at)) << history_.Name(key);
        it->Seek(history_.Name(key));
        const bool found = it->Valid() && it->key() == history_.Name(key);
        EXPECT_EQ(value, found ? it->value().ToString() : kAbsent);
      }
      it.reset();
      db_->ReleaseSnapshot(at.snapshot);
    }
  }

  void Maintain(uint32_t seed) {
    Random random(seed);
    for (; !stop_ && !HasFatalFailure(); maintained_++) {
      switch (random.Uniform(4)) {
        case 0:
          ASSERT_OK(db_->Flush(FlushOptions()));
          break;
        case 1: {
          const std::string begin = history_.Name(random.Uniform(kKeys));
          const Slice slice(begin);
          const Status s = db_->CompactRange(CompactRangeOptions(), &slice, nullptr);
          ASSERT_TRUE(s.ok() || s.IsIncomplete()) << s.ToString();
          break;
        }
        default: {
          const Status s = SettleHotPromotion(options_.table_factory.get());
          ASSERT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  void Expect(int key, size_t mark, const std::string& result) {
    EXPECT_TRUE(history_.Check(key, mark, result))
        << history_.Name(key) << " has " << result << ", latest is " << history_.Latest(key);
  }

  void CheckAll() {
    for (int key = 0; key < kKeys; key++) {
      EXPECT_EQ(history_.Latest(key), Get(history_.Name(key))) << history_.Name(key);
    }
  }

  // The directory of the copies is opened with the first SST.
  void FlushSome() {
    RandomWriter writer(db_.get(), &history_, 0, kKeys, seed_);
    writer.LeaveRanges();
    for (int i = 0; i < 100; i++) {
      ASSERT_OK(writer.WriteOne());
    }
    Flush();
  }

  void Round(uint32_t seed) {
    stop_ = false;
    maintained_ = 0;
    std::vector<std::thread> background;
    for (int i = 0; i < kWriters; i++) {
      background.emplace_back([this, i, seed] { Write(i, seed * 100 + i); });
    }
    background.emplace_back([this, seed] { Snapshots(seed * 100 + 10); });
    background.emplace_back([this, seed] { Maintain(seed * 100 + 11); });
    std::vector<std::thread> readers;
    for (int i = 0; i < kReaders; i++) {
      readers.emplace_back([this, i, seed] { Read(seed * 100 + 20 + i); });
    }
    for (std::thread& reader : readers) {
      reader.join();
    }
    stop_ = true;
    for (std::thread& thread : background) {
      thread.join();
    }
  }

  // Whole rounds, with the database closed after each, and its directory after every other. More
  // of them if they have tested nothing yet: it is chance how much runs in the background.
  void RunRounds(int rounds) {
    uint64_t served = 0;
    const auto has_tested = [&] { return served > kServed && HasTested(); };
    for (int round = 0;
         (round < rounds || (round < rounds + kMoreRounds && !has_tested())) && !HasFailure();
         round++) {
      Open();
      if (round == 0) {
        FlushSome();
      }
      CheckAll();
      Round(seed_ + round);
      CheckAll();
      const HotPromotionStats stats = Stats();
      served += stats.served_store + stats.served_memory;
      EXPECT_EQ(0u, stats.errors);
      BeforeClose();
      if (round % 2 == 0) {
        CloseAll();
      } else {
        Close();
      }
    }
    EXPECT_GT(served, kServed);
    printf("served from copies: %d\n", static_cast<int>(served));
  }

  virtual void BeforeClose() {}
  virtual bool HasTested() const { return true; }

  const uint32_t seed_;
  bool ranges_ = true;  // whether there are range deletions
  History history_{kKeys};
  std::atomic<bool> stop_{false};
  std::atomic<int> maintained_{0};
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
