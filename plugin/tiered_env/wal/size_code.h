// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>

#include "util/math.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A size in a byte, as a floating-point number: 5 bits of exponent, 3 of mantissa. Exact below 16;
// above, rounded to the nearest, and at most 1/16 off. The largest one is 15 GiB: more than an
// entry can have.
using SizeCode = uint8_t;

inline SizeCode EncodeSize(uint64_t size) {
  if (size < 16) {
    return static_cast<SizeCode>(size);
  }
  const int shift = FloorLog2(size) - 3;
  const uint64_t rounded = (size >> shift) + (size >> (shift - 1) & 1);  // 8 to 16
  const uint64_t code = (static_cast<uint64_t>(shift) << 3) + rounded;   // 16 carries
  return static_cast<SizeCode>(code < UINT8_MAX ? code : UINT8_MAX);
}

inline uint64_t DecodeSize(SizeCode code) {
  const int exponent = code >> 3;
  return exponent == 0 ? code : uint64_t{8U | (code & 7U)} << (exponent - 1);
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
