// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What users see: right answers from copies, and copies that live as long as they should.

#include <atomic>
#include <chrono>
#include <thread>

#include "rocksdb/convenience.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/options_util.h"
#include "test/hot_promotion/support.h"
#include "utilities/merge_operators.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

class DbTest : public HotDb {};

TEST_F(DbTest, HotRecordsAreServedFromMemoryAndThenFromTheStore) {
  Open();
  Fill(0, 100);
  Flush();
  EXPECT_EQ(ValueOf(7), Get(7));
  EXPECT_EQ(1u, TakeServed().slow);
  EXPECT_EQ(ValueOf(7), Get(7));
  EXPECT_EQ(1u, TakeServed().memory);
  Settle();
  EXPECT_EQ(ValueOf(7), Get(7));
  EXPECT_EQ(1u, TakeServed().store);
  EXPECT_EQ(1u, Stats().promoted);
}

TEST_F(DbTest, OnceIsEnoughWhileThereIsRoom) {
  Open();
  Fill(0, 100);
  Flush();
  for (int i = 0; i < 100; i++) {
    Get(i);
  }
  EXPECT_EQ(100u, Stats().captured);
}

TEST_F(DbTest, WhatMemoryAnswersIsNotPromoted) {
  hot_.slow_read_micros = uint64_t{3600} * 1000 * 1000;
  Open();
  Fill(0, 100);
  Flush();
  std::vector<std::string> keys;
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
    keys.push_back(KeyOf(i));
  }
  MultiGet(keys);
  EXPECT_EQ(0u, Stats().captured);
  EXPECT_EQ(200u, Stats().quick);
  EXPECT_EQ(200u, Stats().served_slow);
}

// Large records, so that the store is full soon also if but a part of the reads is looked at.
TEST_F(DbTest, OnceIsNotEnoughWithoutRoom) {
  constexpr int kRecords = 30000;
  constexpr int kAtOnce = 500;
  constexpr uint64_t kSome = 5;  // are taken for others that were read before
  hot_.budget = 2 << 20;
  hot_.promotion_cache = 256 << 10;
  Open();
  const auto value_of = [](int i) { return ValueOf(i) + std::string(1000, 'v'); };
  for (int i = 0; i < kRecords; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), KeyOf(i), value_of(i)));
  }
  Flush();
  int next = 0;
  const auto wanted = [&] { return Stats().captured + Stats().refused; };
  const auto wanted_of_next = [&] {
    const uint64_t before = wanted();
    for (int end = next + kAtOnce; next < end; next++) {
      EXPECT_EQ(value_of(next), Get(next));
    }
    return wanted() - before;
  };
  // What is written takes less room than in memory, so there may be some once more.
  for (int idle = 0; idle < 3;) {
    ASSERT_LE(next + kAtOnce, kRecords);
    idle = wanted_of_next() > kSome ? 0 : idle + 1;
    const Status s = SettleHotPromotion(options_.table_factory.get());
    EXPECT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
  }
  EXPECT_GT(Stats().store_bytes, hot_.budget / 2);
  const uint64_t before = wanted();
  for (int times = 0; times < 1000 && wanted() <= before + 5 * kSome; times++) {
    next -= kAtOnce;
    wanted_of_next();
  }
  EXPECT_GT(wanted(), before + 5 * kSome);
}

TEST_F(DbTest, RecordsOnFastStorageAreRecordedAndNotCopied) {
  hot_.slow = root_ + "/elsewhere";
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 100);
  EXPECT_EQ(ValueOf(7), Get(7));
  EXPECT_EQ(1u, TakeServed().fast);
  EXPECT_EQ(0u, Stats().promoted);
  EXPECT_EQ(301u, Stats().access_table["accesses"]);
}

TEST_F(DbTest, ReopenKeepsTheHotSet) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  Reopen();
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  EXPECT_EQ(50u, TakeServed().store);
  Settle();  // it is known now of which records there are no copies
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  EXPECT_EQ((Served{0, 50, 0, 50, 0}), TakeServed());
}

