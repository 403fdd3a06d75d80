// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Random changes, reads, snapshots, flushes, compactions, ingestions, reopens and checkpoints
// against a model, with collection at work. ROCKTIER_SEED: another seed; ROCKTIER_ROUNDS: more
// operations.

#include "util/random.h"

#include <bitset>
#include <map>

#include "file/file_util.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/write_batch.h"
#include "test/blob_hybrid/support.h"
#include "utilities/merge_operators.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 600;
// Keys from here on get single deletions: they are written once between two of them, and never
// merged.
constexpr int kOnce = 500;

// What a database has: bits of the parameter.
enum Kind : int {
  kCompressed = 1,
  kStaticLevels = 2,
  kNoBound = 4,  // collection by compactions alone
  kMedium = 8,
  kUniversal = 16,
  // Range deletions, else merges: with both and snapshots Get() of RocksDB 9.10 is wrong where
  // versions of a key are in two SSTs of a level (StockRanges).
  kRanges = 32,
  kNoCollection = 64,
  kUserFilter = 128,
};

std::vector<int> Kinds() {
  std::vector<int> kinds;
  for (int kind = 0; kind < 20; kind++) {
    // Each of the others with ranges and with merges.
    kinds.push_back(std::bitset<8>(static_cast<unsigned>(kind)).count() % 2 == 0 ? kind | kRanges
                                                                                 : kind);
  }
  for (const int kind : {0, kMedium | kRanges, kMedium | kCompressed, kUniversal | kRanges}) {
    kinds.push_back(kNoCollection | kNoBound | kind);
  }
  for (const int kind : {0, kMedium | kRanges, kNoBound | kCompressed | kRanges,
                         kMedium | kNoBound | kStaticLevels, kUniversal | kNoBound}) {
    kinds.push_back(kUserFilter | kind);
  }
  return kinds;
}

// A plain value, or an entity of two columns.
struct Record {
  std::string value;  // of the default column
  std::string wide;   // of the column "wide"; empty: there is none

  WideColumns columns() const {
    WideColumns result{{kDefaultWideColumnName, value}};
    if (!wide.empty()) {
      result.emplace_back("wide", wide);
    }
    return result;
  }
};

using Model = std::map<std::string, Record>;

// A filter that decides by the key. It does the same whenever it is asked, so that only the time of
// it is not known.
class EverySeventh : public CompactionFilter {
 public:
  const char* Name() const override { return "EverySeventh"; }

  static bool Removes(const Slice& key) { return Number(key) < kOnce && Number(key) % 7 == 3; }
  static bool Changes(const Slice& key) { return Number(key) < kOnce && Number(key) % 7 == 5; }
  // Of another size, and once.
  static std::string Changed(const std::string& value) {
    return value[0] == '!' ? value : "!" + value.substr(0, value.size() / 2);
  }

  Decision FilterV2(int /*level*/, const Slice& key, ValueType type, const Slice& value,
                    std::string* new_value, std::string* /*skip_until*/) const override {
    if (type != ValueType::kValue) {
      return Decision::kKeep;
    }
    *new_value = Changed(value.ToString());
    return Removes(key)                          ? Decision::kRemove
           : Changes(key) && *new_value != value ? Decision::kChangeValue
                                                 : Decision::kKeep;
  }

 private:
  static int Number(const Slice& key) { return atoi(key.ToString().c_str() + 3); }
};

class RandomTest : public HybridDb, public testing::WithParamInterface<int> {
 protected:
  RandomTest() : random_(SeedOfKind()) {
    options_.disable_auto_compactions = false;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    options_.write_buffer_size = 32 << 10;
    options_.target_file_size_base = 8 << 10;
    options_.max_bytes_for_level_base = 16 << 10;
    options_.max_bytes_for_level_multiplier = 3;
    options_.level0_file_num_compaction_trigger = 2;
    options_.blob_file_size = 64 << 10;
    options_.min_blob_size = 100;
    options_.max_subcompactions = 2;
    options_.max_background_jobs = 3;
    hybrid_.gc_garbage_ratio = Has(kNoCollection) ? 1 : 0.2;
    hybrid_.max_space_amplification = HasJob() ? 1.3 : 0;
    hybrid_.space_floor = 32 << 10;
    hybrid_.gc_bytes_per_second = 0;
    if (!HasJob()) {
      hybrid_.transient_log_budget = 0;
    }
    UseKind();
  }

  ~RandomTest() override { Close(); }  // before the filter goes

  uint32_t SeedOfKind() const {
    const uint32_t seed = Seed() + static_cast<uint32_t>(GetParam());
    printf("kind: %d, seed: %u\n", GetParam(), seed);
    return seed;
  }

