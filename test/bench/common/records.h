// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Keys and values as a pure function of (key number, version), so that every read can be verified.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/slice.h"

namespace rocktier_bench {

// 16 hexadecimal digits, in the order of the key numbers.
constexpr size_t kKeySize = 16;
void MakeKey(uint64_t number, std::string* key);

// At least 16 bytes: the version, the key number, then pseudo-random bytes.
constexpr size_t kMinValueSize = 16;
void MakeValue(uint64_t number, uint64_t version, size_t size, std::string* value);

// True if `value` is what MakeValue makes for this key and size and some version in
// [oldest, newest].
bool ValueIsRight(const ROCKSDB_NAMESPACE::Slice& value, uint64_t number, uint64_t oldest,
                  uint64_t newest, size_t size);

}  // namespace rocktier_bench