TEST_F(DbTest, WhatIsInMemoryAtCloseIsStored) {
  Open();
  Fill(0, 100);
  Flush();
  Get(7);
  Settle();
  Get(7);
  Reopen();
  EXPECT_EQ(ValueOf(7), Get(7));
  EXPECT_EQ(1u, TakeServed().store);
}

TEST_F(DbTest, DeletedKeysNeverComeBack) {
  Open();
  Fill(0, 100);
  Flush();
  Compact();
  Heat(0, 50);
  for (int i = 0; i < 50; i++) {
    ASSERT_OK(db_->Delete(WriteOptions(), KeyOf(i)));
    EXPECT_EQ("none", Get(i));
  }
  Flush();
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ("none", Get(i));
  }
  Settle();
  Compact();
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ("none", Get(i));
  }
  Reopen();
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ("none", Get(i));
  }
}

TEST_F(DbTest, OverwrittenWhileItIsPromoted) {
  Open();
  Fill(0, 10);
  Flush();
  Get(3);
  Settle();
  Get(3);  // in the promotion cache
  Fill(3, 4, 1);
  EXPECT_EQ(ValueOf(3, 1), Get(3));
  Settle();
  Flush();
  EXPECT_EQ(ValueOf(3, 1), Get(3));
  Compact();
  EXPECT_EQ(ValueOf(3, 1), Get(3));
}

TEST_F(DbTest, DeleteRangeOverCachedKeys) {
  Open();
  Fill(0, 100);
  Flush();
  Compact();
  Heat(0, 100);
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), KeyOf(20), KeyOf(40)));
  for (int flushed = 0; flushed < 3; flushed++) {
    for (int i = 0; i < 100; i++) {
      EXPECT_EQ(i >= 20 && i < 40 ? "none" : ValueOf(i), Get(i)) << i;
    }
    if (flushed == 0) {
      Flush();
    } else if (flushed == 1) {
      Compact();
    }
  }
}

TEST_F(DbTest, AFileWithARangeDeletionIsNotCopied) {
  Open();
  Fill(0, 100);
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), KeyOf(20), KeyOf(40)));
  Fill(30, 31, 1);
  Flush();
  Heat(0, 100);
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(i == 30 ? ValueOf(30, 1) : i >= 20 && i < 40 ? "none" : ValueOf(i), Get(i));
  }
  const Served served = TakeServed();
  EXPECT_EQ(100u, served.bypassed);
  EXPECT_EQ(0u, Stats().promoted);
}

TEST_F(DbTest, RecordsBesideARangeDeletionAreNotRetained) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 100);
  const Snapshot* snapshot = db_->GetSnapshot();  // keeps the range deletion
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), KeyOf(20), KeyOf(40)));
  Flush();
  Compact();
  EXPECT_EQ(0u, Stats().retained);
  EXPECT_EQ("none", Get(30));
  EXPECT_EQ(ValueOf(50), Get(50));
  ReadOptions at;
  at.snapshot = snapshot;
  EXPECT_EQ(ValueOf(30), Get(30, at));
  db_->ReleaseSnapshot(snapshot);
}

// A range deletion that is newer than the record and older than another record of the same file.
TEST_F(DbTest, ARangeDeletionOlderThanTheNewestOfTheFile) {
  Open();
  Fill(0, 10);
  Flush();
  Compact();
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), KeyOf(0), KeyOf(5)));
  Flush();
  const Snapshot* snapshot = db_->GetSnapshot();  // so that what is ingested has a sequence number
  const std::string ingested = root_ + "/ingested";
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open(ingested));
  ASSERT_OK(writer.Put(KeyOf(50), ValueOf(50)));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({ingested}, IngestExternalFileOptions()));
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::vector<std::string> bottom;
  for (const auto& file : files) {
    if (file.level == options_.num_levels - 1) {
      bottom.push_back(file.name);
    }
  }
  ASSERT_EQ(2u, bottom.size());
  // What is hot is retained, though it is deleted: that is told by another file.
  for (int round = 0; round < 3; round++) {
    ReadOptions ignoring;
    ignoring.ignore_range_deletions = true;
    EXPECT_EQ(ValueOf(3), Get(3, ignoring));
    Settle();
  }
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), bottom, options_.num_levels - 1));
  EXPECT_EQ(1u, Stats().retained);
  EXPECT_EQ("none", Get(3));
  EXPECT_EQ(std::vector<std::string>({"none", ValueOf(6)}), MultiGet({KeyOf(3), KeyOf(6)}));
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(DbTest, MergeOntoACachedBase) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open();
  Fill(0, 10);
  Flush();
  Compact();
  Heat(0, 10);
  ASSERT_OK(db_->Merge(WriteOptions(), KeyOf(5), "more"));
  EXPECT_EQ(ValueOf(5) + ",more", Get(5));
  Flush();
  EXPECT_EQ(ValueOf(5) + ",more", Get(5));
  Settle();
  EXPECT_EQ(ValueOf(5) + ",more", Get(5));
  Compact();
  EXPECT_EQ(ValueOf(5) + ",more", Get(5));
}

