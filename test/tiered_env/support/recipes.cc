// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/tiered_env/support/recipes.h"

#include "rocksdb/transaction_log.h"
#include "test/support/open_db.h"
#include "test_util/testharness.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

// Every entry that consumes a sequence number, of one batch.
class Collector : public WriteBatch::Handler {
 public:
  Collector(SequenceNumber batch, FakeLog* log) : batch_(batch), next_(batch), log_(log) {}

  Status PutCF(uint32_t, const Slice& key, const Slice& value) override {
    return Add(kTypeValue, key, value);
  }
  Status DeleteCF(uint32_t, const Slice& key) override { return Add(kTypeDeletion, key, ""); }
  Status SingleDeleteCF(uint32_t, const Slice& key) override {
    return Add(kTypeSingleDeletion, key, "");
  }
  Status DeleteRangeCF(uint32_t, const Slice& begin, const Slice& end) override {
    return Add(kTypeRangeDeletion, begin, end);
  }
  Status MergeCF(uint32_t, const Slice& key, const Slice& value) override {
    return Add(kTypeMerge, key, value);
  }
  Status PutEntityCF(uint32_t, const Slice& key, const Slice& entity) override {
    return Add(kTypeWideColumnEntity, key, entity);
  }

 private:
  Status Add(ValueType type, const Slice& key, const Slice& value) {
    log_->Add({next_++, batch_, type, key.ToString(), value.ToString()});
    return Status::OK();
  }

  const SequenceNumber batch_;
  SequenceNumber next_;
  FakeLog* const log_;
};

}  // namespace

Entry LoggedEntry::ToEntry() const {
  Entry entry;
  entry.sequence = sequence;
  entry.batch = batch;
  entry.type = type;
  entry.key = key;
  entry.value = value;
  return entry;
}

void FakeLog::Add(LoggedEntry entry) {
  const Entry plain = entry.ToEntry();
  by_fingerprint_.emplace(
      std::make_pair(entry.sequence, FingerprintOf(plain.type, plain.key, plain.value)),
      entries_.size());
  entries_.push_back(std::move(entry));
}

void FakeLog::NumberByBatch() {
  for (size_t i = 0; i < entries_.size(); i += 2) {
    entries_[i].batch = entries_[i].sequence;
    entries_[i].sequence += 12345;
  }
}

void FakeLog::Offer(uint32_t permille, uint64_t seed) {
  permille_ = permille;
  random_.seed(seed);
  taken_.clear();
}

// Ids far apart, which do not ascend.
uint64_t FakeLog::SegmentOf(size_t index) {
  const uint64_t segment = index / kPerSegment;
  return (segment ^ 1) * 1000003 + (uint64_t{1} << 40);
}

size_t FakeLog::IndexOf(const Reference& reference) {
  const uint64_t segment = ((reference.segment - (uint64_t{1} << 40)) / 1000003) ^ 1;
  return segment * kPerSegment + reference.ordinal;
}

bool FakeLog::Take(const Entry& entry, Reference* reference) {
  if (random_() % 1000 >= permille_) {
    return false;
  }
  const auto found = by_fingerprint_.find(
      std::make_pair(entry.sequence, FingerprintOf(entry.type, entry.key, entry.value)));
  if (found == by_fingerprint_.end()) {
    return false;
  }
  reference->segment = SegmentOf(found->second);
  reference->ordinal = static_cast<Ordinal>(found->second % kPerSegment);
  reference->of_batch = entries_[found->second].sequence != entry.sequence;
  taken_.push_back(*reference);
  return true;
}

bool FakeLog::Get(const Reference& reference, Entry* entry) {
  const size_t index = IndexOf(reference);
  if (index >= entries_.size() || SegmentOf(index) != reference.segment ||
      reference.ordinal >= kPerSegment || lost_.count(index) != 0) {
    return false;
  }
  *entry = entries_[index].ToEntry();
  return true;
}

MemoryDb::~MemoryDb() {
  if (db_ != nullptr) {
    EXPECT_OK(db_->Close());
  }
}

Options MemoryDb::BaseOptions() const {
  Options options;
  options.env = env_.get();
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.disable_auto_compactions = true;
  options.write_buffer_size = 256 << 20;
  options.WAL_ttl_seconds = 3600;
  return options;
}

Status MemoryDb::Open(const Options& options) { return OpenDb(options, "/db", &db_); }

void MemoryDb::ReadLog(FakeLog* log) const {
  std::unique_ptr<TransactionLogIterator> iterator;
  ASSERT_OK(db_->GetUpdatesSince(0, &iterator));
  for (; iterator->Valid(); iterator->Next()) {
    const BatchResult result = iterator->GetBatch();
    Collector collector(result.sequence, log);
    ASSERT_OK(result.writeBatchPtr->Iterate(&collector));
  }
  ASSERT_OK(iterator->status());
}

std::vector<Sst> MemoryDb::ReadSsts() const {
  std::vector<Sst> ssts;
  TablePropertiesCollection properties;
  EXPECT_OK(db_->GetPropertiesOfAllTables(&properties));
  for (const auto& table : properties) {
    ssts.emplace_back();
    ssts.back().properties = table.second;
    EXPECT_OK(ReadFileToString(env_.get(), table.first, &ssts.back().bytes));
  }
  return ssts;
}

Status RebuildTo(const std::string& recipe, EntrySource* entries, std::string* result) {
  RecipeSummary summary;
  Status s = DecodeSummary(recipe, &summary);
  if (!s.ok()) {
    return s;
  }
  // A damaged size may be any.
  if (summary.size > (uint64_t{1} << 25)) {
    return Status::Corruption("size");
  }
  // Of exactly this size, for AddressSanitizer.
  std::unique_ptr<char[]> out(new char[summary.size]);
  s = Rebuild(recipe, entries, out.get());
  result->clear();
  if (s.ok()) {
    result->assign(out.get(), summary.size);
  }
  return s;
}

}  // namespace rocktier
