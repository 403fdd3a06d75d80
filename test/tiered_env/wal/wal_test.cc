// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Logs that RocksDB itself has written, and what its SSTs then have of them.

#include <functional>
#include <map>
#include <thread>

#include "db/write_batch_internal.h"
#include "plugin/tiered_env/wal/log_reader.h"
#include "plugin/tiered_env/wal/segment.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/wide_columns.h"
#include "rocksdb/write_batch.h"
#include "test/support/open_db.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"
#include "test/tiered_env/support/entries.h"
#include "util/compression.h"
#include "utilities/merge_operators.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {
namespace {

class WalTest : public ::testing::Test {
 protected:
  WalTest() : folder_(rocktier::NewFolder()), database_(folder_ + "/db") {
    options_.create_if_missing = true;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    options_.compression = kNoCompression;
    options_.disable_auto_compactions = true;
  }

  void Open() { ASSERT_OK(OpenDb(options_, database_, &db_)); }

  std::vector<LogFile> WalSegments() {
    EXPECT_OK(db_->FlushWAL(/*sync=*/true));
    return CopyLogs(database_, folder_ + "/logs");
  }

  // Of all logs, one behind the other, each with its own ordinals.
  std::vector<Kept> Read(const std::vector<LogFile>& logs) {
    std::vector<Kept> result;
    for (const LogFile& log : logs) {
      const std::vector<Kept> part = EntriesOfLog(log.path, log.number);
      for (size_t i = 0; i < part.size(); i++) {
        EXPECT_EQ(part[i].ordinal, i);
      }
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }

  // Adds to the batch and to what is expected of it.
  void Expect(ValueType type, const std::string& key, const std::string& value, Status added) {
    ASSERT_OK(added);
    Kept kept;
    kept.ordinal = static_cast<Ordinal>(expected_.size());
    kept.batch = db_->GetLatestSequenceNumber() + 1;
    kept.sequence = kept.batch + in_batch_++;
    kept.type = type;
    kept.key = key;
    kept.value = value;
    expected_.push_back(kept);
  }

  void Write() {
    ASSERT_OK(db_->Write(WriteOptions(), &batch_));
    batch_.Clear();
    in_batch_ = 0;
  }

  // Batches of all kinds of entries, each key once.
  void WriteRandomly(std::mt19937_64* random, int batches,
                     const std::vector<ColumnFamilyHandle*>& families);
  void AddRandomly(std::mt19937_64* random, ColumnFamilyHandle* family);

  std::string NewKey() { return "key" + std::to_string(1000000 + keys_++); }

  // After a flush: each entry of an SST is found in a segment and is there as the SST has it. How
  // many there are.
  size_t ExpectAllFound(const std::vector<LogFile>& logs);

  const std::string folder_;
  const std::string database_;
  Options options_;
  std::unique_ptr<DB> db_;
  WriteBatch batch_;
  SequenceNumber in_batch_ = 0;
  std::vector<Kept> expected_;
  int keys_ = 0;
  size_t largest_ = 100000;  // bytes of a value
};

void WalTest::AddRandomly(std::mt19937_64* random, ColumnFamilyHandle* family) {
  const std::string key = NewKey();
  const std::string value = RandomText(random, (*random)() % 50 == 0 ? largest_ : 200);
  switch ((*random)() % 8) {
    case 0:
      Expect(kTypeDeletion, key, "", batch_.Delete(family, key));
      break;
    case 1:
      Expect(kTypeSingleDeletion, key, "", batch_.SingleDelete(family, key));
      break;
    case 2:
      Expect(kTypeMerge, key, value, batch_.Merge(family, key, value));
      break;
    case 3:
      Expect(kTypeRangeDeletion, key, key + "z", batch_.DeleteRange(family, key, key + "z"));
      break;
    case 4: {
      const WideColumns columns = {{"a", value}, {"b", key}};
      std::string entity;
      WriteBatch one;
      ASSERT_OK(one.PutEntity(family, key, columns));
      // Behind the header, the tag, the family and the key.
      Slice rest(one.Data());
      rest.remove_prefix(12 + 1);
      uint32_t id;
      Slice same;
      Slice serialized;
      ASSERT_TRUE(family->GetID() == 0 || GetVarint32(&rest, &id));
      ASSERT_TRUE(GetLengthPrefixedSlice(&rest, &same));
      ASSERT_TRUE(GetLengthPrefixedSlice(&rest, &serialized));
      Expect(kTypeWideColumnEntity, key, serialized.ToString(),
             batch_.PutEntity(family, key, columns));
      break;
    }
    case 5:
      ASSERT_OK(batch_.PutLogData("no entry"));
      [[fallthrough]];
    default:
      Expect(kTypeValue, key, value, batch_.Put(family, key, value));
  }
}

void WalTest::WriteRandomly(std::mt19937_64* random, int batches,
                            const std::vector<ColumnFamilyHandle*>& families) {
  for (int i = 0; i < batches; i++) {
    const size_t entries = 1 + (*random)() % 20;
    for (size_t j = 0; j < entries; j++) {
      AddRandomly(random, families[(*random)() % families.size()]);
    }
    Write();
  }
}

size_t WalTest::ExpectAllFound(const std::vector<LogFile>& logs) {
  std::vector<std::vector<Kept>> entries;
  std::vector<std::unique_ptr<Segment>> segments;
  for (const LogFile& log : logs) {
    entries.push_back(EntriesOfLog(log.path, log.number));
    segments.push_back(std::make_unique<Segment>(log.number));
    for (const Kept& kept : entries.back()) {
      segments.back()->Add(kept.ordinal, kept.AsEntry());
    }
  }
  const std::vector<Kept> table = EntriesOfTables(options_, database_);
  for (const Kept& kept : table) {
    bool found = false;
    Reference reference;
    for (size_t i = 0; i < segments.size() && !found; i++) {
      found = segments[i]->Take(kept.sequence, kept.fingerprint(), &reference);
      if (found) {
        const Kept& there = entries[i][reference.ordinal];
        EXPECT_EQ(reference.segment, segments[i]->id());
        EXPECT_EQ(reference.of_batch ? there.batch : there.sequence, kept.sequence);
        EXPECT_EQ(there.type, kept.type);
        EXPECT_EQ(there.key, kept.key);
        EXPECT_TRUE(there.value == kept.value) << kept;
      }
    }
    EXPECT_TRUE(found) << kept;
  }
  return table.size();
}

TEST_F(WalTest, EachEntryIsShownWithItsNumbers) {
  Open();
  std::mt19937_64 random(rocktier::Seed());
  WriteRandomly(&random, 500, {db_->DefaultColumnFamily()});
  const std::vector<Kept> read = Read(WalSegments());
  ASSERT_EQ(read.size(), expected_.size());
  for (size_t i = 0; i < read.size(); i++) {
    ASSERT_EQ(read[i], expected_[i]);
  }
}

TEST_F(WalTest, ColumnFamiliesMakeNoDifference) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "other", &family));
  std::mt19937_64 random(rocktier::Seed());
  WriteRandomly(&random, 300, {db_->DefaultColumnFamily(), family});
  const std::vector<LogFile> logs = WalSegments();
  EXPECT_EQ(Read(logs), expected_);
  ASSERT_OK(db_->Flush(FlushOptions(), {db_->DefaultColumnFamily(), family}));
  EXPECT_GT(ExpectAllFound(logs), 500u);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