TEST_F(DbTest, AMergeAboveAPutInOneFileIsNotCopied) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open();
  Fill(0, 10);
  const Snapshot* snapshot = db_->GetSnapshot();  // keeps both entries
  ASSERT_OK(db_->Merge(WriteOptions(), KeyOf(5), "more"));
  Flush();
  Heat(0, 10);
  EXPECT_EQ(9u, Stats().promoted);
  Compact();  // and by retention
  EXPECT_EQ(9u, Stats().retained);
  EXPECT_EQ(ValueOf(5) + ",more", Get(5));
  EXPECT_EQ(ValueOf(4), Get(4));
  ReadOptions at;
  at.snapshot = snapshot;
  EXPECT_EQ(ValueOf(5), Get(5, at));
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(DbTest, GetEntityOfACachedKey) {
  Open();
  Fill(0, 10);
  ASSERT_OK(db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), "entity",
                           {{"", "default"}, {"a", "b"}}));
  Flush();
  for (int round = 0; round < 3; round++) {
    EXPECT_EQ("default", Get("entity"));
    EXPECT_EQ(ValueOf(5), Get(5));
    Settle();
  }
  TakeServed();
  PinnableWideColumns columns;
  ASSERT_OK(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), KeyOf(5), &columns));
  EXPECT_EQ((WideColumns{{kDefaultWideColumnName, ValueOf(5)}}), columns.columns());
  EXPECT_EQ(1u, TakeServed().store);
  ASSERT_OK(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), "entity", &columns));
  EXPECT_EQ((WideColumns{{kDefaultWideColumnName, "default"}, {"a", "b"}}), columns.columns());
  EXPECT_EQ(1u, Stats().promoted);
}

TEST_F(DbTest, GetMergeOperandsOfACachedKey) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open();
  Fill(0, 10);
  Flush();
  Heat(0, 10);
  ASSERT_OK(db_->Merge(WriteOptions(), KeyOf(6), "more"));
  for (const int i : {5, 6}) {
    GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = 2;
    std::vector<PinnableSlice> operands(2);
    int count = 0;
    ASSERT_OK(db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), KeyOf(i),
                                    operands.data(), &options, &count));
    ASSERT_EQ(i == 5 ? 1 : 2, count);
    EXPECT_EQ(ValueOf(i), operands[0].ToString());
  }
}

TEST_F(DbTest, BatchedMultiGetIsServedAndRecorded) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 20);
  std::vector<std::string> keys;
  for (int i = 10; i < 30; i++) {
    keys.push_back(KeyOf(i));
  }
  keys.push_back("none");
  const auto expect = [&] {
    const auto values = MultiGet(keys);
    for (int i = 10; i < 30; i++) {
      EXPECT_EQ(ValueOf(i), values[i - 10]);
    }
    EXPECT_EQ("none", values.back());
  };
  expect();
  Served served = TakeServed();
  EXPECT_EQ(10u, served.store);
  EXPECT_EQ(10u, served.slow);
  expect();
  served = TakeServed();
  EXPECT_EQ(10u, served.store);
  EXPECT_EQ(10u, served.memory);
  Settle();
  expect();
  EXPECT_EQ(20u, TakeServed().store);
}

