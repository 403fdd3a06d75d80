// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Each rule of what must not be answered from copies, or not be copied: the SST is asked, and the
// answer is right.

#include "rocksdb/cache.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction_db.h"
#include "test/hot_promotion/support.h"
#include "test_util/testutil.h"
#include "utilities/merge_operators.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

class BypassTest : public HotDb {
 protected:
  // 100 records, of which the first 50 are in the store.
  void Prepare() {
    Open();
    Fill(0, 100);
    Flush();
    Heat(0, 50);
  }
};

TEST_F(BypassTest, AReaderThatDoesNotSeeAllOfTheFile) {
  Open();
  Fill(0, 10);
  const Snapshot* older = db_->GetSnapshot();
  Fill(0, 10, 1);
  Flush();
  const Snapshot* newer = db_->GetSnapshot();
  Heat(0, 10);
  ReadOptions at;
  at.snapshot = older;
  EXPECT_EQ(ValueOf(5), Get(5, at));
  EXPECT_EQ(std::vector<std::string>({ValueOf(5), ValueOf(6)}), MultiGet({KeyOf(5), KeyOf(6)}, at));
  Served served = TakeServed();
  EXPECT_EQ(3u, served.bypassed);
  EXPECT_EQ(0u, served.store);
  at.snapshot = newer;
  EXPECT_EQ(ValueOf(5, 1), Get(5, at));
  served = TakeServed();
  EXPECT_EQ(0u, served.bypassed);
  EXPECT_EQ(1u, served.store);
  db_->ReleaseSnapshot(older);
  db_->ReleaseSnapshot(newer);
}

TEST_F(BypassTest, AnOlderSnapshotDoesNotCapture) {
  Open();
  Fill(0, 10);
  const Snapshot* older = db_->GetSnapshot();
  Fill(0, 10, 1);
  Flush();
  ReadOptions at;
  at.snapshot = older;
  for (int round = 0; round < 3; round++) {
    EXPECT_EQ(ValueOf(5), Get(5, at));
    Settle();
  }
  EXPECT_EQ(0u, Stats().captured);
  EXPECT_EQ(ValueOf(5, 1), Get(5));
  db_->ReleaseSnapshot(older);
}

// A transaction asks for the sequence number of the newest version, which copies do not have.
TEST_F(BypassTest, OptimisticTransactions) {
  Prepare();
  Close();
  OptimisticTransactionDB* raw = nullptr;
  ASSERT_OK(OptimisticTransactionDB::Open(options_, path_, &raw));
  std::unique_ptr<OptimisticTransactionDB> db(raw);
  TakeServed();
  std::unique_ptr<Transaction> first(db->BeginTransaction(WriteOptions()));
  std::unique_ptr<Transaction> second(db->BeginTransaction(WriteOptions()));
  std::string value;
  ASSERT_OK(first->GetForUpdate(ReadOptions(), KeyOf(5), &value));
  EXPECT_EQ(ValueOf(5), value);
  ASSERT_OK(first->Put(KeyOf(5), "first"));
  ASSERT_OK(second->GetForUpdate(ReadOptions(), KeyOf(5), &value));
  ASSERT_OK(second->Put(KeyOf(5), "second"));
  ASSERT_OK(first->Commit());
  EXPECT_TRUE(second->Commit().IsBusy());
  ASSERT_OK(db->Get(ReadOptions(), KeyOf(5), &value));
  EXPECT_EQ("first", value);
}

TEST_F(BypassTest, ValidationOfATransactionAgainstFiles) {
  Prepare();
  Close();
  TransactionDB* raw = nullptr;
  ASSERT_OK(TransactionDB::Open(options_, TransactionDBOptions(), path_, &raw));
  std::unique_ptr<TransactionDB> db(raw);
  std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
  transaction->SetSnapshot();
  ASSERT_OK(db->Put(WriteOptions(), KeyOf(5), "other"));
  ASSERT_OK(db->Flush(FlushOptions()));
  std::string value;
  ASSERT_OK(db->Get(ReadOptions(), KeyOf(5), &value));
  EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), KeyOf(5), &value).IsBusy());
  ASSERT_OK(transaction->GetForUpdate(ReadOptions(), KeyOf(6), &value));
  EXPECT_EQ(ValueOf(6), value);
}