  bool Has(Kind kind) const { return (GetParam() & kind) != 0; }
  bool HasJob() const { return !Has(kNoBound) && !Has(kUniversal); }

  void UseKind() {
    if (Has(kCompressed)) {
      options_.blob_compression_type = kLZ4Compression;
      options_.compression = kLZ4Compression;
    } else if (Has(kMedium)) {
      options_.compression = kNoCompression;
      BlockBasedTableOptions tables;
      tables.block_align = true;
      options_.table_factory.reset(NewBlockBasedTableFactory(tables));
    }
    if (Has(kStaticLevels)) {
      options_.level_compaction_dynamic_level_bytes = false;
      hybrid_.readahead_size = 0;
    }
    if (Has(kMedium)) {
      hybrid_.medium_value_size = 100;
      options_.min_blob_size = 400;
      hybrid_.merge_level = Has(kCompressed) ? MergeLevel::kLastButOne : MergeLevel::kLast;
    }
    if (Has(kUniversal)) {
      options_.compaction_style = kCompactionStyleUniversal;
      // With subcompactions RocksDB 9.10 itself loses range deletions at times.
      options_.max_subcompactions = Has(kRanges) ? 1 : 2;
    }
    if (Has(kUserFilter)) {
      hybrid_.user_filter = &filter_;
    }
  }

  std::string AnyValue() {
    const size_t sizes[] = {10, 90, 110, 200, 390, 500, 3000};
    std::string value = std::to_string(count_++) + ":";
    const size_t bytes = sizes[random_.Uniform(7)] + random_.Uniform(20);
    while (value.size() < bytes) {
      value += static_cast<char>('a' + random_.Uniform(26));
    }
    return value;
  }
  int AnyKey() { return random_.OneIn(2) ? random_.Uniform(kOnce) : random_.Uniform(kOnce / 20); }

  // What the filter may have done by now.
  bool MayVanish(const std::string& key) const {
    return Has(kUserFilter) && EverySeventh::Removes(key);
  }
  bool MayChange(const std::string& key) const {
    return Has(kUserFilter) && EverySeventh::Changes(key);
  }

  template <typename Writer>
  void PutAny(Writer* writer, Model* model, const std::string& key) {
    Record record{AnyValue(), ""};
    if (random_.OneIn(6) && !MayVanish(key) && !MayChange(key)) {
      record.wide = AnyValue();
      ASSERT_OK(PutEntity(writer, key, record.columns()));
    } else {
      ASSERT_OK(writer->Put(key, record.value));
    }
    (*model)[key] = record;
  }
  Status PutEntity(WriteBatch* batch, const std::string& key, const WideColumns& columns) {
    return batch->PutEntity(db_->DefaultColumnFamily(), key, columns);
  }
  static Status PutEntity(SstFileWriter* writer, const std::string& key,
                          const WideColumns& columns) {
    return writer->PutEntity(key, columns);
  }

  template <typename Writer>
  void DeleteAnyRange(Writer* writer, Model* model) {
    const int from = AnyKey();
    const int to = std::min(kOnce, from + 1 + static_cast<int>(random_.Uniform(20)));
    ASSERT_OK(writer->DeleteRange(KeyOf(from), KeyOf(to)));
    model->erase(model->lower_bound(KeyOf(from)), model->lower_bound(KeyOf(to)));
  }

  void WriteOnce(WriteBatch* batch, Model* model) {
    const std::string key = KeyOf(kOnce + static_cast<int>(random_.Uniform(kKeys - kOnce)));
    if (model->erase(key) > 0) {
      ASSERT_OK(batch->SingleDelete(key));
    } else {
      (*model)[key] = {AnyValue(), ""};
      ASSERT_OK(batch->Put(key, (*model)[key].value));
    }
  }

  void MergeOne(WriteBatch* batch, Model* model, const std::string& key) {
    const std::string operand = AnyValue();
    ASSERT_OK(batch->Merge(key, operand));
    const auto [it, inserted] = model->emplace(key, Record{operand, ""});
    if (!inserted) {
      it->second.value += "," + operand;
    }
  }

  void WriteOne(WriteBatch* batch, Model* model) {
    if (random_.OneIn(8)) {
      WriteOnce(batch, model);
      return;
    }
    const std::string key = KeyOf(AnyKey());
    const uint32_t which = random_.Uniform(20);
    if (which == 0 && Has(kRanges)) {
      DeleteAnyRange(batch, model);
    } else if (which == 1 || which == 2) {
      ASSERT_OK(batch->Delete(key));
      model->erase(key);
    } else if ((which == 3 || which == 4) && !Has(kRanges) && !MayVanish(key) && !MayChange(key)) {
      MergeOne(batch, model, key);
    } else {
      PutAny(batch, model, key);
    }
  }

