// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/blob/sized_records.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "test/bench/common/records.h"
#include "test/bench/common/workload.h"

namespace rocktier_bench {

namespace {

constexpr size_t kSmall = 9;
constexpr size_t kMedium = 104;
constexpr size_t kLarge = 1004;
constexpr size_t kNumberDigits = 8;

struct Mix {
  const char* name;
  int small;
  int medium;
};
constexpr Mix kMixes[] = {{"S", 100, 0},  {"M", 0, 100},  {"L", 0, 0},
                          {"SD", 60, 20}, {"MD", 20, 60}, {"LD", 20, 20}};

uint64_t Hash(uint64_t number, uint32_t version) {
  return Random(Random(number).Next() + version).Next();
}

// The version, and what follows from it and the number.
void MakeSmallValue(uint64_t number, uint32_t version, std::string* value) {
  const uint64_t hash = Hash(number, version);
  value->resize(kSmall);
  std::memcpy(&(*value)[0], &version, sizeof(version));
  std::memcpy(&(*value)[sizeof(version)], &hash, kSmall - sizeof(version));
}

}  // namespace

bool SizedRecords::Find(const std::string& mix, SizedRecords* records) {
  for (const Mix& known : kMixes) {
    if (mix == known.name) {
      records->small_ = known.small;
      records->medium_ = known.medium;
      return true;
    }
  }
  return false;
}

void SizedRecords::MakeKey(uint64_t number, std::string* key) {
  static const Permutation order(std::numeric_limits<uint32_t>::max(), 1);
  char text[kKeySize + 1];
  std::snprintf(text, sizeof(text), "%016llx%08llx", static_cast<unsigned long long>(order(number)),
                static_cast<unsigned long long>(number));
  key->assign(text, kKeySize);
}

uint64_t SizedRecords::NumberOf(const ROCKSDB_NAMESPACE::Slice& key) {
  if (key.size() != kKeySize) return std::numeric_limits<uint64_t>::max();
  const std::string digits(key.data() + kKeySize - kNumberDigits, kNumberDigits);
  return std::strtoull(digits.c_str(), nullptr, 16);
}

size_t SizedRecords::ValueSize(uint64_t number, uint32_t version) const {
  // The lower bits are in the small values.
  const int dice = static_cast<int>((Hash(number, version) >> 40) % 100);
  return dice < small_ ? kSmall : dice < small_ + medium_ ? kMedium : kLarge;
}

void SizedRecords::MakeValue(uint64_t number, uint32_t version, std::string* value) const {
  const size_t size = ValueSize(number, version);
  if (size == kSmall) {
    MakeSmallValue(number, version, value);
  } else {
    rocktier_bench::MakeValue(number, version, size, value);
  }
}

bool SizedRecords::IsRight(const ROCKSDB_NAMESPACE::Slice& value, uint64_t number, uint32_t oldest,
                           uint32_t newest) const {
  uint32_t version = 0;
  if (value.size() < sizeof(version)) return false;
  std::memcpy(&version, value.data(), sizeof(version));
  if (version < oldest || version > newest || value.size() != ValueSize(number, version)) {
    return false;
  }
  std::string expected;
  MakeValue(number, version, &expected);
  return value == expected;
}

}  // namespace rocktier_bench
