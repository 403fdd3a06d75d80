// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/hot_promotion/support.h"

#include "file/file_util.h"
#include "test/support/wait.h"
#include "test_util/testutil.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

std::string KeyOf(int i) {
  char key[16];
  snprintf(key, sizeof(key), "key%08d", i);
  return key;
}

std::string ValueOf(int i, int version) {
  Random random(i * 1000 + version + 1);
  return KeyOf(i) + "@" + std::to_string(version) + ":" + random.RandomString(100);
}

HotDb::HotDb() : root_(test::PerThreadDBPath("hot_promotion")), path_(root_ + "/db") {
  EXPECT_OK(DestroyDir(Env::Default(), root_));
  EXPECT_OK(Env::Default()->CreateDirIfMissing(root_));
  options_.create_if_missing = true;
  options_.disable_auto_compactions = true;
  options_.merge_operator = nullptr;
  hot_.path = root_ + "/hot";
  hot_.budget = 8 << 20;
  hot_.slow = path_;
  hot_.promotion_cache = 1 << 20;
  hot_.slow_read_micros = 0;  // it is all in memory
}

HotDb::~HotDb() {
  CloseAll();
  EXPECT_OK(DestroyDir(Env::Default(), root_));
}

void HotDb::NewFactory() {
  ASSERT_OK(NewHotPromotionTableFactory(hot_, table_options_, &options_.table_factory));
}

void HotDb::Open() {
  if (options_.table_factory == nullptr ||
      !options_.table_factory->IsInstanceOf(HotPromotionTable::kClassName())) {
    NewFactory();
  }
  ASSERT_OK(OpenDb(options_, path_, &db_));
  before_ = Served();
}

void HotDb::Close() { db_.reset(); }

void HotDb::CloseAll() {
  Close();
  options_.table_factory.reset();
}

void HotDb::Fill(int from, int to, int version) {
  for (int i = from; i < to; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), KeyOf(i), ValueOf(i, version)));
  }
}

void HotDb::Compact() {
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(options, nullptr, nullptr));
}

void HotDb::Settle() {
  Status s;
  rocktier::WaitFor([&] {
    s = SettleHotPromotion(options_.table_factory.get());
    return !s.IsBusy() && !(may_be_damaged_ && s.IsCorruption());
  });
  ASSERT_OK(s);
}

void HotDb::Heat(int from, int to) {
  for (int round = 0; round < 3; round++) {
    for (int i = from; i < to; i++) {
      Get(i);
    }
    Settle();
  }
  TakeServed();
}

std::string HotDb::Get(const Slice& key, const ReadOptions& options) {
  std::string value;
  const Status s = db_->Get(options, key, &value);
  return s.ok() ? value : s.IsNotFound() ? "none" : s.ToString();
}

std::vector<std::string> HotDb::MultiGet(const std::vector<std::string>& keys,
                                         const ReadOptions& options) {
  std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  db_->MultiGet(options, db_->DefaultColumnFamily(), keys.size(), slices.data(), values.data(),
                statuses.data());
  std::vector<std::string> result;
  for (size_t i = 0; i < keys.size(); i++) {
    result.push_back(statuses[i].ok()           ? values[i].ToString()
                     : statuses[i].IsNotFound() ? "none"
                                                : statuses[i].ToString());
  }
  return result;
}

HotPromotionStats HotDb::Stats() const {
  HotPromotionStats stats;
  EXPECT_OK(GetHotPromotionStats(options_.table_factory.get(), &stats));
  return stats;
}

HotDb::Served HotDb::TakeServed() {
  const HotPromotionStats stats = Stats();
  const Served now{stats.served_memory, stats.served_store, stats.served_fast, stats.served_slow,
                   stats.bypassed};
  const Served result{now.memory - before_.memory, now.store - before_.store,
                      now.fast - before_.fast, now.slow - before_.slow,
                      now.bypassed - before_.bypassed};
  before_ = now;
  return result;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