  void Write() {
    WriteBatch batch;
    const int count = random_.OneIn(4) ? 1 + static_cast<int>(random_.Uniform(10)) : 1;
    for (int i = 0; i < count; i++) {
      WriteOne(&batch, &model_);
    }
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
  }

  // An SST with or without what BlobHybridTable tells of it: values and deletions, or a range
  // deletion.
  void Ingest() {
    const std::string file = root_ + "/ingested.sst";
    const Options options = random_.OneIn(2) ? options_ : db_->GetOptions();
    SstFileWriter writer(EnvOptions(), options);
    ASSERT_OK(writer.Open(file));
    if (Has(kRanges) && random_.OneIn(4)) {
      DeleteAnyRange(&writer, &model_);
    } else {
      int i = AnyKey();
      for (int n = 0; n < 20 && i < kOnce; n++, i += 1 + static_cast<int>(random_.Uniform(10))) {
        if (random_.OneIn(8)) {
          ASSERT_OK(writer.Delete(KeyOf(i)));
          model_.erase(KeyOf(i));
        } else {
          PutAny(&writer, &model_, KeyOf(i));
        }
      }
    }
    ASSERT_OK(writer.Finish());
    IngestExternalFileOptions ingest;
    ingest.move_files = random_.OneIn(2);
    ASSERT_OK(db_->IngestExternalFile({file}, ingest));
    ASSERT_OK(DeleteIfThere(file));
  }
  static Status DeleteIfThere(const std::string& file) {
    const Status s = Env::Default()->DeleteFile(file);
    return s.IsNotFound() || s.IsPathNotFound() ? Status::OK() : s;
  }

  void ExpectColumns(const std::string& key, const Record& record,
                     const WideColumns& columns) const {
    if (MayChange(key) && columns.front().value() != record.value) {
      const Record changed{EverySeventh::Changed(record.value), ""};
      ASSERT_EQ(changed.columns(), columns) << key;
    } else {
      ASSERT_EQ(record.columns(), columns) << key;
    }
  }
  void ExpectFound(const Model& model, const std::string& key, const WideColumns& columns) const {
    const auto it = model.find(key);
    ASSERT_TRUE(it != model.end()) << key;
    ExpectColumns(key, it->second, columns);
  }
  // What a read of a key returned. `columns`: if it is OK.
  void ExpectAnswer(const Model& model, const std::string& key, const Status& s,
                    const WideColumns& columns) const {
    if (s.IsNotFound()) {
      ASSERT_TRUE(model.count(key) == 0 || MayVanish(key)) << key;
    } else {
      ASSERT_OK(s);
      ExpectFound(model, key, columns);
    }
  }
  // As Get() returns it: the default column.
  void ExpectValue(const Model& model, const std::string& key, const Status& s,
                   const std::string& value) const {
    const auto it = model.find(key);
    const Record record{value, it == model.end() ? "" : it->second.wide};
    ExpectAnswer(model, key, s, record.columns());
  }

  void ReadSome(const Model& model, const ReadOptions& at) {
    std::vector<std::string> keys;
    for (int i = 0; i < 10; i++) {
      keys.push_back(KeyOf(static_cast<int>(random_.Uniform(kKeys))));
      std::string value;
      const Status s = db_->Get(at, keys.back(), &value);
      ExpectValue(model, keys.back(), s, value);
      PinnableWideColumns columns;
      const Status entity = db_->GetEntity(at, db_->DefaultColumnFamily(), keys.back(), &columns);
      ExpectAnswer(model, keys.back(), entity, columns.columns());
    }
    ReadMany(model, at, keys);
  }

  void ReadMany(const Model& model, const ReadOptions& at, const std::vector<std::string>& keys) {
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> values;
    std::vector<Status> statuses = db_->MultiGet(at, slices, &values);
    for (size_t i = 0; i < keys.size(); i++) {
      ExpectValue(model, keys[i], statuses[i], values[i]);
    }
    std::vector<PinnableWideColumns> columns(keys.size());
    db_->MultiGetEntity(at, db_->DefaultColumnFamily(), keys.size(), slices.data(), columns.data(),
                        statuses.data());
    for (size_t i = 0; i < keys.size(); i++) {
      ExpectAnswer(model, keys[i], statuses[i], columns[i].columns());
    }
  }

