// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Whatever is written, and however: the power fails at any moment, the tier in memory is lost, and
// the database is what it was after some number of its operations, not before the last one that was
// durable.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>

#include "rocksdb/comparator.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/transaction_db.h"
#include "test/support/power_fs.h"
#include "test/tiered_env/support/tiered_test.h"
#include "util/coding.h"
#include "utilities/merge_operators.h"
#include "utilities/transactions/write_prepared_txn_db.h"

namespace ROCKSDB_NAMESPACE {

// RocksDB lets a class of this name say that transactions which are still prepared are no mistake.
class WritePreparedTransactionTestBase {
 public:
  static void Crash(WritePreparedTxnDB* db) { db->TEST_Crash(); }
};

}  // namespace ROCKSDB_NAMESPACE

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr char kMarker[] = "!";        // which operation was the last
constexpr uint64_t kKeys = 1500;       // of one kind
constexpr uint64_t kMostOfRange = 25;  // keys that a range deletion covers
constexpr int kMoreRounds = 20;        // until a run has seen what it must

// What is done and how.
struct Kind {
  const char* name;
  std::function<void(Options*)> set = nullptr;
  std::string steps = "PPPPD";  // Put, Delete, delete Range, Single delete, Merge, Entity
  std::string placement = "0..1=memory;2..=slow";
  size_t families = 1;
  bool wal = true;
  bool flushed = true;  // what was written has left RocksDB's buffers
  // Whether WriteOptions::sync does: RocksDB's DB::Write() with two_write_queues does not.
  bool syncs = true;
  bool ingests = false;
  bool timestamps = false;
  bool rebuilds = true;  // recipes refer to logs, and SSTs are rebuilt: a run must have seen it
  std::optional<TxnDBWritePolicy> policy = std::nullopt;
  std::function<void(TieredOptions*)> tiered = nullptr;
};

struct Step {
  char what;
  size_t family;
  std::string key;
  std::string value;  // of a range: its end
};
using Operation = std::vector<Step>;
using Family = std::map<std::string, std::string>;
using State = std::vector<Family>;

void Apply(const Operation& operation, State* state) {
  for (const Step& step : operation) {
    Family& family = (*state)[step.family];
    if (step.what == 'P' || step.what == 'E') {
      family[step.key] = step.value;
    } else if (step.what == 'M') {
      std::string& value = family[step.key];
      value += (value.empty() ? "" : ",") + step.value;
    } else if (step.what == 'R') {
      family.erase(family.lower_bound(step.key), family.lower_bound(step.value));
    } else {
      family.erase(step.key);
    }
  }
}

// Of the transaction that writes this key: "!t12", "xt12-3".
std::string TransactionOf(const std::string& key) {
  return key[0] == '!' || key[0] == 'x' ? key.substr(1, key.find('-') - 1) : "";
}

std::string Difference(const State& expected, const State& found) {
  std::string result = " but for";
  for (size_t i = 0; i < expected.size(); i++) {
    for (const auto& [key, value] : expected[i]) {
      const auto it = found[i].find(key);
      if (it == found[i].end() || it->second != value) {
        result += " " + key + (it == found[i].end() ? " (missing)" : "");
      }
    }
    for (const auto& [key, value] : found[i]) {
      result += expected[i].count(key) == 0 ? " " + key + " (new)" : "";
    }
  }
  return result.substr(0, 300);
}

class KindsTest : public TieredTest, public ::testing::WithParamInterface<Kind> {
 protected:
  KindsTest() : kind_(GetParam()) {
    power_ = std::make_shared<PowerFs>(folder_ + "/attic");
    target_ = power_;
    names_.resize(kind_.families);
    for (size_t i = 0; i < names_.size(); i++) {
      names_[i] = i == 0 ? kDefaultColumnFamilyName : "family" + std::to_string(i);
    }
    base_.resize(kind_.families);
    now_ = base_;
  }
  ~KindsTest() override { CloseAll(); }

  void Mount();
  Options MakeOptions() const;
  Status OpenAll(bool create);
  void CloseAll();

  std::string NewKey(char what);
  Step NewStep(char what);
  Operation NewOperation();
  std::string ValueOf(size_t most);
  Slice Stamp();
  Status Add(const Step& step, WriteBatch* batch);
  Status Write(const Operation& operation);
  Status Ingest();
  Status Transact();
  Status FlushAll();
  void Note(const Operation& operation);
  void Durable() { durable_ = ops_.size(); }
  void Work();

