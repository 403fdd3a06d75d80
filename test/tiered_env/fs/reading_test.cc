// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Readers while files move.

#include <atomic>
#include <filesystem>
#include <thread>

#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

struct Way {
  const char* name;
  bool direct;
  bool mmap;
  bool async;
  int open_files;
  const char* tier_kind;
};

const Way kWays[] = {
    {"Buffered", false, false, false, -1, ""},
    {"Direct", true, false, false, -1, ""},
    {"Mmap", false, true, false, -1, ""},
    {"Async", false, false, true, -1, ""},
    {"AsyncDirect", true, false, true, -1, ""},
    {"FewOpenFiles", false, false, false, 10, ""},
    {"Pmem", false, false, false, -1, "kind=pmem"},
    {"PmemMmap", false, true, true, -1, "kind=pmem"},
};

class TieredReadingTest : public TieredTest, public ::testing::WithParamInterface<int> {
 protected:
  const Way& way() const { return kWays[GetParam()]; }

  Options ReadingOptions() const {
    Options options = DbOptions();
    options.use_direct_reads = way().direct;
    options.allow_mmap_reads = way().mmap;
    options.max_open_files = way().open_files;
    options.disable_auto_compactions = true;
    options.num_levels = 5;
    return options;
  }

  // All that there is, to this level, by a change of the MANIFEST alone where that can do.
  void PutIntoLevel(int level) {
    CompactRangeOptions to;
    to.change_level = true;
    to.target_level = level;
    to.bottommost_level_compaction = BottommostLevelCompaction::kSkip;
    ASSERT_OK(db_->CompactRange(to, nullptr, nullptr));
  }

  void ReadAtRandom(uint64_t seed) {
    std::mt19937_64 random(seed);
    ReadOptions options;
    options.fill_cache = false;
    options.async_io = way().async;
    const auto some = [&] {
      return std::next(model_.begin(), static_cast<int>(random() % model_.size()));
    };
    while (!done_) {
      PinnableSlice value;
      const auto wanted = some();
      ASSERT_OK(db_->Get(options, db_->DefaultColumnFamily(), wanted->first, &value));
      ASSERT_EQ(value, wanted->second);
      std::vector<Slice> keys;
      std::vector<std::string> values;
      for (int i = 0; i < 20; i++) {
        keys.push_back(some()->first);
      }
      for (const Status& s : db_->MultiGet(options, keys, &values)) {
        ASSERT_OK(s);
      }
      for (size_t i = 0; i < keys.size(); i++) {
        ASSERT_EQ(values[i], model_.at(keys[i].ToString()));
      }
      std::unique_ptr<Iterator> it(db_->NewIterator(options));
      auto expected = some();
      it->Seek(expected->first);
      for (int i = 0; i < 500 && expected != model_.end(); i++, ++expected, it->Next()) {
        ASSERT_TRUE(it->Valid()) << it->status().ToString();
        ASSERT_EQ(it->key(), expected->first);
        ASSERT_EQ(it->value(), expected->second);
      }
      reads_++;
    }
  }

  std::atomic<bool> done_{false};
  std::atomic<uint64_t> reads_{0};
};

TEST_P(TieredReadingTest, WhileFilesMoveToAndFro) {
  NewFs(Tiers(way().tier_kind), "0..2=fast;3..=slow");
  Open(ReadingOptions());
  Fill(5000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  PutIntoLevel(2);
  std::unique_ptr<Iterator> old(db_->NewIterator(ReadOptions()));
  old->SeekToFirst();
  std::vector<std::thread> readers;
  for (uint64_t i = 0; i < 4; i++) {
    readers.emplace_back([this, i] { ReadAtRandom(i); });
  }
  for (int i = 0; i < 10; i++) {
    PutIntoLevel(i % 2 == 0 ? 4 : 2);
    ASSERT_OK(WaitForMoves(fs_.get()));
    for (const auto& [where, count] : Census()) {
      EXPECT_EQ(where.substr(3), i % 2 == 0 ? "slow" : "fast") << where;
    }
    const uint64_t before = reads_;
    while (reads_ < before + 8 && !HasFailure()) {
      std::this_thread::yield();
    }
  }
  done_ = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_GT(Moves(), 10u);
  auto expected = model_.begin();
  for (; old->Valid(); old->Next(), ++expected) {
    ASSERT_EQ(old->key(), expected->first);
    ASSERT_EQ(old->value(), expected->second);
  }
  EXPECT_EQ(expected, model_.end());
  old.reset();
  ExpectQuiet();
  EXPECT_EQ(FilesIn("slow"), 0u);
  EXPECT_GT(StatsOf("slow").reads, 0u);
  EXPECT_GT(StatsOf("slow").read_bytes, 0u);
  Verify();
  // What was moved is open no longer, but for what may be mapped.
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string name = std::filesystem::read_symlink(entry.path(), ignored).string();
    EXPECT_TRUE(way().mmap || way().async || *way().tier_kind != '\0' ||
                name.find(folder_) == std::string::npos ||
                name.find("(deleted)") == std::string::npos)
        << name;
  }
}

// Writers, compactions and the mover at once.
TEST_P(TieredReadingTest, WhileThereIsMuchToDo) {
  NewFs(Tiers(std::string("budget=200K") + (*way().tier_kind != '\0' ? ";" : "") + way().tier_kind),
        "0..1=fast;2..=slow");
  Options options = ReadingOptions();
  options.disable_auto_compactions = false;
  Open(options);
  Fill(5000, 5000);
  std::vector<std::thread> readers;
  for (uint64_t i = 0; i < 2; i++) {
    readers.emplace_back([this, i] { ReadAtRandom(i); });
  }
  for (int i = 0; i < 20000; i++) {  // what is read stays as it is
    ASSERT_OK(db_->Put(WriteOptions(), "zzz" + std::to_string(random_() % 10000),
                       std::string(100, static_cast<char>('a' + i % 26))));
  }
  done_ = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  ExpectQuiet();
}

INSTANTIATE_TEST_CASE_P(Ways, TieredReadingTest,
                        ::testing::Range(0, static_cast<int>(std::size(kWays))),
                        [](const auto& each) { return std::string(kWays[each.param].name); });

}  // namespace

}  // namespace rocktier