  // The iterator is where the model is, or behind keys that the filter has removed. Either
  // direction.
  template <typename Position>
  void ExpectAt(const Iterator& it, Position expected, Position end) const {
    while (expected != end && MayVanish(expected->first) &&
           !(it.Valid() && it.key() == expected->first)) {
      ++expected;
    }
    ASSERT_OK(it.status());
    ASSERT_EQ(it.Valid(), expected != end) << (it.Valid() ? it.key().ToString() : expected->first);
    if (it.Valid()) {
      ASSERT_EQ(expected->first, it.key().ToString());
      ASSERT_EQ(it.value(), it.columns().front().value());
      ExpectColumns(expected->first, expected->second, it.columns());
    }
  }
  void ExpectForwards(const Iterator& it, const Model& model, Model::const_iterator from) const {
    ExpectAt(it, from, model.end());
  }
  // `from`: the position behind the first one that it may be at.
  void ExpectBackwards(const Iterator& it, const Model& model, Model::const_iterator from) const {
    ExpectAt(it, std::make_reverse_iterator(from), model.rend());
  }

  // From a random key on, forwards or backwards, and it may turn.
  void Scan(DB* db, const Model& model, const ReadOptions& at, int most) {
    const std::string from = KeyOf(static_cast<int>(random_.Uniform(kKeys)));
    const std::unique_ptr<Iterator> it(db->NewIterator(at));
    bool forwards = random_.OneIn(2);
    const int turns = random_.OneIn(2) ? 4 : 1000;
    if (forwards) {
      it->Seek(from);
      ExpectForwards(*it, model, model.lower_bound(from));
    } else {
      it->SeekForPrev(from);
      ExpectBackwards(*it, model, model.upper_bound(from));
    }
    for (int n = 0; n < most && it->Valid() && !HasFailure(); n++) {
      forwards = random_.OneIn(turns) ? !forwards : forwards;
      const std::string key = it->key().ToString();
      if (forwards) {
        it->Next();
        ExpectForwards(*it, model, model.upper_bound(key));
      } else {
        it->Prev();
        ExpectBackwards(*it, model, model.lower_bound(key));
      }
    }
  }

  void CheckAll(DB* db, const Model& model, const ReadOptions& at = ReadOptions()) const {
    const std::unique_ptr<Iterator> it(db->NewIterator(at));
    it->SeekToFirst();
    ExpectForwards(*it, model, model.begin());
    while (it->Valid() && !HasFailure()) {
      const std::string key = it->key().ToString();
      it->Next();
      ExpectForwards(*it, model, model.upper_bound(key));
    }
  }

  // Lets the filter see everything, and does the same to the model.
  void FilterAll() {
    Compact(db_.get());
    for (auto it = model_.begin(); it != model_.end();) {
      if (MayChange(it->first)) {
        it->second.value = EverySeventh::Changed(it->second.value);
      }
      it = MayVanish(it->first) ? model_.erase(it) : std::next(it);
    }
    CheckAll(db_.get(), model_);
  }

  void TakeOrRelease() {
    if (!snapshots_.empty() && random_.OneIn(2)) {
      const auto it =
          std::next(snapshots_.begin(), random_.Uniform(static_cast<int>(snapshots_.size())));
      ReadOptions at;
      at.snapshot = it->first;
      CheckAll(db_.get(), it->second, at);
      db_->ReleaseSnapshot(it->first);
      snapshots_.erase(it);
    } else if (snapshots_.size() < 4) {
      snapshots_[db_->GetSnapshot()] = model_;
    }
  }

  void CompactSome() {
    const std::string begin = KeyOf(random_.Uniform(kKeys));
    const std::string end = KeyOf(random_.Uniform(kKeys));
    const Slice from(std::min(begin, end));
    const Slice to(std::max(begin, end));
    CompactRangeOptions options;
    options.bottommost_level_compaction = random_.OneIn(2)
                                              ? BottommostLevelCompaction::kForce
                                              : BottommostLevelCompaction::kIfHaveCompactionFilter;
    ASSERT_OK(db_->CompactRange(options, &from, &to));
  }

  // One file of a random level to the next one, or where it is.
  void CompactOneFile() {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    std::vector<std::pair<int, std::string>> files;
    for (const LevelMetaData& level : meta.levels) {
      for (const SstFileMetaData& file : level.files) {
        files.emplace_back(level.level, file.name);
      }
    }
    if (files.empty()) {
      return;
    }
    const auto& [level, name] = files[random_.Uniform(static_cast<int>(files.size()))];
    const int last = static_cast<int>(meta.levels.size()) - 1;
    const int to = std::max(1, std::min(last, level + static_cast<int>(random_.Uniform(2))));
    const Status s = db_->CompactFiles(CompactionOptions(), {name}, to);
    // The file may be in another compaction, or gone.
    ASSERT_TRUE(s.ok() || s.IsAborted() || s.IsInvalidArgument()) << s.ToString();
    compacted_ += s.ok() ? 1 : 0;
  }

