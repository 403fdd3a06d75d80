// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The integers of the format: little-endian, at any address.

#pragma once

#include <endian.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

inline void EncodeFixed32(char* to, uint32_t value) {
  const uint32_t bytes = htole32(value);
  memcpy(to, &bytes, sizeof(bytes));
}

inline void EncodeFixed64(char* to, uint64_t value) {
  const uint64_t bytes = htole64(value);
  memcpy(to, &bytes, sizeof(bytes));
}

inline uint16_t DecodeFixed16(const char* from) {
  uint16_t bytes;
  memcpy(&bytes, from, sizeof(bytes));
  return le16toh(bytes);
}

inline uint32_t DecodeFixed32(const char* from) {
  uint32_t bytes;
  memcpy(&bytes, from, sizeof(bytes));
  return le32toh(bytes);
}

inline uint64_t DecodeFixed64(const char* from) {
  uint64_t bytes;
  memcpy(&bytes, from, sizeof(bytes));
  return le64toh(bytes);
}

inline void PutFixed32(std::string* to, uint32_t value) {
  char bytes[sizeof(value)];
  EncodeFixed32(bytes, value);
  to->append(bytes, sizeof(bytes));
}

inline void PutFixed64(std::string* to, uint64_t value) {
  char bytes[sizeof(value)];
  EncodeFixed64(bytes, value);
  to->append(bytes, sizeof(bytes));
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