TEST_F(DbTest, MultiGetOfEverything) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open();
  Fill(0, 64);
  Flush();
  Heat(0, 64);
  Fill(0, 8, 1);
  ASSERT_OK(db_->Merge(WriteOptions(), KeyOf(9), "x"));
  ASSERT_OK(db_->Delete(WriteOptions(), KeyOf(10)));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), KeyOf(20), KeyOf(30)));
  for (int flushed = 0; flushed < 2; flushed++) {
    std::vector<std::string> keys;
    for (int i = 0; i < 64; i++) {
      keys.push_back(KeyOf(i));
    }
    const auto values = MultiGet(keys);
    for (int i = 0; i < 64; i++) {
      const std::string expected = i < 8                            ? ValueOf(i, 1)
                                   : i == 9                         ? ValueOf(i) + ",x"
                                   : i == 10 || (i >= 20 && i < 30) ? "none"
                                                                    : ValueOf(i);
      EXPECT_EQ(expected, values[i]) << i;
    }
    Flush();
  }
}

TEST_F(DbTest, ALiveSnapshotWithOverwrites) {
  Open();
  Fill(0, 50);
  Flush();
  Heat(0, 50);
  const Snapshot* snapshot = db_->GetSnapshot();
  Fill(0, 50, 1);
  Flush();
  Compact();
  ReadOptions at;
  at.snapshot = snapshot;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 50; i++) {
      EXPECT_EQ(ValueOf(i, 1), Get(i));
      EXPECT_EQ(ValueOf(i), Get(i, at));
    }
    Settle();
  }
  db_->ReleaseSnapshot(snapshot);
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(ValueOf(i, 1), Get(i));
  }
}

class CountCompactions : public EventListener {
 public:
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override { count++; }
  std::atomic<int> count{0};
};

// What is promoted does not go through the database: no writes, no compactions.
TEST_F(DbTest, PromotionUnderASnapshotStartsNoCompactions) {
  const auto listener = std::make_shared<CountCompactions>();
  options_.listeners = {listener};
  options_.disable_auto_compactions = false;
  Open();
  Fill(0, 200);
  Flush();
  const Snapshot* snapshot = db_->GetSnapshot();
  Fill(0, 200, 1);
  Flush();
  const SequenceNumber sequence = db_->GetLatestSequenceNumber();
  Heat(0, 200);
  EXPECT_EQ(0, listener->count.load());
  EXPECT_EQ(sequence, db_->GetLatestSequenceNumber());
  EXPECT_EQ(200u, Stats().promoted);
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(DbTest, RetentionFollowsRecordsThroughCompactions) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  Compact();
  EXPECT_EQ(50u, Stats().retained);
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  EXPECT_EQ(50u, TakeServed().store);
  TablePropertiesCollection all;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&all));
  ASSERT_EQ(1u, all.size());
  const auto& properties = all.begin()->second->user_collected_properties;
  EXPECT_EQ("50", properties.at("rocktier.hot_keys"));
  EXPECT_EQ(std::to_string(50 * (KeyOf(0).size() + ValueOf(0).size())),
            properties.at("rocktier.hot_bytes"));
}

TEST_F(DbTest, RetentionCanBeSwitchedOff) {
  hot_.retention = false;
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  Compact();
  EXPECT_EQ(0u, Stats().retained);
  EXPECT_EQ(ValueOf(7), Get(7));
  EXPECT_EQ(1u, TakeServed().slow);
}

TEST_F(DbTest, CompactFilesAndSubcompactions) {
  options_.max_subcompactions = 4;
  options_.target_file_size_base = 16 << 10;
  Open();
  for (int part = 0; part < 4; part++) {
    Fill(0, 1000, part);
    Flush();
  }
  Heat(0, 1000);
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::vector<std::string> names;
  for (const auto& file : files) {
    names.push_back(file.name);
  }
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), names, 2));
  for (int i = 0; i < 1000; i++) {
    ASSERT_EQ(ValueOf(i, 3), Get(i));
  }
  EXPECT_EQ(1000u, TakeServed().store);
  Fill(500, 600, 4);
  Flush();
  CompactRangeOptions range;
  range.max_subcompactions = 4;
  ASSERT_OK(db_->CompactRange(range, nullptr, nullptr));
  for (int i = 0; i < 1000; i++) {
    ASSERT_EQ(ValueOf(i, i >= 500 && i < 600 ? 4 : 3), Get(i));
  }
  EXPECT_EQ(1000u, TakeServed().store);
}

