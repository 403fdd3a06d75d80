// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// All the ways to open a database: transactions, for reading, as a secondary, after RepairDB; and
// DestroyDB.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <tuple>

#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/version.h"
#include "test/blob_hybrid/support.h"
#include "test/support/hanging_fs.h"
#include "test/support/wait.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 200;

class OpensTest : public HybridDb {
 protected:
  OpensTest() { hybrid_.gc_garbage_ratio = 0.1; }

  // Every second key has version 1, and all values of the first blob file have been moved or
  // dropped.
  void MakeAndCollect() {
    Fill(0, kKeys, 0);
    Flush();
    Fill(0, kKeys, 1, 2);
    Flush();
    Compact();
    Compact();
    ASSERT_EQ(kKeys / 2u, Stats().moved_values);
  }

  static void ExpectValues(DB* db) {
    for (int i = 0; i < kKeys; i++) {
      std::string value;
      ASSERT_OK(db->Get(ReadOptions(), KeyOf(i), &value)) << i;
      ASSERT_EQ(ValueOf(i, i % 2 == 0 ? 1 : 0), value) << i;
    }
    ASSERT_OK(db->VerifyChecksum());
  }

  Options WithPlugin() {
    Options options = options_;
    EXPECT_OK(UseBlobHybrid(hybrid_, &options, &options));
    return options;
  }
};

TEST_F(OpensTest, ReadOnly) {
  Open();
  MakeAndCollect();
  Close();
  // Else stock RocksDB takes a way on which it does not find values in blob files.
  options_.max_open_files = 100;
  for (const Options& options : {WithPlugin(), options_}) {
    ASSERT_OK(OpenDbForReadOnly(options, path_, &db_));
    ExpectValues(db_.get());
    // A record has a header of 32 bytes and a key of 11.
    EXPECT_EQ(kKeys * (1000u + 32 + 11), Stats().large_live_bytes);
    Close();
  }
}

#if ROCKSDB_MAJOR >= 11  // 9.10 crashes when a secondary reads from a blob file
// A secondary follows while values move away from the files that it has read from.
TEST_F(OpensTest, Secondary) {
  Open();
  Fill(0, kKeys, 0);
  Flush();
  // Stock keeps files open, so that a secondary can read what the primary has deleted.
  Options options = WithPlugin();
  options.max_open_files = -1;
  std::unique_ptr<DB> secondary;
  ASSERT_OK(OpenDbAsSecondary(options, path_, root_ + "/secondary", &secondary));
  for (int i = 0; i < kKeys; i++) {
    std::string value;
    ASSERT_OK(secondary->Get(ReadOptions(), KeyOf(i), &value));
    ASSERT_EQ(ValueOf(i, 0), value);
  }
  Fill(0, kKeys, 1, 2);
  Flush();
  Compact();
  Compact();
  EXPECT_GT(Stats().moved_values, 0u);
  ASSERT_OK(secondary->TryCatchUpWithPrimary());
  ExpectValues(secondary.get());
}
#endif