TEST_F(WalTest, LogsAreReadAsTheyAreWritten) {
  std::mt19937_64 random(rocktier::Seed());
  const std::vector<std::pair<const char*, std::function<void(Options*)>>> ways = {
      {"manual_wal_flush", [](Options* o) { o->manual_wal_flush = true; }},
      {"pipelined", [](Options* o) { o->enable_pipelined_write = true; }},
      {"unordered", [](Options* o) { o->unordered_write = true; }},
      {"two queues", [](Options* o) { o->two_write_queues = true; }},
      {"recycled", [](Options* o) { o->recycle_log_file_num = 2; }},
      {"compressed", [](Options* o) { o->wal_compression = kZSTD; }},
      {"recycled, compressed",
       [](Options* o) {
         o->recycle_log_file_num = 2;
         o->wal_compression = kZSTD;
       }},
  };
  const Options before = options_;
  const size_t largest = largest_;
  for (const auto& [name, set] : ways) {
    SCOPED_TRACE(name);
    options_ = before;
    set(&options_);
    // RocksDB does not read a batch back of which a second piece of 32 KB begins at the end of a
    // block (facebook/rocksdb#15007).
    largest_ =
        options_.recycle_log_file_num > 0 && options_.wal_compression == kZSTD ? 200 : largest;
    if (options_.wal_compression == kZSTD && !CompressionTypeSupported(kZSTD)) {
      printf("[ SKIPPED ] %s: RocksDB was built without zstd\n", name);
      continue;
    }
    db_.reset();
    ASSERT_OK(DestroyDB(database_, options_));
    std::filesystem::remove_all(folder_ + "/logs");
    Open();
    for (int round = 0; round < 5; round++) {
      expected_.clear();
      WriteRandomly(&random, 200, {db_->DefaultColumnFamily()});
      const std::vector<LogFile> logs = WalSegments();
      ASSERT_FALSE(logs.empty());
      // Logs that wait to be used again are not there by their names; an old one ends where the new
      // one does.
      const std::vector<Kept> last = EntriesOfLog(logs.back().path, logs.back().number);
      ASSERT_EQ(last, expected_);
      if (round == 4 && options_.recycle_log_file_num > 0) {
        EXPECT_TRUE(EntriesOfLog(logs.back().path, logs.back().number + 1).empty());
      }
      ASSERT_OK(db_->Flush(FlushOptions()));
      if (round == 0) {
        EXPECT_GT(ExpectAllFound(logs), 500u);
      }
    }
  }
}