// It may write for a database of another process, which needs the folder.
TEST_F(DbTest, AnSstFileWriterLeavesTheFolderAlone) {
  NewFactory();
  const std::string written = root_ + "/written";
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open(written));
  ASSERT_OK(writer.Put(KeyOf(5), ValueOf(5)));
  ASSERT_OK(writer.Finish());
  EXPECT_TRUE(Env::Default()->FileExists(hot_.path + "/LOCK").IsNotFound());
  EXPECT_EQ(nullptr, Engine::Find(hot_.path));
  Open();
  ASSERT_OK(db_->IngestExternalFile({written}, IngestExternalFileOptions()));
  Heat(5, 6);
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(1u, TakeServed().store);
}

TEST_F(DbTest, OptionsFileRoundTrip) {
  table_options_.block_size = 8 << 10;
  Open();
  Fill(0, 10);
  Flush();
  Heat(0, 10);
  CloseAll();
  ConfigOptions config;
  config.ignore_unknown_options = false;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(config, path_, &db_options, &families));
  ASSERT_EQ(1u, families.size());
  options_ = Options(db_options, families[0].options);
  const TableFactory& factory = *options_.table_factory;
  EXPECT_STREQ("HotPromotionTable", factory.Name());
  EXPECT_EQ(hot_.budget, factory.GetOptions<HotPromotionOptions>()->budget);
  EXPECT_EQ(hot_.slow, factory.GetOptions<HotPromotionOptions>()->slow);
  EXPECT_EQ(8u << 10, factory.GetOptions<BlockBasedTableOptions>()->block_size);
  Open();
  EXPECT_EQ(ValueOf(7), Get(7));
  EXPECT_EQ(1u, TakeServed().store);
  families[0].options = options_;
  ASSERT_OK(CheckOptionsCompatibility(config, path_, db_options, families));
}

// What would be told, and not be in force, is refused.
TEST_F(DbTest, OptionsOfAFactoryInUse) {
  Open();
  Fill(0, 10);
  Flush();
  Heat(0, 10);
  TableFactory* const factory = options_.table_factory.get();
  const ConfigOptions config;
  for (const std::string text : {"path=/elsewhere", "budget=64M", "scan_records=7;budget=64M",
                                 "metrics_interval=5;block_size=16K", "table=BlobHybridTable"}) {
    EXPECT_FALSE(factory->ConfigureFromString(config, text).ok()) << text;
    EXPECT_EQ(hot_.path, factory->GetOptions<HotPromotionOptions>()->path) << text;
    EXPECT_EQ(hot_.budget, factory->GetOptions<HotPromotionOptions>()->budget) << text;
    EXPECT_EQ(hot_.scan_records, factory->GetOptions<HotPromotionOptions>()->scan_records) << text;
  }
  Status s = factory->ConfigureOption(config, "path", "/elsewhere");
  EXPECT_NE(std::string::npos, s.ToString().find("path: cannot be changed")) << s.ToString();
  s = factory->ConfigureOption(config, "slow", "/elsewhere");
  EXPECT_NE(std::string::npos, s.ToString().find("DB::SetOptions()")) << s.ToString();
  EXPECT_EQ(hot_.slow, factory->GetOptions<HotPromotionOptions>()->slow);
  ASSERT_OK(factory->ConfigureOption(config, "scan_records", "7"));
  EXPECT_EQ(7u, factory->GetOptions<HotPromotionOptions>()->scan_records);
  EXPECT_EQ(ValueOf(7), Get(7));
  EXPECT_EQ(1u, TakeServed().store);
}

