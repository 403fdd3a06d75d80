// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/tiered_env/model.h"

#include <cstdio>
#include <random>

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

const char* const kCountKey = "count";
const char* const kFamilyName = "other";

namespace {

constexpr uint64_t kKeys = 6000;
constexpr uint64_t kSingleLife = 3000;  // batches from a Put to its SingleDelete
constexpr uint64_t kMostRange = 25;     // keys

std::string KeyOf(uint64_t i) {
  char key[16];
  snprintf(key, sizeof(key), "k%06llu", static_cast<unsigned long long>(i));
  return key;
}
std::string SingleKeyOf(uint64_t n) { return "s" + std::to_string(n * 7919); }

using Random = std::mt19937;  // the same everywhere

Random RandomOf(uint64_t n) { return Random(static_cast<uint32_t>(n * 2654435761U + 17)); }

std::string ValueOf(uint64_t n, Random* random) {
  const size_t size = (*random)() % 64 == 0 ? (*random)() % 16000 : (*random)() % 400;
  return std::to_string(n) + ":" + std::string(size, static_cast<char>('a' + n % 26));
}

enum class Kind { kPut, kMerge, kDelete, kRange, kSingle };

Kind KindOf(Random* random) {
  const uint32_t x = (*random)() % 100;
  return x < 60   ? Kind::kPut
         : x < 75 ? Kind::kMerge
         : x < 87 ? Kind::kDelete
         : x < 91 ? Kind::kRange
                  : Kind::kSingle;
}

// Does all that the n-th batch does. `to` is a WriteBatch, or as one.
template <typename Target>
void Apply(uint64_t n, Target* to) {
  Random random = RandomOf(n);
  const Kind kind = KindOf(&random);
  const size_t family = random() % 3 == 0 ? 1 : 0;
  const uint64_t key = random() % kKeys;
  switch (kind) {
    case Kind::kPut:
      for (uint64_t i = 0, count = 1 + random() % 4; i < count; i++) {
        to->Put(random() % kFamilies, KeyOf(random() % kKeys), ValueOf(n, &random));
      }
      break;
    case Kind::kMerge:
      to->Merge(family, KeyOf(key), ValueOf(n, &random));
      break;
    case Kind::kDelete:
      to->Delete(family, KeyOf(key));
      break;
    case Kind::kRange:
      to->DeleteRange(family, KeyOf(key), KeyOf(key + random() % kMostRange));
      break;
    case Kind::kSingle:
      to->Put(0, SingleKeyOf(n), ValueOf(n, &random));
      break;
  }
  if (n >= kSingleLife) {
    Random before = RandomOf(n - kSingleLife);
    if (KindOf(&before) == Kind::kSingle) {
      to->SingleDelete(0, SingleKeyOf(n - kSingleLife));
    }
  }
  to->Put(0, kCountKey, std::to_string(n + 1));
}

class BatchTarget {
 public:
  BatchTarget(const std::vector<ColumnFamilyHandle*>& families, WriteBatch* batch)
      : families_(families), batch_(batch) {}

  void Put(size_t family, const std::string& key, const std::string& value) {
    Note(batch_->Put(families_[family], key, value));
  }
  void Merge(size_t family, const std::string& key, const std::string& value) {
    Note(batch_->Merge(families_[family], key, value));
  }
  void Delete(size_t family, const std::string& key) {
    Note(batch_->Delete(families_[family], key));
  }
  void SingleDelete(size_t family, const std::string& key) {
    Note(batch_->SingleDelete(families_[family], key));
  }
  void DeleteRange(size_t family, const std::string& begin, const std::string& end) {
    Note(batch_->DeleteRange(families_[family], begin, end));
  }
  const Status& status() const { return status_; }

 private:
  void Note(const Status& s) { status_ = status_.ok() ? s : status_; }

  const std::vector<ColumnFamilyHandle*>& families_;
  WriteBatch* const batch_;
  Status status_;
};

class MapTarget {
 public:
  explicit MapTarget(std::map<std::string, std::string>* families) : families_(families) {}

  void Put(size_t family, const std::string& key, const std::string& value) {
    families_[family][key] = value;
  }
  // As StringAppendOperator.
  void Merge(size_t family, const std::string& key, const std::string& value) {
    const auto [it, fresh] = families_[family].emplace(key, value);
    if (!fresh) {
      it->second += "," + value;
    }
  }
  void Delete(size_t family, const std::string& key) { families_[family].erase(key); }
  void SingleDelete(size_t family, const std::string& key) { families_[family].erase(key); }
  void DeleteRange(size_t family, const std::string& begin, const std::string& end) {
    auto& map = families_[family];
    map.erase(map.lower_bound(begin), map.lower_bound(end));
  }

 private:
  std::map<std::string, std::string>* const families_;
};

}  // namespace

Status MakeBatch(uint64_t n, const std::vector<ColumnFamilyHandle*>& families, WriteBatch* batch) {
  batch->Clear();
  BatchTarget target(families, batch);
  Apply(n, &target);
  return target.status();
}

void Model::AdvanceTo(uint64_t count) {
  MapTarget target(families_);
  for (; count_ < count; count_++) {
    Apply(count_, &target);
  }
}

}  // namespace rocktier