// The newest sequence number of the file is not that of the record.
TEST_F(BypassTest, ValidationOfARecordBesideANewerOne) {
  Prepare();
  Close();
  TransactionDB* raw = nullptr;
  ASSERT_OK(TransactionDB::Open(options_, TransactionDBOptions(), path_, &raw));
  std::unique_ptr<TransactionDB> db(raw);
  std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
  transaction->SetSnapshot();
  ASSERT_OK(db->Put(WriteOptions(), KeyOf(5), "other"));
  ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  std::string value;
  TakeServed();
  ASSERT_OK(db->Get(ReadOptions(), KeyOf(6), &value));
  EXPECT_EQ(1u, TakeServed().store);
  ASSERT_OK(transaction->GetForUpdate(ReadOptions(), KeyOf(6), &value));
  EXPECT_EQ(ValueOf(6), value);
  EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), KeyOf(5), &value).IsBusy());
}

// What is visible is for a callback to say: prepared and not committed data is in SSTs too.
TEST_F(BypassTest, WritePrepared) {
  TransactionDBOptions transactions;
  transactions.write_policy = WRITE_PREPARED;
  TransactionDB* raw = nullptr;
  NewFactory();
  ASSERT_OK(TransactionDB::Open(options_, transactions, path_, &raw));
  std::unique_ptr<TransactionDB> db(raw);
  for (int i = 0; i < 10; i++) {
    ASSERT_OK(db->Put(WriteOptions(), KeyOf(i), ValueOf(i)));
  }
  std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
  ASSERT_OK(transaction->SetName("prepared"));
  ASSERT_OK(transaction->Put(KeyOf(5), "prepared"));
  ASSERT_OK(transaction->Prepare());
  ASSERT_OK(db->Flush(FlushOptions()));
  std::string value;
  for (int round = 0; round < 3; round++) {
    ASSERT_OK(db->Get(ReadOptions(), KeyOf(5), &value));
    EXPECT_EQ(ValueOf(5), value);
    Settle();
  }
  const Served served = TakeServed();
  EXPECT_EQ(3u, served.bypassed);
  EXPECT_EQ(0u, served.slow + served.memory + served.store);
  ASSERT_OK(transaction->Commit());
  ASSERT_OK(db->Get(ReadOptions(), KeyOf(5), &value));
  EXPECT_EQ("prepared", value);
}

TEST_F(BypassTest, WithARowCacheNothingIsCaptured) {
  options_.row_cache = NewLRUCache(1 << 20);
  Open();
  Fill(0, 10);
  Flush();
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 10; i++) {
      EXPECT_EQ(ValueOf(i), Get(i));
    }
    EXPECT_EQ(std::vector<std::string>({ValueOf(5), "none", ValueOf(6)}),
              MultiGet({KeyOf(5), "key00000005x", KeyOf(6)}));
    Settle();
  }
  EXPECT_EQ(0u, Stats().captured);
}

// The row cache is filled from answers of copies as from those of SSTs.
TEST_F(BypassTest, ARowCacheIsFilledFromCopies) {
  Prepare();
  CloseAll();
  options_.row_cache = NewLRUCache(1 << 20);
  Open();
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(std::vector<std::string>({ValueOf(6), ValueOf(7)}), MultiGet({KeyOf(6), KeyOf(7)}));
  EXPECT_EQ(3u, TakeServed().store);
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(std::vector<std::string>({ValueOf(6), ValueOf(7)}), MultiGet({KeyOf(6), KeyOf(7)}));
  EXPECT_EQ(0u, TakeServed().store);
}