// What is left of a database, of which a copy is recovered by stock RocksDB.
class RecoveryTest : public OpensTest {
 protected:
  std::vector<std::string> FilesWith(const std::string& part) {
    std::vector<std::string> all;
    EXPECT_OK(Env::Default()->GetChildren(path_, &all));
    std::vector<std::string> files;
    for (const std::string& file : all) {
      if (file.find(part) != std::string::npos) {
        files.push_back(path_ + "/" + file);
      }
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  void LoseManifest() {
    for (const char* part : {"MANIFEST", "CURRENT"}) {
      for (const std::string& file : FilesWith(part)) {
        ASSERT_OK(Env::Default()->DeleteFile(file));
      }
    }
  }

  void CopyDatabase() {
    std::filesystem::remove_all(copy_);
    std::filesystem::copy(path_, copy_, std::filesystem::copy_options::recursive);
  }

  // Of each key: its value or an error; or the error of the open.
  std::vector<std::string> Answers(const Status& opened) {
    if (!opened.ok()) {
      return {"open: " + std::to_string(opened.code())};
    }
    std::vector<std::string> answers;
    for (int i = 0; i < kKeys; i++) {
      answers.push_back(Get(i));
    }
    return answers;
  }

  // Those of stock RocksDB, which has the copy. Leaves the database open if that is possible.
  void ExpectAnswersOfStock(const Options& stock, const Options& with, const std::string& context) {
    const auto expected = Answers(OpenDb(stock, copy_, &db_));
    Close();
    EXPECT_EQ(expected, Answers(OpenDb(with, path_, &db_))) << context;
    if (db_ == nullptr) {
      return;
    }
    Compact();
    Compact();
    EXPECT_EQ(expected, Answers(Status::OK())) << context << ", compacted";
    EXPECT_EQ(0u, Stats().read_errors);
  }

  const std::string copy_ = root_ + "/stock";
};

// RepairDB does not put blob files into the new MANIFEST, and reads say so.
TEST_F(RecoveryTest, RepairDb) {
  Open();
  MakeAndCollect();
  Close();
  LoseManifest();
  CopyDatabase();
  const Options options = WithPlugin();
  const Status stock = RepairDB(copy_, options_);
  EXPECT_EQ(stock.code(), RepairDB(path_, options).code());
  ExpectAnswersOfStock(options_, options, "repaired");
}

// What has been merged does not need blob files.
TEST_F(RecoveryTest, RepairDbOfMergedValues) {
  UseMedium();
  Open();
  Fill(0, kKeys, 0);
  Flush();
  EXPECT_EQ(1u, BlobFiles().size());
  Compact();
  EXPECT_TRUE(BlobFiles().empty());
  Fill(0, kKeys, 1, 2);  // in the write-ahead log alone
  Close();
  LoseManifest();
  const Options options = WithPlugin();
  ASSERT_OK(RepairDB(path_, options));
  ASSERT_OK(OpenDb(options, path_, &db_));
  ExpectValues(db_.get());
  Fill(0, kKeys, 1, 2);
  Flush();
  EXPECT_EQ(1u, BlobFiles().size());
  Compact();
  EXPECT_TRUE(BlobFiles().empty());
  ExpectValues(db_.get());
}

// Back to the newest state of which all files are there.
TEST_F(RecoveryTest, BestEffortsRecovery) {
  for (const char* lost : {"CURRENT", ".blob", ".sst"}) {
    for (const bool oldest : {true, false}) {
      Open();
      MakeAndCollect();
      Put(0, 1);
      Flush();
      Close();
      const auto files = FilesWith(lost);
      ASSERT_FALSE(files.empty());
      ASSERT_OK(Env::Default()->DeleteFile(oldest ? files.front() : files.back()));
      CopyDatabase();
      Options stock = options_;
      Options with = WithPlugin();
      stock.best_efforts_recovery = with.best_efforts_recovery = true;
      ExpectAnswersOfStock(stock, with, lost + std::string(oldest ? ", oldest" : ", newest"));
      Close();
      ASSERT_OK(DestroyDB(path_, options_));
    }
  }
}

TEST_F(OpensTest, DestroyDbDeletesEverything) {
  const Options options = WithPlugin();
  ASSERT_OK(OpenDb(options, path_, &db_));
  MakeAndCollect();
  Close();
  ASSERT_OK(DestroyDB(path_, options));
  EXPECT_TRUE(Env::Default()->FileExists(path_).IsNotFound());
}

// The log is in stock files, so that all opens find it.
TEST_F(OpensTest, LogOfMediumValues) {
  UseMedium();
  Open();
  Fill(0, kKeys, 0);
  Fill(0, kKeys, 1, 2);
  Flush();
  EXPECT_EQ(kKeys * (1000u + 32 + 11), Stats().medium_bytes);
  Close();
  options_.max_open_files = 100;
  for (const Options& options : {WithPlugin(), options_}) {
    ASSERT_OK(OpenDbForReadOnly(options, path_, &db_));
    ExpectValues(db_.get());
    Close();
  }
  const Options options = WithPlugin();
  ASSERT_OK(OpenDb(options, path_, &db_));
  ExpectValues(db_.get());
  Close();
  ASSERT_OK(DestroyDB(path_, options));
  EXPECT_TRUE(Env::Default()->FileExists(path_).IsNotFound());
}

// A DestroyDB right after a close while the job was at work, and a database of the same name then.
TEST_F(OpensTest, AnotherDatabaseInItsPlace) {
  LeaveToTheJob();
  hybrid_.max_space_amplification = 1.1;
  hybrid_.space_floor = 1;
  for (int round = 0; round < 3; round++) {
    const Options options = WithPlugin();
    ASSERT_OK(OpenDb(options, path_, &db_));
    EXPECT_EQ("none", Get(1));
    for (int version = 0; version < 5; version++) {
      Fill(0, kKeys, version + 10 * round);
      Flush();
    }
    Close();
    ASSERT_OK(OpenDb(options, path_, &db_));
    for (int i = 0; i < kKeys; i++) {
      ASSERT_EQ(ValueOf(i, 4 + 10 * round), Get(i));
    }
    Close();
    ASSERT_OK(DestroyDB(path_, options));
  }
}

// Commits, rollbacks, and prepared transactions that stay open over compactions and a reopen. For
// both policies a reader sees what was committed and nothing else, whatever moves.
TEST_F(OpensTest, PropertiesAreTheStatisticsAndSoIsTheFile) {
  Open();
  MakeAndCollect();
  BlobHybridStats stats;
  ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  ASSERT_OK(GetBlobHybridStats(db_.get(), family, &stats));
  EXPECT_GT(stats.moved_values, 0u);
  const auto property = [&](const std::string& name) {
    std::string value = "none";
    GetBlobHybridProperty(db_.get(), family, "rocktier.blob_hybrid." + name, &value);
    return value;
  };
  EXPECT_EQ(std::to_string(stats.moved_values), property("moved_values"));
  EXPECT_EQ(std::to_string(stats.blob_file_bytes), property("blob_file_bytes"));
  EXPECT_EQ(static_cast<double>(stats.space_amplification_percent) / 100,
            std::stod(property("space_amplification_ratio")));
  EXPECT_EQ("none", property("moved"));
  const std::string line = "rocktier_blob_hybrid_moved_values_total{db=\"" + path_ +
                           "\",cf=\"default\"} " + std::to_string(stats.moved_values) + "\n";
  const std::string text = BlobHybridMetricsText(db_.get());
  EXPECT_NE(std::string::npos, text.find(line)) << text;
  const std::string file = path_ + "/rocktier_blob_hybrid.prom";
  std::string written;
  EXPECT_TRUE(rocktier::WaitFor([&] {
    ReadFileToString(Env::Default(), file, &written).PermitUncheckedError();
    return written.find(line) != std::string::npos;
  })) << written;
  Close();
  EXPECT_TRUE(Env::Default()->FileExists(file).IsNotFound());
  std::string log;
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/LOG", &log));
  EXPECT_NE(std::string::npos, log.find("BlobHybrid: statistics\n  blob_files.default "));
}

TEST_F(OpensTest, AStatisticsFileThatHangsHoldsUpNoOtherDatabase) {
  const auto hanging = std::make_shared<rocktier::HangingFs>("/db/rocktier_blob_hybrid.prom");
  const std::unique_ptr<Env> env = NewCompositeEnv(hanging);
  options_.env = env.get();
  Open();
  auto flushed = std::async(std::launch::async, [&] {
    Fill(0, 10, 1);
    Flush();
  });
  EXPECT_EQ(std::future_status::ready, flushed.wait_for(std::chrono::seconds(120)));
  EXPECT_TRUE(rocktier::WaitFor([&] { return hanging->is_hanging(); }));
  auto closed = std::async(std::launch::async, [&] { Close(); });
  EXPECT_EQ(std::future_status::timeout, closed.wait_for(std::chrono::milliseconds(500)));
  auto another = std::async(std::launch::async, [&] {
    Options options = options_;
    EXPECT_OK(UseBlobHybrid(hybrid_, &options, &options));
    std::unique_ptr<DB> other;
    EXPECT_OK(OpenDb(options, root_ + "/other", &other));
    EXPECT_OK(other->Put(WriteOptions(), KeyOf(1), ValueOf(1, 1)));
    EXPECT_OK(other->Flush(FlushOptions()));
  });
  EXPECT_EQ(std::future_status::ready, another.wait_for(std::chrono::seconds(120)));
  hanging->Release();
  closed.wait();
}

TEST_F(OpensTest, OfTwoDatabasesWithOneStatisticsFileOneWritesIt) {
  hybrid_.metrics_file = root_ + "/shared.prom";
  Open();
  Fill(0, 10, 1);
  Flush();
  std::string written;
  const auto has_of = [&](const std::string& path) {
    ReadFileToString(Env::Default(), hybrid_.metrics_file, &written).PermitUncheckedError();
    return written.find("{db=\"" + path + "\"") != std::string::npos;
  };
  EXPECT_TRUE(rocktier::WaitFor([&] { return has_of(path_); }));
  Options options = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(options, root_ + "/other", &other));
  ASSERT_OK(other->Put(WriteOptions(), KeyOf(1), ValueOf(1, 1)));
  ASSERT_OK(other->Flush(FlushOptions()));
  std::string log;
  const std::string warning = "cannot write statistics to " + hybrid_.metrics_file +
                              ": Resource busy: another database or process writes this file";
  EXPECT_TRUE(rocktier::WaitFor([&] {
    EXPECT_OK(ReadFileToString(Env::Default(), root_ + "/other/LOG", &log));
    return log.find(warning) != std::string::npos;
  })) << log;
  EXPECT_TRUE(has_of(path_));
  other.reset();
  EXPECT_TRUE(has_of(path_));
  Close();
  EXPECT_TRUE(Env::Default()->FileExists(hybrid_.metrics_file).IsNotFound());
}

class TransactionsTest
    : public OpensTest,
      public testing::WithParamInterface<std::tuple<TxnDBWritePolicy, bool /*medium*/>> {
 protected:
  TransactionsTest() {
    if (std::get<1>(GetParam())) {
      UseMedium();
    }
  }

  TxnDBWritePolicy policy() const { return std::get<0>(GetParam()); }

  void OpenTransactions() {
    TransactionDBOptions transactions;
    transactions.write_policy = policy();
    TransactionDB* raw = nullptr;
    ASSERT_OK(TransactionDB::Open(WithPlugin(), transactions, path_, &raw));
    txn_db_ = raw;
    db_.reset(raw);
  }

  Transaction* Begin(const std::string& name) {
    Transaction* transaction = txn_db_->BeginTransaction(WriteOptions(), TransactionOptions());
    EXPECT_OK(transaction->SetName(name));
    return transaction;
  }

  // Of every step-th key.
  static void PutAll(Transaction* transaction, int version, int step) {
    for (int i = 0; i < kKeys; i += step) {
      ASSERT_OK(transaction->Put(KeyOf(i), ValueOf(i, version)));
    }
  }

  BlobHybridStats RootStats() {
    BlobHybridStats stats;
    EXPECT_OK(GetBlobHybridStats(db_.get(), db_->DefaultColumnFamily(), &stats));
    return stats;
  }

  TransactionDB* txn_db_ = nullptr;  // db_ owns it
};

TEST_P(TransactionsTest, ReadersSeeWhatIsCommitted) {
  OpenTransactions();
  const auto commit = [&](const std::string& name, int version, int step) {
    const std::unique_ptr<Transaction> transaction(Begin(name));
    PutAll(transaction.get(), version, step);
    ASSERT_OK(transaction->Prepare());
    ASSERT_OK(transaction->Commit());
  };
  commit("first", 0, 1);
  Flush();
  const Snapshot* snapshot = db_->GetSnapshot();
  commit("second", 1, 2);
  // Prepared and rolled back; prepared, and not decided for now.
  std::unique_ptr<Transaction> rolled(Begin("rolled"));
  for (int i = 1; i < kKeys; i += 4) {
    ASSERT_OK(rolled->Put(KeyOf(i), ValueOf(i, 100)));
  }
  ASSERT_OK(rolled->Prepare());
  std::unique_ptr<Transaction> open(Begin("open"));
  for (int i = 3; i < kKeys; i += 4) {
    ASSERT_OK(open->Put(KeyOf(i), ValueOf(i, 200)));
  }
  ASSERT_OK(open->Prepare());
  Flush();
  const auto expect = [&](int undecided) {
    ReadOptions at;
    at.snapshot = snapshot;
    for (int i = 0; i < kKeys; i++) {
      ASSERT_EQ(ValueOf(i, i % 2 == 0 ? 1 : i % 4 == 3 ? undecided : 0), Get(i)) << i;
      if (snapshot != nullptr) {
        ASSERT_EQ(ValueOf(i, 0), Get(KeyOf(i), at)) << i;
      }
    }
  };
  expect(0);
  Compact();
  Compact();
  expect(0);
  ASSERT_OK(rolled->Rollback());
  rolled.reset();
  Flush();
  Compact();
  expect(0);
  db_->ReleaseSnapshot(snapshot);
  snapshot = nullptr;
  Compact();
  Compact();
  EXPECT_GT(RootStats().moved_values + RootStats().merged_values, 0u);
  expect(0);

  if (policy() != WRITE_COMMITTED) {
    // These assert that nothing is undecided at a close.
    ASSERT_OK(open->Commit());
    expect(200);
  }
  open.reset();
  Close();
  OpenTransactions();
  std::vector<Transaction*> prepared;
  txn_db_->GetAllPreparedTransactions(&prepared);
  ASSERT_EQ(policy() == WRITE_COMMITTED ? 1u : 0u, prepared.size());
  if (!prepared.empty()) {
    expect(0);
    const std::unique_ptr<Transaction> recovered(prepared[0]);
    ASSERT_OK(recovered->Commit());
  }
  expect(200);
  Flush();
  Compact();
  Compact();
  expect(200);
  EXPECT_EQ(0u, RootStats().read_errors);
  EXPECT_EQ(0u, RootStats().large_garbage_bytes);
  Close();
}

INSTANTIATE_TEST_CASE_P(Policies, TransactionsTest,
                        testing::Combine(testing::Values(WRITE_COMMITTED, WRITE_PREPARED,
                                                         WRITE_UNPREPARED),
                                         testing::Bool()));

TEST_F(OpensTest, OptimisticTransactions) {
  OptimisticTransactionDB* raw = nullptr;
  ASSERT_OK(OptimisticTransactionDB::Open(WithPlugin(), path_, &raw));
  db_.reset(raw);
  Fill(0, kKeys, 0);
  Flush();
  const std::unique_ptr<Transaction> loser(raw->BeginTransaction(WriteOptions()));
  std::string value;
  ASSERT_OK(loser->GetForUpdate(ReadOptions(), KeyOf(2), &value));
  ASSERT_OK(loser->Put(KeyOf(3), ValueOf(3, 100)));
  // A commit locks a mutex for each key, and ThreadSanitizer can follow 64.
  constexpr int kKeysOfACommit = 50;
  std::unique_ptr<Transaction> winner;
  for (int i = 0; i < kKeys; i += 2) {
    if (winner == nullptr) {
      winner.reset(raw->BeginTransaction(WriteOptions()));
    }
    ASSERT_OK(winner->Put(KeyOf(i), ValueOf(i, 1)));
    if (winner->GetNumPuts() == kKeysOfACommit || i + 2 >= kKeys) {
      ASSERT_OK(winner->Commit());
      winner.reset();
    }
  }
  Flush();
  Compact();
  Compact();
  EXPECT_GT(Stats().moved_values, 0u);
  EXPECT_FALSE(loser->Commit().ok());
  ExpectValues(db_.get());
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