TEST_F(WalTest, AGroupOfWritersIsFound) {
  options_.recycle_log_file_num = 1;
  Open();
  std::vector<std::thread> writers;
  for (int t = 0; t < 8; t++) {
    writers.emplace_back([this, t] {
      for (int i = 0; i < 500; i++) {
        WriteBatch batch;
        for (int j = 0; j <= i % 3; j++) {
          const std::string key = std::to_string(t) + "." + std::to_string(i * 3 + j);
          ASSERT_OK(batch.Put(key, "value of " + key));
        }
        ASSERT_OK(db_->Write(WriteOptions(), &batch));
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  const std::vector<LogFile> logs = WalSegments();
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(ExpectAllFound(logs), 8u * (500 + 333 + 166));
}

class WalTransactionTest : public WalTest {
 protected:
  void OpenTransactions(TxnDBWritePolicy policy) {
    TransactionDBOptions options;
    options.write_policy = policy;
    TransactionDB* db = nullptr;
    ASSERT_OK(TransactionDB::Open(options_, options, database_, &db));
    transactions_ = db;
    db_.reset(db);
  }

  std::unique_ptr<Transaction> Begin(const std::string& name, int keys) {
    TransactionOptions options;
    std::unique_ptr<Transaction> result(transactions_->BeginTransaction(WriteOptions(), options));
    EXPECT_OK(result->SetName(name));
    for (int i = 0; i < keys; i++) {
      const std::string key = name + "." + std::to_string(i);
      EXPECT_OK(result->Put(key, "value of " + key));
    }
    return result;
  }

  // Transactions of several threads, with other writes between them. Each key is written once.
  void RunThreads(bool prepare) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
      threads.emplace_back([this, t, prepare] {
        const std::string name = "t" + std::to_string(t) + ".";
        for (int i = 0; i < 200; i++) {
          std::unique_ptr<Transaction> transaction = Begin(name + std::to_string(i), i % 5);
          if (prepare) {
            ASSERT_OK(transaction->Prepare());
          }
          ASSERT_OK(db_->Put(WriteOptions(), name + "put" + std::to_string(i), "put"));
          ASSERT_OK(transaction->Commit());
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  void ExpectThreadsFound() {
    const std::vector<LogFile> logs = WalSegments();
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_EQ(ExpectAllFound(logs), 8u * (200 * 2 + 200));
  }

  TransactionDB* transactions_ = nullptr;  // db_
};

TEST_F(WalTransactionTest, WriteCommittedHasTheNumbersOfTheCommit) {
  OpenTransactions(WRITE_COMMITTED);
  std::unique_ptr<Transaction> first = Begin("first", 3);
  std::unique_ptr<Transaction> second = Begin("second", 2);
  std::unique_ptr<Transaction> undone = Begin("undone", 4);
  ASSERT_OK(first->Prepare());
  ASSERT_OK(second->Prepare());
  ASSERT_OK(undone->Prepare());
  ASSERT_OK(db_->Put(WriteOptions(), "between", "1"));
  const SequenceNumber before = db_->GetLatestSequenceNumber();
  ASSERT_OK(second->Commit());
  ASSERT_OK(undone->Rollback());
  ASSERT_OK(db_->Put(WriteOptions(), "between again", "2"));
  ASSERT_OK(first->Commit());
  // The name is used again, and nobody knows yet what becomes of it.
  std::unique_ptr<Transaction> open = Begin("second", 1);
  ASSERT_OK(open->Prepare());
  ASSERT_OK(db_->Put(WriteOptions(), "last", "3"));
  const std::vector<LogFile> logs = WalSegments();
  ASSERT_EQ(logs.size(), 1u);
  std::map<std::string, SequenceNumber> numbers;
  for (const Kept& kept : Read(logs)) {
    numbers.emplace(kept.key, kept.sequence);  // of the two second.0 the first
  }
  EXPECT_EQ(numbers["between"], before);
  EXPECT_EQ(numbers["second.0"], before + 1);
  EXPECT_EQ(numbers["second.1"], before + 2);
  EXPECT_EQ(numbers["between again"], before + 3);
  EXPECT_EQ(numbers["first.0"], before + 4);
  EXPECT_EQ(numbers["first.2"], before + 6);
  EXPECT_EQ(numbers["last"], before + 7);
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(ExpectAllFound(logs), 3u + 2 + 3);
  ASSERT_OK(open->Rollback());
}

// An empty transaction is a noop, which ends a batch where batches are numbered.
TEST_F(WalTest, EmptyTransactionsDoNotLookLikeWritePrepared) {
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "first", "1"));
  WriteBatch group;
  ASSERT_OK(group.Put("a", "1"));
  ASSERT_OK(group.Put("b", "2"));
  ASSERT_OK(WriteBatchInternal::InsertNoop(&group));
  ASSERT_OK(group.Put("c", "3"));
  ASSERT_OK(WriteBatchInternal::InsertNoop(&group));
  ASSERT_OK(db_->Write(WriteOptions(), &group));
  const std::vector<LogFile> logs = WalSegments();
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(ExpectAllFound(logs), 4u);
}

TEST_F(WalTransactionTest, GroupsOfWriteCommittedAreFound) {
  OpenTransactions(WRITE_COMMITTED);
  RunThreads(/*prepare=*/true);
  ExpectThreadsFound();
}

TEST_F(WalTransactionTest, GroupsOfWriteCommittedInTwoQueuesAreFound) {
  options_.two_write_queues = true;
  OpenTransactions(WRITE_COMMITTED);
  RunThreads(/*prepare=*/true);
  ExpectThreadsFound();
}

TEST_F(WalTransactionTest, GroupsOfWriteCommittedWithoutPrepareAreFound) {
  OpenTransactions(WRITE_COMMITTED);
  RunThreads(/*prepare=*/false);
  ExpectThreadsFound();
}

TEST_F(WalTransactionTest, GroupsOfWritePreparedAreFound) {
  OpenTransactions(WRITE_PREPARED);
  RunThreads(/*prepare=*/true);
  ExpectThreadsFound();
}

TEST_F(WalTransactionTest, GroupsOfWritePreparedInTwoQueuesAreFound) {
  options_.two_write_queues = true;
  OpenTransactions(WRITE_PREPARED);
  RunThreads(/*prepare=*/true);
  ExpectThreadsFound();
}

TEST_F(WalTransactionTest, GroupsOfWritePreparedWithoutPrepareAreFound) {
  OpenTransactions(WRITE_PREPARED);
  RunThreads(/*prepare=*/false);
  ExpectThreadsFound();
}

TEST_F(WalTransactionTest, GroupsOfWriteUnpreparedAreFound) {
  OpenTransactions(WRITE_UNPREPARED);
  RunThreads(/*prepare=*/true);
  ExpectThreadsFound();
}

class WalDamageTest : public WalTest {
 protected:
  // A log of 300 batches, with `set`.
  void MakeLog(const std::function<void(Options*)>& set) {
    seed_ = rocktier::Seed();
    random_.seed(seed_);
    set(&options_);
    Open();
    if (options_.recycle_log_file_num > 0) {
      for (int i = 0; i < 3; i++) {
        WriteRandomly(&random_, 400, {db_->DefaultColumnFamily()});
        ASSERT_OK(db_->Flush(FlushOptions()));
      }
      expected_.clear();
    }
    WriteRandomly(&random_, 300, {db_->DefaultColumnFamily()});
    log_ = WalSegments().back();
    bytes_ = ReadBytes(log_.path);
    ASSERT_EQ(EntriesOfLog(log_.path, log_.number), expected_);
    path_ = folder_ + "/damaged.log";
  }

  // The entries of the damaged log are the first ones of the log; how many.
  size_t ExpectPrefix(const std::string& bytes) {
    WriteBytes(path_, bytes);
    const std::vector<Kept> read = EntriesOfLog(path_, log_.number);
    EXPECT_TRUE(IsPrefix(read, expected_)) << read.size() << " entries";
    EXPECT_EQ(EntriesOfLog(path_, log_.number), read) << "a second time";
    return read.size();
  }

  void ExpectTornLogsAreRead() {
    size_t last = 0;
    std::vector<size_t> lengths = {0, 1, 6, 7, 11, bytes_.size() - 1};
    for (int i = 0; i < 100; i++) {
      lengths.push_back(random_() % bytes_.size());
    }
    std::sort(lengths.begin(), lengths.end());
    for (const size_t length : lengths) {
      SCOPED_TRACE(length);
      const size_t read = ExpectPrefix(bytes_.substr(0, length));
      EXPECT_GE(read, last);
      last = read;
    }
    EXPECT_GT(last, 0u);
  }

  void ExpectDamageEndsTheLog() {
    size_t most = 0;
    size_t fewest = expected_.size();
    for (int i = 0; i < 200; i++) {
      std::string bytes = bytes_;
      const size_t at = random_() % bytes.size();
      const char flip = static_cast<char>(i % 2 == 0 ? 1 << (random_() % 8) : 1 + random_() % 255);
      SCOPED_TRACE(std::to_string(at) + " ^ " + std::to_string(static_cast<int>(flip)));
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      const size_t read = ExpectPrefix(bytes);
      most = std::max(most, read);
      fewest = std::min(fewest, read);
    }
    EXPECT_GT(most, fewest);
  }

  // Where the records' headers begin.
  std::vector<size_t> Headers() const {
    std::vector<size_t> result;
    constexpr size_t kBlock = 32768;
    for (size_t at = 0; at + 7 <= bytes_.size();) {
      const bool recyclable = bytes_[at + 6] >= 5 && bytes_[at + 6] <= 8;
      const size_t length =
          static_cast<uint8_t>(bytes_[at + 4]) + 256u * static_cast<uint8_t>(bytes_[at + 5]);
      const size_t header = recyclable ? 11 : 7;
      if (bytes_[at + 6] == 0) {
        break;
      }
      result.push_back(at);
      at += header + length;
      if (kBlock - at % kBlock < header) {
        at += kBlock - at % kBlock;
      }
    }
    return result;
  }

  uint64_t seed_ = 0;
  std::mt19937_64 random_;
  LogFile log_;
  std::string bytes_;
  std::string path_;
};

TEST_F(WalDamageTest, TornLogsAreReadUpToTheTear) {
  MakeLog([](Options*) {});
  ExpectTornLogsAreRead();
  EXPECT_EQ(ExpectPrefix(bytes_), expected_.size());
  EXPECT_EQ(ExpectPrefix(bytes_ + std::string(100000, '\0')), expected_.size()) << "preallocated";
}

TEST_F(WalDamageTest, TornRecycledLogsAreReadUpToTheTear) {
  MakeLog([](Options* o) { o->recycle_log_file_num = 2; });
  ASSERT_GE(bytes_[6], 5) << "not recycled";
  ExpectTornLogsAreRead();
}

TEST_F(WalDamageTest, DamageEndsTheLog) {
  MakeLog([](Options*) {});
  ExpectDamageEndsTheLog();
}

TEST_F(WalDamageTest, DamageEndsARecycledLog) {
  MakeLog([](Options* o) { o->recycle_log_file_num = 2; });
  ExpectDamageEndsTheLog();
}

TEST_F(WalDamageTest, DamageEndsACompressedLog) {
  if (!CompressionTypeSupported(kZSTD)) {
    ROCKSDB_GTEST_SKIP("RocksDB was built without zstd");
    return;
  }
  MakeLog([](Options* o) { o->wal_compression = kZSTD; });
  ExpectTornLogsAreRead();
  ExpectDamageEndsTheLog();
}

// RocksDB's reader reads on for ever where a record of a recycled log is in one that is not.
TEST_F(WalDamageTest, EachTypeOfRecordThatIsNoneEndsTheLog) {
  MakeLog([](Options*) {});
  const std::vector<size_t> headers = Headers();
  ASSERT_GT(headers.size(), 100u);
  for (int type = 0; type < 256; type++) {
    const size_t at = headers[1 + random_() % (headers.size() - 1)];
    std::string bytes = bytes_;
    if (bytes[at + 6] == static_cast<char>(type)) {
      continue;
    }
    SCOPED_TRACE(std::to_string(at) + " type " + std::to_string(type));
    bytes[at + 6] = static_cast<char>(type);
    EXPECT_LT(ExpectPrefix(bytes), expected_.size());
  }
}

TEST_F(WalDamageTest, ZerosInTheMiddleEndTheLog) {
  MakeLog([](Options*) {});
  const std::vector<size_t> headers = Headers();
  for (int i = 0; i < 50; i++) {
    std::string bytes = bytes_;
    const size_t at = headers[1 + random_() % (headers.size() - 1)];
    const size_t length = std::min<size_t>(4096, bytes.size() - at);
    SCOPED_TRACE(at);
    bytes.replace(at, length, length, '\0');
    EXPECT_LT(ExpectPrefix(bytes), expected_.size());
  }
}

// Records behind a hole would have other ordinals than they had.
TEST_F(WalDamageTest, NothingIsReadBehindAHole) {
  MakeLog([](Options*) {});
  const std::vector<size_t> headers = Headers();
  constexpr char kFullType = 1;
  size_t full = 0;
  while (full + 1 < headers.size() && bytes_[headers[full] + 6] != kFullType) {
    full++;
  }
  ASSERT_LT(full + 1, headers.size());
  const std::string record = bytes_.substr(headers[full], headers[full + 1] - headers[full]);
  size_t holes = 0;
  for (size_t i = 1; i < headers.size(); i++) {
    if (headers[i] % 32768 != 0) {
      continue;
    }
    // As if the block began with a record of its own.
    std::string bytes = bytes_;
    const size_t hole = headers[i - 1];
    bytes.replace(hole, headers[i] - hole, headers[i] - hole, '\0');
    bytes.replace(headers[i], record.size(), record);
    SCOPED_TRACE(hole);
    ExpectPrefix(bytes);
    holes++;
  }
  EXPECT_GT(holes, 0u);
}

// The end of a block that has no room for a header is zeros; in recycled logs that is more.
TEST_F(WalDamageTest, AHoleAsSmallAsTheEndOfABlockIsOne) {
  constexpr size_t kRecord = 7 + 12 + 1 + 1 + 1;  // headers, tag, lengths of key and value, and key
  Open();
  for (size_t hole = 7; hole < 11; hole++) {
    SCOPED_TRACE(hole);
    ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
    const size_t filled = kRecord + 1 + 1 + kRecord + 3 + hole;
    ASSERT_OK(db_->Put(WriteOptions(), "b", std::string(32768 - filled, 'b')));
    ASSERT_OK(db_->Put(WriteOptions(), "c", std::string(1000, 'c')));
    log_ = WalSegments().back();
    bytes_ = ReadBytes(log_.path);
    path_ = folder_ + "/damaged.log";
    expected_ = EntriesOfLog(log_.path, log_.number);
    ASSERT_EQ(expected_.size(), 3u);
    const std::vector<size_t> headers = Headers();
    ASSERT_EQ(headers[2], 32768 - hole);
    std::string bytes = bytes_.substr(0, headers[2]) + std::string(hole, '\0');
    bytes += bytes_.substr(0, headers[1]);
    EXPECT_EQ(ExpectPrefix(bytes), 2u);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
}

TEST_F(WalTest, WhatIsNotThereIsAnError) {
  EntryCollector manager;
  const IOStatus s = ReadLog(FileSystem::Default().get(), folder_ + "/000001.log", 1, &manager);
  EXPECT_TRUE(s.IsPathNotFound()) << s.ToString();
  EXPECT_NE(s.ToString().find("000001.log"), std::string::npos);
}

// Reads that fail after a while.
class FailingFile : public FSSequentialFileOwnerWrapper {
 public:
  explicit FailingFile(std::unique_ptr<FSSequentialFile>&& file)
      : FSSequentialFileOwnerWrapper(std::move(file)) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    return reads_++ == 2 ? IOStatus::IOError("no luck")
                         : FSSequentialFileOwnerWrapper::Read(n, options, result, scratch, dbg);
  }

 private:
  int reads_ = 0;
};

class FailingFs : public FileSystemWrapper {
 public:
  FailingFs() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "FailingFs"; }
  IOStatus NewSequentialFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    IOStatus s = target()->NewSequentialFile(name, options, result, dbg);
    if (s.ok()) {
      *result = std::make_unique<FailingFile>(std::move(*result));
    }
    return s;
  }
};

TEST_F(WalDamageTest, ReadErrorsAreErrors) {
  MakeLog([](Options*) {});
  ASSERT_GT(bytes_.size(), 3u * 32768);
  FailingFs fs;
  EntryCollector manager;
  const IOStatus s = ReadLog(&fs, log_.path, log_.number, &manager);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_NE(s.ToString().find("no luck"), std::string::npos);
  EXPECT_TRUE(IsPrefix(manager.kept, expected_));
}

}  // namespace
}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