  State Read();
  State WithoutUnprepared(const State& found, const State& expected) const;
  void Verify();
  void VerifyTables();
  void Resolve();
  void DropOne();
  void LoseMemory();

  const Kind kind_;
  std::shared_ptr<PowerFs> power_;
  std::shared_ptr<SstFileManager> manager_;
  std::vector<std::string> names_;
  std::vector<ColumnFamilyHandle*> handles_;
  TransactionDB* transactions_ = nullptr;  // db_, if it is one

  State base_;                  // before ops_
  std::vector<Operation> ops_;  // since the last check
  State now_;                   // after them
  size_t durable_ = 0;          // of ops_
  size_t acknowledged_ = 0;
  uint64_t number_ = 0;
  std::string stamp_;
  std::map<std::string, Operation> prepared_;  // by name
  std::vector<std::unique_ptr<Transaction>> open_;
  std::set<std::string> must_be_prepared_;
  std::set<std::string> was_prepared_;  // durably
};

void KindsTest::Mount() {
  CloseAll();
  env_.reset();
  fs_.reset();
  TieredOptions options;
  options.tiers =
      "memory={kind=memory;path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}";
  options.placement = kind_.placement;
  options.mover_bytes_per_second = 0;
  if (kind_.tiered) {
    kind_.tiered(&options);
  }
  ASSERT_OK(NewTieredFileSystem(options, target_, &fs_));
  env_ = NewCompositeEnv(fs_);
}

Options KindsTest::MakeOptions() const {
  Options options = DbOptions();
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 32 << 10;
  options.max_bytes_for_level_base = 128 << 10;
  options.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  options.merge_operator = MergeOperators::CreateStringAppendOperator();
  if (kind_.set) {
    kind_.set(&options);
  }
  if (options.wal_dir == "elsewhere") {
    options.wal_dir = folder_ + "/wal";
  }
  options.sst_file_manager = manager_;
  return options;
}

Status KindsTest::OpenAll(bool create) {
  if (std::string(kind_.name) == "Trash") {
    manager_.reset(NewSstFileManager(env_.get(), nullptr, "", 1 << 20, true, nullptr, 1000, 16384));
  }
  const Options options = MakeOptions();
  std::vector<ColumnFamilyDescriptor> families;
  for (size_t i = 0; i < (create ? 1 : names_.size()); i++) {
    families.emplace_back(names_[i], options);
  }
  Status s;
  if (kind_.policy) {
    TransactionDBOptions how;
    how.write_policy = *kind_.policy;
    how.default_write_batch_flush_threshold = 200;
    s = TransactionDB::Open(options, how, db_name_, families, &handles_, &transactions_);
    db_.reset(transactions_);
  } else {
    s = OpenInto(&db_, [&](auto* result) {
      return DB::Open(options, db_name_, families, &handles_, result);
    });
  }
  for (size_t i = 1; s.ok() && create && i < names_.size(); i++) {
    ColumnFamilyHandle* handle = nullptr;
    s = db_->CreateColumnFamily(options, names_[i], &handle);
    handles_.push_back(handle);
  }
  return s;
}

