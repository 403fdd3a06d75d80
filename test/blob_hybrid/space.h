// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What tests of the bound of space share.

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/blob_hybrid/support.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

constexpr int kKeys = 3000;
constexpr size_t kValue = 1000;
constexpr double kTolerance = 1.05;

// Ranks by their frequency, the most frequent first: Zipf's distribution.
class Zipf {
 public:
  Zipf(int count, double theta) {
    double sum = 0;
    for (int rank = 1; rank <= count; rank++) {
      sum += 1 / std::pow(rank, theta);
      sums_.push_back(sum);
    }
  }
  int Next(Random64* random) const {
    constexpr uint64_t kSteps = 1 << 30;
    const double u = static_cast<double>(random->Uniform(kSteps)) / kSteps * sums_.back();
    return static_cast<int>(std::upper_bound(sums_.begin(), sums_.end(), u) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

// A small database that knows what is live in it.
class SpaceTest : public HybridDb {
 protected:
  SpaceTest() : random_(Seed()) {
    options_.disable_auto_compactions = false;
    options_.write_buffer_size = 64 << 10;
    options_.target_file_size_base = 16 << 10;
    options_.max_bytes_for_level_base = 32 << 10;
    options_.max_bytes_for_level_multiplier = 4;
    options_.level0_file_num_compaction_trigger = 4;
    options_.blob_file_size = 128 << 10;
    hybrid_.max_space_amplification = 1.5;
    hybrid_.space_floor = 256 << 10;
  }

  // All values are medium then: the log is what its budget allows, and the space is what its bound
  // allows.
  void UseLog(MergeLevel level) {
    options_.min_blob_size = 2000;
    options_.target_file_size_base = 64 << 10;
    options_.max_bytes_for_level_base = 128 << 10;
    hybrid_.medium_value_size = 200;
    hybrid_.transient_log_budget = 0.2;
    hybrid_.merge_level = level;
  }

  virtual size_t SizeOf(int /*i*/) const { return kValue; }

  // What is to be there from now on.
  std::string Note(int i) {
    const std::string value = ValueOf(i, version_, SizeOf(i));
    live_[i] = {version_++, value.size()};
    deleted_.erase(i);
    written_++;
    return value;
  }

  void Write(int i) { ASSERT_OK(db_->Put(WriteOptions(), KeyOf(i), Note(i))); }

  void Forget(int i) {
    live_.erase(i);
    deleted_.insert(i);
  }

  void Delete(int i) {
    ASSERT_OK(db_->Delete(WriteOptions(), KeyOf(i)));
    Forget(i);
  }

  // Those of large values are in blob files; for others: sequence number and lengths, and its share
  // of an SST's index and properties.
  uint64_t OverheadOf(size_t bytes) const { return bytes < options_.min_blob_size ? 40 : 0; }

  uint64_t LiveBytes() const {
    uint64_t live = 0;
    for (const auto& [i, value] : live_) {
      live += KeyOf(i).size() + value.bytes + OverheadOf(value.bytes);
    }
    return live;
  }

  uint64_t Base() const { return std::max(LiveBytes(), hybrid_.space_floor); }

  uint64_t DiskBytes(ColumnFamilyHandle* family) {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(family, &meta);
    return meta.size + meta.blob_file_size;
  }
  uint64_t DiskBytes() { return DiskBytes(db_->DefaultColumnFamily()); }

  // Of live bytes. What is not flushed yet is live, and not on disk; what is being flushed may add
  // up to the bound.
  double ShareOf(uint64_t bytes) const {
    const double slack = 2.0 * static_cast<double>(options_.write_buffer_size);
    return (static_cast<double>(bytes) - slack) / static_cast<double>(Base());
  }

  void ExpectBound(const char* where) {
    const double amplification = ShareOf(DiskBytes());
    worst_ = std::max(worst_, amplification);
    EXPECT_LE(amplification, hybrid_.max_space_amplification * kTolerance)
        << where << " after " << written_ << " writes\n"
        << Stats().ToString();
  }

  // Of the log, too.
  void ExpectLog(const char* where) {
    const double share = ShareOf(Stats().medium_bytes);
    worst_log_ = std::max(worst_log_, share);
    EXPECT_LE(share, hybrid_.transient_log_budget * kTolerance)
        << where << " after " << written_ << " writes\n"
        << Stats().ToString();
    ExpectBound(where);
  }

  void ExpectBounds(const char* where) {
    if (hybrid_.medium_value_size > 0) {
      ExpectLog(where);
    } else {
      ExpectBound(where);
    }
  }

  // Those that are live, as they were written last, and no others.
  void ExpectAnswers() {
    auto expected = live_.begin();
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
      ASSERT_TRUE(expected != live_.end()) << it->key().ToString();
      const auto& [i, value] = *expected;
      ASSERT_EQ(KeyOf(i), it->key().ToString());
      const std::string wanted = ValueOf(i, value.version, value.bytes);
      ASSERT_EQ(wanted, it->value().ToString());
      ASSERT_EQ(wanted, Get(i));
    }
    ASSERT_OK(it->status());
    ASSERT_TRUE(expected == live_.end()) << KeyOf(expected->first);
    for (const int i : deleted_) {
      ASSERT_EQ("none", Get(i)) << i;
    }
  }

  void Load() {
    Open();
    for (int i = 0; i < kKeys; i++) {
      Write(i);
    }
  }

  void Overwrite(int writes, const std::function<int()>& key) {
    for (int i = 0; i < writes; i++) {
      Write(key());
      if (i % 500 == 0) {
        ExpectBounds("overwriting");
      }
    }
  }
  int Uniform() { return static_cast<int>(random_.Uniform(kKeys)); }
  int Skewed() {
    const double u = static_cast<double>(random_.Uniform(1 << 20)) / (1 << 20);
    return static_cast<int>(kKeys * u * u * u * u);
  }

  // `may_miss`: see Finish().
  void LoadAndDeleteAll(bool may_miss = false) {
    Load();
    for (int i = 0; i < kKeys; i++) {
      Delete(i);
    }
    Flush();
    Finish(may_miss);
    EXPECT_LT(DiskBytes(), hybrid_.space_floor * 3 / 2);
  }

  // Keys come and go as with a time to live: first in, first out.
  void WriteAndExpire(int writes) {
    for (int i = 0; i < writes; i++) {
      Write(i);
      if (i >= kKeys) {
        Delete(i - kKeys);
      }
      if (i % 500 == 0) {
        ExpectBounds("churn");
      }
    }
  }

  // Again and again, at any time; opens it in the end.
  void WriteAndClose() {
    for (int round = 0; round < 10; round++) {
      Open();
      const int writes = Uniform();
      for (int i = 0; i < writes; i++) {
        Write(Uniform());
      }
      if (round % 2 == 0) {
        ASSERT_OK(db_->Close());
      }
      Close();
    }
    Open();
  }

  void Settle() {
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    ASSERT_OK(SettleBlobHybrid(db_.get()));
  }

  // `may_miss`: the bound, for a time.
  void Finish(bool may_miss = false) {
    Settle();
    ExpectBounds("at the end");
    const BlobHybridStats stats = Stats();
    printf(
        "worst amplification %.3f, log %.3f, flushes that waited: %d, jobs: %d, for the log: %d, "
        "moved: %d MB, merged: %d MB\n",
        worst_, worst_log_, static_cast<int>(stats.flush_waits), static_cast<int>(stats.jobs),
        static_cast<int>(stats.log_jobs), static_cast<int>(stats.moved_bytes >> 20),
        static_cast<int>(stats.merged_bytes >> 20));
    EXPECT_EQ(0u, stats.job_errors);
    EXPECT_EQ(0u, stats.read_errors);
    if (!may_miss) {
      EXPECT_EQ(0u, stats.bound_missed);
    }
    EXPECT_EQ(0u, stats.not_separated);
    ExpectAnswers();
  }

  struct Live {
    int version;
    size_t bytes;
  };

  std::optional<FlushPatience> patience_{std::in_place, std::chrono::seconds(120)};
  Random64 random_;
  std::map<int, Live> live_;
  std::set<int> deleted_;
  int version_ = 0;
  int written_ = 0;
  double worst_ = 0;
  double worst_log_ = 0;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