// Others read the options of a factory in use.
TEST_F(DbTest, AnOptionThatIsRefusedIsNeverThere) {
  Open();
  Fill(0, 10);
  Flush();
  TableFactory* const factory = options_.table_factory.get();
  const auto* const now = factory->GetOptions<HotPromotionOptions>();
  std::atomic<bool> stop{false};
  std::atomic<int> looks{0};
  std::atomic<int> others{0};
  std::thread reader([&] {
    while (!stop) {
      others += now->path == hot_.path && now->budget == hot_.budget ? 0 : 1;
      looks++;
    }
  });
  const ConfigOptions config;
  const std::string elsewhere = "/" + std::string(1000, 'x');
  for (int i = 0; i < 1000 || looks < 100; i++) {
    EXPECT_FALSE(factory->ConfigureOption(config, "path", elsewhere).ok());
    EXPECT_FALSE(factory->ConfigureOption(config, "budget", "64M").ok());
  }
  stop = true;
  reader.join();
  EXPECT_EQ(0, others);
}

// ThreadSanitizer tells who looks at them without the lock.
TEST_F(DbTest, OptionsOfAFactoryInUseWhileSstsAreWrittenAndOpened) {
  Open();
  TableFactory* const factory = options_.table_factory.get();
  std::atomic<bool> stop{false};
  std::atomic<int> changes{0};
  std::thread writer([&] {
    for (; !stop; changes++) {
      const std::string number = std::to_string(changes % 7);
      const std::string retention = changes % 2 == 0 ? "true" : "false";
      EXPECT_OK(factory->ConfigureOption(ConfigOptions(), "scan_records", number));
      EXPECT_OK(factory->ConfigureOption(ConfigOptions(), "slow_read_micros", number));
      EXPECT_OK(factory->ConfigureOption(ConfigOptions(), "retention", retention));
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  for (int i = 0; i < 5 || changes < 10; i++) {
    Fill(0, 10);
    Flush();
    EXPECT_NE(std::string::npos, factory->GetPrintableOptions().find("scan_records: "));
    EXPECT_NE(nullptr, factory->Clone());
  }
  stop = true;
  writer.join();
  EXPECT_EQ(ValueOf(7), Get(7));
}

TEST_F(DbTest, SetOptionsWhileRecordsAreServed) {
  Open();
  Fill(0, 10);
  Flush();
  Heat(0, 10);
  ASSERT_OK(db_->SetOptions({{"table_factory.block_size", "16K"}}));
  Fill(10, 20);
  Flush();
  EXPECT_EQ(ValueOf(7), Get(7));
  EXPECT_EQ(1u, TakeServed().store);
  Heat(10, 20);
  EXPECT_EQ(ValueOf(17), Get(17));
  EXPECT_EQ(1u, TakeServed().store);
}

TEST_F(DbTest, ShortScansAreRecorded) {
  Open();
  Fill(0, 100);
  Flush();
  const auto scan = [&](const ReadOptions& options) {
    std::unique_ptr<Iterator> it(db_->NewIterator(options));
    it->Seek(KeyOf(40));
    for (int i = 40; i < 80; i++) {
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(KeyOf(i), it->key().ToString());
      EXPECT_EQ(ValueOf(i), it->value().ToString());
      it->Next();
    }
    EXPECT_EQ(KeyOf(80), it->key().ToString());
    for (int i = 79; i >= 40; i--) {
      it->Prev();
      EXPECT_EQ(ValueOf(i), it->value().ToString());
    }
    EXPECT_OK(it->status());
  };
  scan(ReadOptions());
  const uint64_t scanned = Stats().scanned;
  EXPECT_GE(scanned, hot_.scan_records);
  EXPECT_LT(scanned, 40u);
  ReadOptions no_fill;
  no_fill.fill_cache = false;
  scan(no_fill);
  EXPECT_EQ(scanned, Stats().scanned);
  Settle();
  EXPECT_EQ(scanned, Stats().access_table["accesses"]);
  EXPECT_GE(Stats().access_table["hot_keys"], hot_.scan_records);
  EXPECT_EQ(0u, Stats().captured);
}

TEST_F(DbTest, TheDatabaseIsStock) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  Compact();
  CloseAll();
  Options stock;
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(stock, path_, &db));
  std::string value;
  ASSERT_OK(db->Get(ReadOptions(), KeyOf(7), &value));
  EXPECT_EQ(ValueOf(7), value);
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