void KindsTest::CloseAll() {
  open_.clear();
  for (ColumnFamilyHandle* handle : handles_) {
    if (db_ != nullptr && handle != nullptr) {
      db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }
  handles_.clear();
  if (transactions_ != nullptr && *kind_.policy != WRITE_COMMITTED) {
    WritePreparedTransactionTestBase::Crash(static_cast<WritePreparedTxnDB*>(transactions_));
  }
  transactions_ = nullptr;
  db_.reset();
  manager_.reset();
}

std::string KindsTest::ValueOf(size_t most) {
  std::string value(1 + random_() % most, '\0');
  for (char& c : value) {
    c = static_cast<char>('a' + random_() % 26);
  }
  return value;
}

Step KindsTest::NewStep(char what) {
  const uint64_t number = 10000 + random_() % kKeys;
  Step step{what, random_() % kind_.families, "k" + std::to_string(number), ""};
  const Family& family = now_[step.family];
  if (what == 'S') {  // each of these keys is written once
    const auto it = family.lower_bound("s");
    if (it == family.end() || it->first[0] != 's' || random_() % 2 == 0) {
      step.what = 'P';
      step.key = "s" + std::to_string(random_());
    } else {
      step.key = it->first;
    }
  } else if (what == 'D' && random_() % 2 == 0) {
    const auto it = family.lower_bound("x" + std::to_string(random_()));
    step.key = it != family.end() && it->first[0] == 'x' ? it->first : step.key;
  } else if (what == 'E') {
    step.key[0] = 'e';
  } else if (what == 'R') {
    step.value = "k" + std::to_string(number + 1 + random_() % kMostOfRange);
  }
  if (what != 'R') {
    step.value = ValueOf(random_() % 20 == 0 ? 2000 : 250);
  }
  return step;
}

Operation KindsTest::NewOperation() {
  Operation operation;
  for (uint64_t left = 1 + random_() % 4; left > 0; left--) {
    Step step = NewStep(kind_.steps[random_() % kind_.steps.size()]);
    const bool again = std::any_of(operation.begin(), operation.end(), [&](const Step& other) {
      return other.key[0] == 's' && other.key == step.key;
    });
    if (!again) {
      operation.push_back(std::move(step));
    }
  }
  operation.push_back({'P', 0, kMarker, std::to_string(++number_)});
  return operation;
}

Slice KindsTest::Stamp() {
  stamp_.clear();
  PutFixed64(&stamp_, number_);
  return stamp_;
}

Status KindsTest::Add(const Step& step, WriteBatch* batch) {
  ColumnFamilyHandle* const family = handles_[step.family];
  const bool stamped = kind_.timestamps;
  switch (step.what) {
    case 'P':
      return stamped ? batch->Put(family, step.key, Stamp(), step.value)
                     : batch->Put(family, step.key, step.value);
    case 'D':
      return stamped ? batch->Delete(family, step.key, Stamp()) : batch->Delete(family, step.key);
    case 'S':
      return stamped ? batch->SingleDelete(family, step.key, Stamp())
                     : batch->SingleDelete(family, step.key);
    case 'R':
      return batch->DeleteRange(family, step.key, step.value);
    case 'M':
      return batch->Merge(family, step.key, step.value);
    default: {
      const std::string reversed(step.value.rbegin(), step.value.rend());
      const WideColumns columns{{kDefaultWideColumnName, step.value}, {"reversed", reversed}};
      return batch->PutEntity(family, step.key, columns);
    }
  }
}

void KindsTest::Note(const Operation& operation) {
  ops_.push_back(operation);
  Apply(operation, &now_);
}

Status KindsTest::Write(const Operation& operation) {
  WriteBatch batch;
  Status s;
  for (auto step = operation.begin(); s.ok() && step != operation.end(); ++step) {
    s = Add(*step, &batch);
  }
  EXPECT_TRUE(s.ok()) << s.ToString();
  WriteOptions options;
  options.disableWAL = !kind_.wal;
  options.sync = kind_.wal && kind_.syncs && random_() % 30 == 0;
  Note(operation);
  s = db_->Write(options, &batch);
  if (s.ok()) {
    acknowledged_ = ops_.size();
    durable_ = options.sync ? ops_.size() : durable_;
    if (options.sync) {
      for (const auto& transaction : open_) {
        must_be_prepared_.insert(transaction->GetName());
        was_prepared_.insert(transaction->GetName());
      }
    }
  }
  return s;
}

// All that was written before must be there if this is.
Status KindsTest::Ingest() {
  Status s = db_->FlushWAL(/*sync=*/true);
  if (!s.ok()) {
    return s;
  }
  Durable();
  Operation operation{{'P', 0, kMarker, std::to_string(++number_)}};
  const std::string first = "i" + std::to_string(number_ % 50) + "-";
  for (int i = 0; i < 60; i++) {
    operation.push_back({'P', 0, first + std::to_string(1000 + i), ValueOf(200)});
  }
  const std::string path = folder_ + "/external" + std::to_string(number_);
  SstFileWriter writer(EnvOptions(), MakeOptions());
  s = writer.Open(path);
  for (auto step = operation.begin(); s.ok() && step != operation.end(); ++step) {
    s = writer.Put(step->key, step->value);
  }
  s = s.ok() ? writer.Finish() : s;
  if (!s.ok()) {
    return s;
  }
  IngestExternalFileOptions how;
  how.move_files = random_() % 2 == 0;
  how.write_global_seqno = random_() % 2 == 0;
  Note(operation);
  s = db_->IngestExternalFile({path}, how);
  if (s.ok()) {
    Durable();
    acknowledged_ = durable_;
  }
  return s;
}

// Prepares a transaction, or has an older one committed or rolled back.
Status KindsTest::Transact() {
  if (open_.size() < 3 && random_() % 2 == 0) {
    const std::string name = "t" + std::to_string(++number_);
    std::unique_ptr<Transaction> transaction(transactions_->BeginTransaction(WriteOptions()));
    Status s = transaction->SetName(name);
    Operation operation;
    for (uint64_t i = 0; s.ok() && i < 2 + random_() % 5; i++) {
      operation.push_back({'P', random_() % kind_.families,
                           "x" + name + "-" + std::to_string(i / 2), ValueOf(200)});
      const Step& step = operation.back();
      s = transaction->Put(handles_[step.family], step.key, step.value);
    }
    operation.push_back({'P', 0, "!" + name, name});
    s = s.ok() ? transaction->Put(operation.back().key, name) : s;
    prepared_[name] = operation;
    s = s.ok() ? transaction->Prepare() : s;
    if (s.ok()) {
      open_.push_back(std::move(transaction));
    } else {
      // A transaction of WriteUnprepared that was only begun is rolled back as it goes, and RocksDB
      // asserts that this succeeds.
      transaction->SetState(Transaction::PREPARED);
    }
    return s;
  }
  if (open_.empty()) {
    return Status::OK();
  }
  std::swap(open_[random_() % open_.size()], open_.back());
  const std::unique_ptr<Transaction> transaction = std::move(open_.back());
  open_.pop_back();
  must_be_prepared_.erase(transaction->GetName());
  if (random_() % 4 == 0) {
    was_prepared_.erase(transaction->GetName());  // as soon as a part of it is durable
    return transaction->Rollback();
  }
  Note(prepared_[transaction->GetName()]);
  Status s = transaction->Commit();
  acknowledged_ = s.ok() ? ops_.size() : acknowledged_;
  return s;
}

Status KindsTest::FlushAll() {
  Status s = db_->Flush(FlushOptions(), handles_);
  if (s.ok()) {
    Durable();
  }
  return s;
}

void KindsTest::Work() {
  while (!power_->failed() && !HasFailure()) {
    const uint64_t what = random_() % 1000;
    Status s;
    if (what == 0) {
      s = FlushAll();
    } else if (what == 1) {
      CompactRangeOptions options;
      options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
      s = db_->CompactRange(options, handles_[random_() % handles_.size()], nullptr, nullptr);
    } else if (what == 2) {
      s = WaitForMoves(fs_.get());
    } else if (what < 6 && kind_.wal) {
      s = db_->FlushWAL(/*sync=*/true);
      durable_ = s.ok() ? ops_.size() : durable_;
    } else if (what < 20 && kind_.ingests) {
      s = Ingest();
    } else if (what < 120 && kind_.policy) {
      s = Transact();
    } else {
      s = Write(NewOperation());
    }
    if (!s.ok()) {
      ASSERT_TRUE(power_->failed()) << what << ": " << s.ToString();
    }
  }
}

State KindsTest::Read() {
  State state(kind_.families);
  ReadOptions options;
  std::string most(8, '\xff');
  const Slice stamp(most);
  options.timestamp = kind_.timestamps ? &stamp : nullptr;
  for (size_t i = 0; i < state.size(); i++) {
    std::unique_ptr<Iterator> it(db_->NewIterator(options, handles_[i]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      state[i][it->key().ToString()] = it->value().ToString();
      if (it->key()[0] == 'e') {
        const WideColumns& columns = it->columns();
        EXPECT_EQ(columns.size(), 2u);
        const std::string value = it->value().ToString();
        EXPECT_EQ(columns.back().value().ToString(), std::string(value.rbegin(), value.rend()));
      }
    }
    EXPECT_OK(it->status());
    size_t asked = 0;
    for (const auto& [key, value] : state[i]) {
      std::string got;
      if (asked++ % 7 == 0) {
        EXPECT_OK(db_->Get(options, handles_[i], key, &got));
        EXPECT_EQ(got, value);
      }
    }
  }
  return state;
}

// After a power failure RocksDB may leave there what a transaction of WriteUnprepared had written
// that was not prepared yet, without this plugin too, or was being rolled back.
State KindsTest::WithoutUnprepared(const State& found, const State& expected) const {
  State result = found;
  for (Family& family : result) {
    for (auto it = family.begin(); kind_.policy == WRITE_UNPREPARED && it != family.end();) {
      const std::string name = TransactionOf(it->first);
      const bool is_left =
          !name.empty() && expected[0].count("!" + name) == 0 && was_prepared_.count(name) == 0;
      it = is_left ? family.erase(it) : std::next(it);
    }
  }
  return result;
}

void KindsTest::Verify() {
  State found = Read();
  const auto marker = [](const State& state) {
    const auto it = state[0].find(kMarker);
    return it == state[0].end() ? std::string() : it->second;
  };
  State state = base_;
  std::optional<size_t> count;
  std::string nearest;
  for (size_t i = 0; i <= ops_.size() && !count; i++) {
    if (i > 0) {
      Apply(ops_[i - 1], &state);
    }
    if (marker(state) != marker(found)) {
      continue;
    }
    State rest = WithoutUnprepared(found, state);
    nearest += " " + std::to_string(i) + (state == rest ? "" : Difference(state, rest));
    if (i >= durable_ && state == rest) {
      count = i;
      found = std::move(rest);
    }
  }
  ASSERT_TRUE(count.has_value()) << "after none of " << ops_.size() << " operations, " << durable_
                                 << " of them durable; the last one that is there: "
                                 << marker(found) << "; nearest:" << nearest;
  ops_.clear();
  base_ = now_ = found;
  durable_ = acknowledged_ = 0;
}

void KindsTest::VerifyTables() {
  ASSERT_OK(db_->VerifyChecksum());
  ASSERT_OK(db_->VerifyFileChecksums(ReadOptions()));
}

// Transactions that were prepared are so still, if they were durable; each comes to an end now.
void KindsTest::Resolve() {
  if (transactions_ == nullptr) {
    return;
  }
  std::vector<Transaction*> all;
  transactions_->GetAllPreparedTransactions(&all);
  std::set<std::string> there;
  for (Transaction* raw : all) {
    const std::unique_ptr<Transaction> transaction(raw);
    const std::string name = transaction->GetName();
    there.insert(name);
    was_prepared_.insert(name);
    ASSERT_EQ(prepared_.count(name), 1u) << name;
    if (random_() % 2 == 0) {
      Note(prepared_[name]);
      ASSERT_OK(transaction->Commit());
    } else {
      ASSERT_OK(transaction->Rollback());
    }
  }
  for (const std::string& name : must_be_prepared_) {
    EXPECT_EQ(there.count(name), 1u) << name;
  }
  must_be_prepared_.clear();
  Durable();
}

void KindsTest::DropOne() {
  if (kind_.families < 2) {
    return;
  }
  ASSERT_OK(db_->DropColumnFamily(handles_.back()));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(handles_.back()));
  handles_.pop_back();
  names_.back() = "again" + std::to_string(++number_);
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(MakeOptions(), names_.back(), &handle));
  handles_.push_back(handle);
  base_.back().clear();
  now_.back().clear();
}

