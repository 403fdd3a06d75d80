// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Records whose values are small, medium or large, as a pure function of (number, version): the
// mixes of the Parallax paper, section 5 and its Table 1.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/slice.h"

namespace rocktier_bench {

class SizedRecords {
 public:
  static constexpr size_t kKeySize = 24;

  // S, M, L: all alike. SD, MD, LD: 60% of the one, 20% of each other. False if there is no such
  // mix.
  static bool Find(const std::string& mix, SizedRecords* records);

  // Numbers below 2^32 - 1, in an order that has nothing to do with the numbers.
  static void MakeKey(uint64_t number, std::string* key);
  static uint64_t NumberOf(const ROCKSDB_NAMESPACE::Slice& key);

  // A new version may have another size.
  size_t ValueSize(uint64_t number, uint32_t version) const;
  void MakeValue(uint64_t number, uint32_t version, std::string* value) const;

  // True if it is that of a version in [oldest, newest].
  bool IsRight(const ROCKSDB_NAMESPACE::Slice& value, uint64_t number, uint32_t oldest,
               uint32_t newest) const;

 private:
  int small_ = 0;  // percent
  int medium_ = 0;
};

}  // namespace rocktier_bench
