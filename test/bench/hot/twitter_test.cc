// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/hot/twitter.h"

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "test/bench/common/json_out.h"
#include "test/bench/hot/twitter_records.h"
#include "test/bench/hot/twitter_run.h"
#include "test/bench/hot/twitter_stream.h"
#include "test/support/open_db.h"
#include "test_util/testharness.h"

namespace rocktier_bench {
namespace {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DestroyDB;
using ROCKSDB_NAMESPACE::OpenDb;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;
using Kind = TwitterStream::Kind;

constexpr uint64_t kRecords = 5000;
constexpr uint64_t kOperations = 100000;

TwitterCluster Cluster() {
  TwitterCluster cluster;
  cluster.key_size = 24;
  cluster.value_size = 100;
  cluster.puts = 0.2;
  cluster.deletes = 0.05;
  cluster.inserts = 0.5;
  cluster.sunk = 0.6;
  cluster.hot = 0.7;
  return cluster;
}

std::vector<std::pair<Kind, uint32_t>> Operations(uint64_t seed) {
  TwitterStream stream(Cluster(), kRecords, seed);
  std::vector<std::pair<Kind, uint32_t>> operations;
  for (uint64_t i = 0; i < kOperations; i++) {
    const TwitterStream::Operation operation = stream.Next();
    operations.emplace_back(operation.kind, operation.record);
  }
  return operations;
}

TEST(TwitterClusterTest, IsParsed) {
  TwitterCluster cluster;
  ASSERT_OK(ParseTwitterCluster(
      "key=24;value=170;puts=0.03;deletes=0.01;inserts=0.75;sunk=0.9;hot=0.5", &cluster));
  EXPECT_EQ(24u, cluster.key_size);
  EXPECT_EQ(170u, cluster.value_size);
  EXPECT_EQ(0.03, cluster.puts);
  EXPECT_EQ(0.01, cluster.deletes);
  EXPECT_EQ(0.75, cluster.inserts);
  EXPECT_EQ(0.9, cluster.sunk);
  EXPECT_EQ(0.5, cluster.hot);
}

TEST(TwitterClusterTest, WhatIsWrongIsTold) {
  for (const char* wrong :
       {"", "key=24", "key=15;value=100", "key=24;value=31", "key=24;value=100;sunk=1.1",
        "key=24;value=100;sunk=-0.1", "key=24;value=100;sunk=", "key=24;value=100;sunk=0.5x",
        "key=24;value=100;sunk=nan", "key=nan;value=100", "key=24;value=1e300",
        "key=24;value=100;other=1", "key=24;value=100;puts=0.1;deletes=0.01;inserts=0.05",
        "key=24;value=100;puts=0.9;deletes=0.06;inserts=1"}) {
    TwitterCluster cluster;
    EXPECT_TRUE(ParseTwitterCluster(wrong, &cluster).IsInvalidArgument()) << wrong;
  }
}

TEST(TwitterClusterTest, KeysAndValuesHaveTheirSizes) {
  const TwitterCluster cluster = Cluster();
  std::string key;
  double bytes = 0;
  for (uint64_t record = 0; record < kRecords; record++) {
    MakeTwitterKey(cluster, record, &key);
    EXPECT_EQ(cluster.key_size, key.size());
    const size_t size = TwitterValueSize(cluster, record);
    EXPECT_GE(size, cluster.value_size / 2);
    EXPECT_LE(size, cluster.value_size / 2 * 3);
    bytes += static_cast<double>(size);
  }
  EXPECT_NEAR(100, bytes / kRecords, 2);
}

TEST(TwitterStreamTest, TheSameSeedGivesTheSameOperations) {
  const auto operations = Operations(7);
  EXPECT_TRUE(operations == Operations(7));
  EXPECT_FALSE(operations == Operations(8));
}

// The definitions anew, of all that was written and read.
TEST(TwitterStreamTest, CountsAreRightAndAsAskedFor) {
  const TwitterCluster cluster = Cluster();
  TwitterStream stream(cluster, kRecords, 7);
  const uint64_t window = kRecords / 20;
  std::unordered_map<uint32_t, uint64_t> written;
  std::unordered_map<uint32_t, uint64_t> read;
  uint64_t writes = 0;
  uint64_t reads = 0;
  TwitterStream::Counts counts;
  while (writes < kRecords) {
    const auto record = static_cast<uint32_t>(writes);
    written[record] = ++writes;
  }
  for (; counts.operations < kOperations; counts.operations++) {
    const TwitterStream::Operation operation = stream.Next();
    const uint32_t record = operation.record;
    const bool is_there = written.count(record) > 0;
    if (operation.kind == Kind::kPut) {
      counts.puts++;
      counts.inserts += is_there ? 0 : 1;
      written[record] = ++writes;
    } else if (operation.kind == Kind::kDelete) {
      ASSERT_TRUE(is_there);
      counts.deletes++;
      written.erase(record);
      read.erase(record);
    } else if (!is_there) {
      counts.absent++;
    } else {
      if (reads >= window) {
        counts.finds++;
        counts.sunk += writes - written[record] > window ? 1 : 0;
        counts.hot += read.count(record) > 0 && reads - read[record] < window ? 1 : 0;
      }
      read[record] = ++reads;
    }
  }
  EXPECT_EQ(counts.operations, stream.counts().operations);
  EXPECT_EQ(counts.puts, stream.counts().puts);
  EXPECT_EQ(counts.inserts, stream.counts().inserts);
  EXPECT_EQ(counts.deletes, stream.counts().deletes);
  EXPECT_EQ(counts.absent, stream.counts().absent);
  EXPECT_EQ(counts.finds, stream.counts().finds);
  EXPECT_EQ(counts.sunk, stream.counts().sunk);
  EXPECT_EQ(counts.hot, stream.counts().hot);

  const auto operations = static_cast<double>(counts.operations);
  const auto finds = static_cast<double>(counts.finds);
  EXPECT_NEAR(cluster.puts, static_cast<double>(counts.puts) / operations, 0.005);
  EXPECT_NEAR(cluster.deletes, static_cast<double>(counts.deletes) / operations, 0.005);
  EXPECT_NEAR(cluster.deletes, static_cast<double>(counts.absent) / operations, 0.005);
  EXPECT_NEAR(cluster.sunk, static_cast<double>(counts.sunk) / finds, 0.02);
  EXPECT_NEAR(cluster.hot, static_cast<double>(counts.hot) / finds, 0.02);
}

// 100 records, of which half are deleted at most, and no shares that could be kept.
TEST(TwitterStreamTest, TheSmallestDatabaseIsServedToo) {
  TwitterCluster cluster = Cluster();
  for (const double share : {0.0, 1.0}) {
    cluster.sunk = cluster.hot = share;
    TwitterStream stream(cluster, TwitterStream::kLeastRecords, 7);
    for (uint64_t i = 0; i < kOperations; i++) stream.Next();
    EXPECT_EQ(kOperations, stream.counts().operations);
  }
}

class TwitterRecordsTest : public testing::Test {
 protected:
  TwitterRecordsTest() : path_(ROCKSDB_NAMESPACE::test::PerThreadDBPath("twitter_test")) {}
  ~TwitterRecordsTest() override {
    db_.reset();
    EXPECT_OK(DestroyDB(path_, Options()));
  }

