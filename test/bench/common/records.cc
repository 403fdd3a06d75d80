// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/common/records.h"

#include <algorithm>
#include <cstring>

namespace rocktier_bench {

namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ull;

uint64_t FirstWord(uint64_t number, uint64_t version) {
  return (number * kGolden) ^ (version * 0xd1342543de82ef95ull + 1);
}

uint64_t NextWord(uint64_t word) {
  word ^= word << 13;
  word ^= word >> 7;
  word ^= word << 17;
  return word + kGolden;
}

}  // namespace

void MakeKey(uint64_t number, std::string* key) {
  static const char kDigits[] = "0123456789abcdef";
  key->resize(kKeySize);
  for (size_t i = kKeySize; i-- > 0; number >>= 4) (*key)[i] = kDigits[number & 15];
}

void MakeValue(uint64_t number, uint64_t version, size_t size, std::string* value) {
  value->resize(size);
  std::memcpy(&(*value)[0], &version, sizeof(version));
  std::memcpy(&(*value)[8], &number, sizeof(number));
  uint64_t word = FirstWord(number, version);
  for (size_t at = kMinValueSize; at < size; at += sizeof(word)) {
    word = NextWord(word);
    std::memcpy(&(*value)[at], &word, std::min(sizeof(word), size - at));
  }
}

bool ValueIsRight(const ROCKSDB_NAMESPACE::Slice& value, uint64_t number, uint64_t oldest,
                  uint64_t newest, size_t size) {
  if (value.size() != size) return false;
  uint64_t version = 0;
  std::memcpy(&version, value.data(), sizeof(version));
  if (version < oldest || version > newest) return false;
  if (std::memcmp(value.data() + 8, &number, sizeof(number)) != 0) return false;
  uint64_t word = FirstWord(number, version);
  for (size_t at = kMinValueSize; at < size; at += sizeof(word)) {
    word = NextWord(word);
    if (std::memcmp(value.data() + at, &word, std::min(sizeof(word), size - at)) != 0) return false;
  }
  return true;
}

}  // namespace rocktier_bench