TEST_F(BypassTest, UserDefinedTimestamps) {
  options_.comparator = test::BytewiseComparatorWithU64TsWrapper();
  Open();
  const auto at = [](uint64_t time) {
    std::string timestamp;
    PutFixed64(&timestamp, time);
    return timestamp;
  };
  for (uint64_t time = 1; time <= 3; time++) {
    ASSERT_OK(db_->Put(WriteOptions(), KeyOf(5), at(time), ValueOf(5, time)));
  }
  Flush();
  for (int round = 0; round < 4; round++) {
    for (uint64_t time = 1; time <= 3; time++) {
      const std::string timestamp = at(time);
      const Slice slice(timestamp);
      ReadOptions options;
      options.timestamp = &slice;
      EXPECT_EQ(ValueOf(5, time), Get(5, options));
    }
  }
  HotPromotionStats stats;
  EXPECT_TRUE(GetHotPromotionStats(options_.table_factory.get(), &stats).IsNotFound());
}

TEST_F(BypassTest, WithoutIoOnlyMemoryAnswers) {
  table_options_.no_block_cache = true;
  Prepare();
  ReadOptions no_io;
  no_io.read_tier = kBlockCacheTier;
  std::string value;
  EXPECT_TRUE(db_->Get(no_io, KeyOf(5), &value).IsIncomplete());
  EXPECT_EQ(Served(), TakeServed());
  Get(70);  // in the promotion cache
  TakeServed();
  ASSERT_OK(db_->Get(no_io, KeyOf(70), &value));
  EXPECT_EQ(ValueOf(70), value);
  EXPECT_EQ(1u, TakeServed().memory);
  const uint64_t accesses = Stats().access_table["accesses"];
  EXPECT_TRUE(db_->Get(no_io, KeyOf(80), &value).IsIncomplete());
  EXPECT_EQ(accesses, Stats().access_table["accesses"]);
  EXPECT_TRUE(db_->KeyMayExist(no_io, KeyOf(80), &value));
}

TEST_F(BypassTest, WithoutFillCacheRecordsAreServedAndNotPromoted) {
  Prepare();
  const HotPromotionStats before = Stats();
  ReadOptions options;
  options.fill_cache = false;
  for (int round = 0; round < 4; round++) {
    EXPECT_EQ(ValueOf(5), Get(5, options));
    EXPECT_EQ(ValueOf(70), Get(70, options));
    EXPECT_EQ(std::vector<std::string>({ValueOf(71)}), MultiGet({KeyOf(71)}, options));
    Settle();
  }
  HotPromotionStats after = Stats();
  EXPECT_EQ(before.captured, after.captured);
  EXPECT_EQ(before.access_table.at("accesses"), after.access_table["accesses"]);
  EXPECT_EQ(before.served_store + 4, after.served_store);
}

// A copy would answer with a checksum what the SST fails.
TEST_F(BypassTest, WithoutChecksumsRecordsAreServedAndNotPromoted) {
  table_options_.no_block_cache = true;
  options_.compression = kNoCompression;
  Prepare();
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  ASSERT_EQ(1u, files.size());
  const std::string sst = path_ + files[0].name;
  CloseAll();
  std::string contents;
  ASSERT_OK(ReadFileToString(Env::Default(), sst, &contents));
  const size_t value = contents.find(ValueOf(70));
  ASSERT_NE(std::string::npos, value);
  ASSERT_OK(test::CorruptFile(Env::Default(), sst, static_cast<int>(value), 1));
  Open();
  ReadOptions unchecked;
  unchecked.verify_checksums = false;
  for (int round = 0; round < 4; round++) {
    EXPECT_EQ(ValueOf(5), Get(5, unchecked));
    EXPECT_EQ(ValueOf(70).substr(1), Get(70, unchecked).substr(1));
    EXPECT_EQ(ValueOf(70).substr(1), MultiGet({KeyOf(70)}, unchecked)[0].substr(1));
    EXPECT_NE(ValueOf(70), Get(70, unchecked));
    Settle();
  }
  EXPECT_EQ(4u, TakeServed().store);
  EXPECT_EQ(0u, Stats().captured);
  std::string read;
  EXPECT_TRUE(db_->Get(ReadOptions(), KeyOf(70), &read).IsCorruption());
}