void KindsTest::LoseMemory() {
  const std::filesystem::path memory = TierPath("memory");
  if (random_() % 2 == 0) {
    std::filesystem::remove_all(memory);
  }
  if (!std::filesystem::exists(memory)) {
    return;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(memory)) {
    const uint64_t what = random_() % 4;
    if (entry.is_regular_file() && what == 0) {
      std::filesystem::remove(entry.path());
    } else if (entry.is_regular_file() && what == 1) {
      std::filesystem::resize_file(entry.path(), random_() % (entry.file_size() + 1));
    }
  }
}

TEST_P(KindsTest, IsWhatItWas) {
  random_.seed(Seed());
  uint64_t rebuilt = 0;
  uint64_t references = 0;
  uint64_t written = 0;
  // RocksDB keeps a log in which a transaction is prepared when it has recovered it, does not sync
  // it, and does not open a database with SSTs that are ahead of a torn log: with transactions no
  // power failure follows a kill, and none tears a record.
  const bool is_only_killed = kind_.policy && random_() % 4 == 0;
  // It rolls a transaction of WriteUnprepared back in several writes, and the first one that is
  // durable ends it.
  const bool fails_opening = !is_only_killed && kind_.policy != WRITE_UNPREPARED;
  const int rounds = Rounds(2);
  const auto goes_on = [&](int round) {
    const bool seen = !kind_.rebuilds || (rebuilt > 0 && references > 0);
    return round < rounds || (!seen && round < rounds + kMoreRounds);
  };
  for (int round = 0; goes_on(round); round++) {
    SCOPED_TRACE(round);
    Mount();
    ASSERT_OK(OpenAll(/*create=*/round == 0));
    if (round == 0 && !kind_.wal) {
      ASSERT_OK(FlushAll());
    }
    power_->FailAfter(300 + random_() % 3000);
    Work();
    ASSERT_FALSE(HasFailure());
    TieredStats stats;
    ASSERT_OK(GetTieredStats(fs_.get(), &stats));
    references += stats.in_memory.references;
    written += ops_.size();
    Mount();
    const bool killed = kind_.policy ? is_only_killed : random_() % 4 == 0;
    if (killed) {
      power_->Restart();
      durable_ = kind_.wal && kind_.flushed ? std::max(durable_, acknowledged_) : durable_;
    } else {
      power_->Fail(&random_, kind_.policy || random_() % 2 == 0);
    }
    LoseMemory();
    // Again, while it is opened. Not with manual_wal_flush: if the first write to the new log fails
    // there, RocksDB waits for ever. DB::Open() holds the mutex that WALIOStatusCheck() takes,
    // which FlushWAL() calls. StockOpening is the control.
    if (fails_opening && kind_.flushed && random_() % 3 == 0) {
      power_->FailAfter(1 + random_() % 150);
      OpenAll(/*create=*/false).PermitUncheckedError();
      power_->FailAfter(0);
      Mount();
      power_->Fail(&random_, kind_.policy || random_() % 2 == 0);
      LoseMemory();
      // What was not durable may have become so, but nothing that was acknowledged counts for that.
      durable_ = killed ? 0 : durable_;
    }
    ASSERT_OK(OpenAll(/*create=*/false));
    ASSERT_OK(GetTieredStats(fs_.get(), &stats));
    rebuilt += stats.in_memory.rebuilt_files;
    Verify();
    ASSERT_FALSE(HasFailure());
    Resolve();
    Verify();
    DropOne();
    ASSERT_FALSE(HasFailure());
    ASSERT_OK(db_->Flush(FlushOptions(), handles_));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    VerifyTables();
    Verify();
    ASSERT_FALSE(HasFailure());
  }
  printf("%llu operations, %llu entries by reference, %llu SSTs rebuilt\n",
         static_cast<unsigned long long>(written), static_cast<unsigned long long>(references),
         static_cast<unsigned long long>(rebuilt));
  EXPECT_TRUE(!kind_.rebuilds || references > 0) << "no recipe refers to a log";
  EXPECT_TRUE(!kind_.rebuilds || rebuilt > 0) << "no SST was rebuilt";
}