  void SetUp() override {
    Options options;
    options.create_if_missing = true;
    EXPECT_OK(DestroyDB(path_, options));
    ASSERT_OK(OpenDb(options, path_, &db_));
  }

  std::string KeyOf(uint32_t record) const {
    std::string key;
    MakeTwitterKey(Cluster(), record, &key);
    return key;
  }
  std::string Stored(uint32_t record) {
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), KeyOf(record), &value));
    return value;
  }
  // As nothing but a fault would.
  void Store(uint32_t record, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), KeyOf(record), value));
  }

  const std::string path_;
  std::unique_ptr<DB> db_;
};

TEST_F(TwitterRecordsTest, WhatWasLoadedIsFoundAndNothingElse) {
  TwitterRecords records(Cluster(), kRecords);
  ASSERT_OK(records.Load(db_.get()));
  for (uint32_t record = 0; record < kRecords + 10; record++) {
    ASSERT_OK(records.Get(db_.get(), record));
  }
  Store(kRecords, Stored(0));
  EXPECT_TRUE(records.Get(db_.get(), kRecords).IsCorruption());
}

TEST_F(TwitterRecordsTest, AnOlderValueIsWrong) {
  TwitterRecords records(Cluster(), 10);
  ASSERT_OK(records.Load(db_.get()));
  const std::string older = Stored(3);
  ASSERT_OK(records.Put(db_.get(), 3));
  ASSERT_OK(records.Get(db_.get(), 3));
  Store(3, older);
  EXPECT_TRUE(records.Get(db_.get(), 3).IsCorruption());
}