TEST_F(BypassTest, WideColumnsAreNotCopied) {
  Open();
  for (int i = 0; i < 10; i++) {
    ASSERT_OK(db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), KeyOf(i),
                             {{"", ValueOf(i)}, {"c", "d"}}));
  }
  Flush();
  Heat(0, 10);
  Compact();
  EXPECT_EQ(0u, Stats().captured);
  EXPECT_EQ(0u, Stats().retained);
  PinnableWideColumns columns;
  ASSERT_OK(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), KeyOf(5), &columns));
  EXPECT_EQ((WideColumns{{"", ValueOf(5)}, {"c", "d"}}), columns.columns());
}

TEST_F(BypassTest, BlobValuesAreNotCopied) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 50;
  Open();
  Fill(0, 10);
  ASSERT_OK(db_->Put(WriteOptions(), "small", "value"));
  Flush();
  for (int round = 0; round < 4; round++) {
    EXPECT_EQ(ValueOf(5), Get(5));
    EXPECT_EQ("value", Get("small"));
    EXPECT_EQ(std::vector<std::string>({ValueOf(6), "value"}), MultiGet({KeyOf(6), "small"}));
    Settle();
  }
  EXPECT_EQ(1u, Stats().captured);
  Compact();
  EXPECT_EQ(1u, Stats().retained);
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ("value", Get("small"));
}

TEST_F(BypassTest, ValuesWithAPreferredSequenceNumberAreNotCopied) {
  options_.preserve_internal_time_seconds = 1000;
  Open();
  WriteBatch batch;
  ASSERT_OK(batch.TimedPut(db_->DefaultColumnFamily(), KeyOf(5), ValueOf(5), 1));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  Fill(6, 7);
  Flush();
  Heat(5, 7);
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(ValueOf(6), Get(6));
  const Served served = TakeServed();
  EXPECT_EQ(1u, served.store + served.memory);
  EXPECT_EQ(1u, served.slow);
}

TEST_F(BypassTest, DeletionsAreNotCopied) {
  Open();
  Fill(0, 10);
  Flush();
  for (int i = 0; i < 10; i++) {
    ASSERT_OK(i % 2 == 0 ? db_->Delete(WriteOptions(), KeyOf(i))
                         : db_->SingleDelete(WriteOptions(), KeyOf(i)));
  }
  const Snapshot* snapshot = db_->GetSnapshot();
  Flush();
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 10; i++) {
      EXPECT_EQ("none", Get(i));
    }
    Settle();
  }
  EXPECT_EQ(0u, Stats().captured);
  db_->ReleaseSnapshot(snapshot);
}

// Files with the same keys, ingested one over the other: each is what it is.
TEST_F(BypassTest, IngestedFiles) {
  Open();
  for (int version = 0; version < 3; version++) {
    const std::string path = root_ + "/ingested";
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(path));
    for (int i = 0; i < 10; i++) {
      ASSERT_OK(writer.Put(KeyOf(i), ValueOf(i, version)));
    }
    ASSERT_OK(writer.Finish());
    ASSERT_OK(db_->IngestExternalFile({path}, IngestExternalFileOptions()));
    Heat(0, 10);
    for (int i = 0; i < 10; i++) {
      EXPECT_EQ(ValueOf(i, version), Get(i));
    }
    EXPECT_EQ(10u, TakeServed().store);
  }
  Compact();
  for (int i = 0; i < 10; i++) {
    EXPECT_EQ(ValueOf(i, 2), Get(i));
  }
}

// Two databases in one process with equal file numbers and keys.
TEST_F(BypassTest, DatabasesDoNotMix) {
  hot_.slow = root_;
  Open();
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(options_, root_ + "/other", &other));
  Fill(0, 10);
  Flush();
  for (int i = 0; i < 10; i++) {
    ASSERT_OK(other->Put(WriteOptions(), KeyOf(i), "other" + ValueOf(i)));
  }
  ASSERT_OK(other->Flush(FlushOptions()));
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 10; i++) {
      std::string value;
      ASSERT_OK(other->Get(ReadOptions(), KeyOf(i), &value));
      EXPECT_EQ("other" + ValueOf(i), value);
      EXPECT_EQ(ValueOf(i), Get(i));
    }
    Settle();
  }
  EXPECT_EQ(20u, Stats().promoted);
}