  void Reopen() {
    for (const auto& [snapshot, model] : snapshots_) {
      ReadOptions at;
      at.snapshot = snapshot;
      CheckAll(db_.get(), model, at);
      db_->ReleaseSnapshot(snapshot);
    }
    snapshots_.clear();
    AddStats();
    Close();
    Open();
    CheckAll(db_.get(), model_);
  }

  void CheckCheckpoint() {
    const std::string path = root_ + "/copy";
    ASSERT_OK(DestroyDir(Env::Default(), path));
    Checkpoint* raw = nullptr;
    ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
    const std::unique_ptr<Checkpoint> checkpoint(raw);
    ASSERT_OK(checkpoint->CreateCheckpoint(path));
    std::unique_ptr<DB> copy;
    ASSERT_OK(OpenDb(options_, path, &copy));
    ASSERT_OK(copy->VerifyChecksum());
    CheckAll(copy.get(), model_);
    Compact(copy.get());
    CheckAll(copy.get(), model_);
  }

  static void Compact(DB* db) {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db->CompactRange(options, nullptr, nullptr));
  }

  void AddStats() {
    const BlobHybridStats stats = Stats();
    moved_ += stats.moved_values;
    merged_ += stats.merged_values;
    jobs_ += stats.jobs;
    EXPECT_EQ(0u, stats.read_errors);
    EXPECT_EQ(0u, stats.job_errors);
  }

  void DoOne() {
    const int dice = static_cast<int>(random_.Uniform(1000));
    if (dice < 800) {
      Write();
    } else if (dice < 900) {
      ReadSome(model_, ReadOptions());
    } else if (dice < 960) {
      Scan(db_.get(), model_, ReadOptions(), 50);
    } else if (dice < 975) {
      TakeOrRelease();
    } else if (dice < 982) {
      Flush();
    } else if (dice < 988) {
      CompactOneFile();
    } else if (dice < 991) {
      CompactSome();
    } else if (dice < 992) {
      Reopen();
    } else if (dice < 994) {
      Ingest();
    } else if (!snapshots_.empty()) {
      ReadOptions at;
      at.snapshot = snapshots_.begin()->first;
      ReadSome(snapshots_.begin()->second, at);
      Scan(db_.get(), snapshots_.begin()->second, at, 50);
    }
  }

  // Returns whether the plugin has done what it does with this kind.
  bool HasWorked() {
    const BlobHybridStats now = Stats();
    return Has(kNoCollection) == (moved_ + now.moved_values == 0) &&
           Has(kMedium) == (merged_ + now.merged_values > 0) &&
           HasJob() == (jobs_ + now.jobs > 0) && compacted_ > 0;
  }

  void ExpectWork() {
    printf("operations: %d, moved values: %d, merged: %d, jobs: %d, single compactions: %d\n",
           operations_, static_cast<int>(moved_), static_cast<int>(merged_),
           static_cast<int>(jobs_), compacted_);
    // Or nothing was tested.
    EXPECT_EQ(!Has(kNoCollection), moved_ > 0);
    EXPECT_EQ(Has(kMedium), merged_ > 0);
    EXPECT_EQ(HasJob(), jobs_ > 0);
    EXPECT_GT(compacted_, 0);
  }

  void DoSome(int operations) {
    for (int i = 0; i < operations && !HasFailure(); i++, operations_++) {
      DoOne();
    }
  }

  const EverySeventh filter_;
  Random random_;
  Model model_;
  std::map<const Snapshot*, Model> snapshots_;
  int count_ = 0;
  int operations_ = 0;
  int compacted_ = 0;
  uint64_t moved_ = 0;
  uint64_t merged_ = 0;
  uint64_t jobs_ = 0;
};

TEST_P(RandomTest, AnswersAreRight) {
  const int operations = rocktier::Rounds(8000);
  Open();
  DoSome(operations);
  // What merges a medium value is a matter of time: the job may have moved it before.
  while (!HasFailure() && !HasWorked() && operations_ < 10 * operations) {
    DoSome(operations);
  }
  CheckCheckpoint();
  Reopen();
  FilterAll();
  AddStats();
  ExpectWork();
  Close();
  OpenWithoutPlugin();
  CheckAll(db_.get(), model_);
}

INSTANTIATE_TEST_CASE_P(Kinds, RandomTest, testing::ValuesIn(Kinds()));

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