TEST_F(TwitterRecordsTest, AnotherRecordsValueIsWrongAndADamagedOneToo) {
  TwitterRecords records(Cluster(), 10);
  ASSERT_OK(records.Load(db_.get()));
  const std::string right = Stored(3);
  std::string damaged = right;
  damaged.back() ^= 1;
  for (const std::string& wrong : {Stored(4), damaged, right.substr(1), std::string()}) {
    Store(3, wrong);
    EXPECT_TRUE(records.Get(db_.get(), 3).IsCorruption());
  }
  Store(3, right);
  EXPECT_OK(records.Get(db_.get(), 3));
}

TEST_F(TwitterRecordsTest, ARecordThatNobodyDeletedMustBeThere) {
  TwitterRecords records(Cluster(), 10);
  ASSERT_OK(records.Load(db_.get()));
  ASSERT_OK(db_->Delete(WriteOptions(), KeyOf(3)));
  EXPECT_TRUE(records.Get(db_.get(), 3).IsCorruption());
}

TEST_F(TwitterRecordsTest, ADeletedRecordMustNotComeBack) {
  TwitterRecords records(Cluster(), 10);
  ASSERT_OK(records.Load(db_.get()));
  ASSERT_OK(records.Put(db_.get(), 3));
  const std::string before = Stored(3);
  ASSERT_OK(records.Delete(db_.get(), 3));
  ASSERT_OK(records.Get(db_.get(), 3));
  Store(3, before);
  EXPECT_TRUE(records.Get(db_.get(), 3).IsCorruption());
  ASSERT_OK(records.Put(db_.get(), 3));
  ASSERT_OK(records.Get(db_.get(), 3));
  ASSERT_OK(db_->Delete(WriteOptions(), KeyOf(3)));
  EXPECT_TRUE(records.Get(db_.get(), 3).IsCorruption());
}

TEST_F(TwitterRecordsTest, ARecordThatIsInsertedMayBeDeletedToo) {
  TwitterRecords records(Cluster(), 10);
  ASSERT_OK(records.Load(db_.get()));
  constexpr uint32_t kNew = 5000;
  ASSERT_OK(records.Get(db_.get(), kNew));
  ASSERT_OK(records.Put(db_.get(), kNew));
  ASSERT_OK(records.Get(db_.get(), kNew));
  ASSERT_OK(records.Delete(db_.get(), kNew));
  ASSERT_OK(records.Get(db_.get(), kNew));
}

// Few records, so that clients meet at them.
TEST_F(TwitterRecordsTest, ClientsAtTheSameTimeFindNothingWrong) {
  TwitterCluster cluster = Cluster();
  cluster.puts = 0.4;
  cluster.deletes = 0.2;
  TwitterRun run(cluster, TwitterStream::kLeastRecords, 7);
  ASSERT_OK(run.Load(db_.get()));
  std::deque<Status> found;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; i++) {
    found.emplace_back();
    clients.emplace_back([this, &run, s = &found.back()] {
      for (uint64_t j = 0; s->ok() && j < kOperations / 4; j++) {
        *s = run.Do(db_.get(), run.Next());
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (const Status& s : found) EXPECT_OK(s);
  JsonObject json;
  run.AddTo(&json);
  EXPECT_NE(std::string::npos, json.ToString().find("\"shares_off\""));
}

}  // namespace
}  // namespace rocktier_bench