TEST_F(BypassTest, ColumnFamiliesDoNotMix) {
  Open();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "other", &other));
  std::unique_ptr<ColumnFamilyHandle> guard(other);
  Fill(0, 10);
  for (int i = 0; i < 10; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), other, KeyOf(i), "other" + ValueOf(i)));
  }
  ASSERT_OK(db_->Flush(FlushOptions(), {db_->DefaultColumnFamily(), other}));
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 10; i++) {
      std::string value;
      ASSERT_OK(db_->Get(ReadOptions(), other, KeyOf(i), &value));
      EXPECT_EQ("other" + ValueOf(i), value);
      EXPECT_EQ(ValueOf(i), Get(i));
    }
    Settle();
  }
  guard.reset();
}

// Both read with a callback, which may hide entries: what is visible to it is not for copies to
// say.
TEST_F(BypassTest, ReadOnlyAndSecondaryInstances) {
  Prepare();
  std::unique_ptr<DB> secondary;
  ASSERT_OK(OpenDbAsSecondary(options_, path_, root_ + "/secondary", &secondary));
  std::string value;
  ASSERT_OK(secondary->Get(ReadOptions(), KeyOf(5), &value));
  EXPECT_EQ(ValueOf(5), value);
  EXPECT_EQ(1u, TakeServed().bypassed);
  Fill(5, 6, 1);
  Flush();
  Compact();
  ASSERT_OK(secondary->TryCatchUpWithPrimary());
  ASSERT_OK(secondary->Get(ReadOptions(), KeyOf(5), &value));
  EXPECT_EQ(ValueOf(5, 1), value);
  secondary.reset();
  Close();
  std::unique_ptr<DB> read_only;
  ASSERT_OK(OpenDbForReadOnly(options_, path_, &read_only));
  TakeServed();
  ASSERT_OK(read_only->Get(ReadOptions(), KeyOf(6), &value));
  EXPECT_EQ(ValueOf(6), value);
  EXPECT_EQ(1u, TakeServed().bypassed);
}

// Keys that differ in their bytes and are equal to the comparator.
class IgnoresCase : public Comparator {
 public:
  const char* Name() const override { return "IgnoresCase"; }
  int Compare(const Slice& a, const Slice& b) const override { return Lower(a).compare(Lower(b)); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return true; }

 private:
  static std::string Lower(const Slice& key) {
    std::string lower = key.ToString();
    for (char& c : lower) {
      c = static_cast<char>(tolower(c));
    }
    return lower;
  }
};

TEST_F(BypassTest, KeysThatAreEqualToTheComparatorOnly) {
  const IgnoresCase comparator;
  options_.comparator = &comparator;
  table_options_.filter_policy = nullptr;
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "KEY", "old"));
  const Snapshot* snapshot = db_->GetSnapshot();  // keeps both in one file
  ASSERT_OK(db_->Put(WriteOptions(), "key", "new"));
  Flush();
  for (int round = 0; round < 4; round++) {
    EXPECT_EQ("new", Get("KEY"));
    EXPECT_EQ("new", Get("key"));
    EXPECT_EQ("new", Get("Key"));
    Settle();
  }
  ObjectLibrary::Default()->AddFactory<const Comparator>(
      comparator.Name(), [](const std::string& /*uri*/,
                            std::unique_ptr<const Comparator>* /*guard*/, std::string* /*error*/) {
        static IgnoresCase of_tools;
        return &of_tools;
      });
  HotStoreInfo info;
  ASSERT_OK(VerifyHotStore(hot_.path, &info));
  EXPECT_EQ(3u, info.equal);
  EXPECT_EQ(0u, info.different + info.unchecked);
  Compact();
  EXPECT_EQ("new", Get("KEY"));
  EXPECT_EQ("new", Get("key"));
  EXPECT_EQ(1u, Stats().retained);
  db_->ReleaseSnapshot(snapshot);
  CloseAll();
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