void SetTable(Options* options, const BlockBasedTableOptions& table) {
  options->table_factory.reset(NewBlockBasedTableFactory(table));
}

std::vector<Kind> Kinds() {
  std::vector<Kind> kinds;
  const auto add = [&](const char* name, std::function<void(Options*)> set = nullptr) -> Kind& {
    kinds.emplace_back();
    kinds.back().name = name;
    kinds.back().set = std::move(set);
    return kinds.back();
  };
  add("Plain");
  add("AllInMemory").placement = "0..=memory";
  add("AllButTheLast").placement = "0..last-1=memory";
  add("Merge").steps = "PPMMMD";
  add("DeleteRange").steps = "PPPPPPR";
  add("SingleDelete").steps = "PPSSS";
  add("Entity").steps = "PPEEED";
  add("WriteCommitted").policy = WRITE_COMMITTED;
  add("WritePrepared").policy = WRITE_PREPARED;
  add("WriteUnprepared").policy = WRITE_UNPREPARED;
  Kind* kind = &add("TransactionsOfFamilies");
  kind->policy = WRITE_COMMITTED;
  kind->families = 3;
  kind = &add("DisableWal");
  kind->wal = kind->rebuilds = false;
  kind = &add("AtomicFlush", [](Options* options) { options->atomic_flush = true; });
  kind->families = 3;
  kind = &add("AtomicFlushDisableWal", [](Options* options) { options->atomic_flush = true; });
  kind->families = 3;
  kind->wal = kind->rebuilds = false;
  add("Families").families = 4;
  add("WalElsewhere", [](Options* options) { options->wal_dir = "elsewhere"; });
  add("WalCompression", [](Options* options) { options->wal_compression = kZSTD; });
  add("RecycledLogs", [](Options* options) { options->recycle_log_file_num = 2; });
  add("ManualWalFlush", [](Options* options) { options->manual_wal_flush = true; }).flushed = false;
  kind = &add("ManualWalFlushTransactions",
              [](Options* options) { options->manual_wal_flush = true; });
  kind->flushed = false;
  kind->policy = WRITE_COMMITTED;
  add("TwoWriteQueues", [](Options* options) { options->two_write_queues = true; }).syncs = false;
  add("PipelinedWrite", [](Options* options) { options->enable_pipelined_write = true; });
  add("UnorderedWrite", [](Options* options) { options->unordered_write = true; });
  add("Blobs", [](Options* options) {
    options->enable_blob_files = true;
    options->min_blob_size = 150;
    options->enable_blob_garbage_collection = true;
  });
  add("Ingestion").ingests = true;
  kind = &add("IngestionAllInMemory");
  kind->ingests = true;
  kind->placement = "0..=memory";
  kind = &add("Timestamps",
              [](Options* options) { options->comparator = BytewiseComparatorWithU64Ts(); });
  kind->timestamps = true;
  kind = &add("TimestampsNotPersisted", [](Options* options) {
    options->comparator = BytewiseComparatorWithU64Ts();
    options->persist_user_defined_timestamps = false;
    options->allow_concurrent_memtable_write = false;
  });
  kind->timestamps = true;
  kind->rebuilds = false;  // keys in SSTs are not those of the log
  add("HashIndex", [](Options* options) {
    BlockBasedTableOptions table;
    table.index_type = BlockBasedTableOptions::kHashSearch;
    table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
    SetTable(options, table);
    options->prefix_extractor.reset(NewCappedPrefixTransform(4));
  });
  add("PartitionedIndex", [](Options* options) {
    BlockBasedTableOptions table;
    table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.metadata_block_size = 512;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    SetTable(options, table);
  });
  add("BlockAlign", [](Options* options) {
    BlockBasedTableOptions table;
    table.block_align = true;
    SetTable(options, table);
  });
  add("AvoidFlushDuringRecovery",
      [](Options* options) { options->avoid_flush_during_recovery = true; });
  add("WalTtl", [](Options* options) { options->WAL_ttl_seconds = 1; });
  add("Trash");
  add("Subcompactions", [](Options* options) {
    options->max_subcompactions = 4;
    options->max_background_jobs = 4;
  });
  add("DirectIo", [](Options* options) {
    options->use_direct_io_for_flush_and_compaction = true;
    options->use_direct_reads = true;
  });
  add("MmapReads", [](Options* options) { options->allow_mmap_reads = true; });
  add("MmapWrites", [](Options* options) { options->allow_mmap_writes = true; });
  add("TieredLogs").placement = "0..1=memory;2..=slow;wal=slow;meta=slow";
  kind = &add("CompressedLogs");
  kind->tiered = [](TieredOptions* options) { options->wal_compression = "zstd"; };
  kind = &add("DynamicLevels",
              [](Options* options) { options->level_compaction_dynamic_level_bytes = true; });
  kind->placement = "0..last-1=memory";
  add("Universal", [](Options* options) { options->compaction_style = kCompactionStyleUniversal; });
  return kinds;
}

std::string NameOf(const ::testing::TestParamInfo<Kind>& info) { return info.param.name; }

INSTANTIATE_TEST_CASE_P(All, KindsTest, ::testing::ValuesIn(Kinds()), NameOf);

}  // namespace

}  // namespace rocktier
