// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/blob_hybrid/model.h"

#include <random>

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kKeys = 1500;

std::string KeyOf(uint64_t key) { return "key" + std::to_string(100000 + key); }

std::string ValueOf(uint64_t n, std::mt19937_64* random) {
  const size_t sizes[] = {10, 90, 120, 700, 700, 700, 3000};
  std::string value = std::to_string(n) + ":";
  const size_t bytes = sizes[(*random)() % 7] + (*random)() % 40;
  while (value.size() < bytes) {
    value += std::to_string((*random)());
  }
  return value;
}

// Half of the changes are to a tenth of the keys.
uint64_t AnyKey(std::mt19937_64* random) {
  return (*random)() % 2 == 0 ? (*random)() % kKeys : (*random)() % (kKeys / 10);
}

// Applies batches to records.
class Replay : public WriteBatch::Handler {
 public:
  explicit Replay(Model::Records* records) : records_(records) {}

  Status PutCF(uint32_t, const Slice& key, const Slice& value) override {
    (*records_)[key.ToString()] = value.ToString();
    return Status::OK();
  }
  Status DeleteCF(uint32_t, const Slice& key) override {
    records_->erase(key.ToString());
    return Status::OK();
  }
  Status DeleteRangeCF(uint32_t, const Slice& begin, const Slice& end) override {
    records_->erase(records_->lower_bound(begin.ToString()), records_->lower_bound(end.ToString()));
    return Status::OK();
  }
  Status MergeCF(uint32_t, const Slice& key, const Slice& value) override {
    const auto [it, inserted] = records_->emplace(key.ToString(), value.ToString());
    if (!inserted) {
      it->second += "," + value.ToString();
    }
    return Status::OK();
  }

 private:
  Model::Records* const records_;
};

}  // namespace

Status MakeChange(uint64_t n, WriteBatch* batch) {
  std::mt19937_64 random(n);
  Status s;
  for (uint64_t count = 1 + random() % 6; s.ok() && count > 0; count--) {
    const uint64_t key = AnyKey(&random);
    const uint64_t kind = random() % 100;
    if (kind == 0) {
      s = batch->DeleteRange(KeyOf(key), KeyOf(key + 1 + random() % 10));
    } else if (kind < 8) {
      s = batch->Delete(KeyOf(key));
    } else if (kind < 14) {
      s = batch->Merge(KeyOf(key), ValueOf(n, &random).substr(0, 100));
    } else {
      s = batch->Put(KeyOf(key), ValueOf(n, &random));
    }
  }
  return s;
}

Status Model::AdvanceTo(uint64_t count) {
  Status s;
  for (; s.ok() && count_ < count; count_++) {
    WriteBatch batch;
    s = MakeChange(count_, &batch);
    if (s.ok()) {
      Replay replay(&records_);
      s = batch.Iterate(&replay);
    }
  }
  return s;
}

}  // namespace rocktier
