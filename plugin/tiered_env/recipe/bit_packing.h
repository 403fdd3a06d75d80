// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Numbers of the same width, up to 64 bits, without gaps, the lowest bit first.

#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "rocksdb/slice.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Bits that are needed for all numbers up to this one.
inline uint32_t BitsFor(uint64_t largest) {
  uint32_t bits = 0;
  for (; largest != 0; largest >>= 1) {
    ++bits;
  }
  return bits;
}

inline uint64_t BytesFor(uint64_t count, uint32_t width) { return (count * width + 7) / 8; }

class BitWriter {
 public:
  // Appends to `out`.
  BitWriter(uint32_t width, std::string* out) : width_(width), out_(out) {}

  void Put(uint64_t number) {
    if (width_ > 32) {
      PutSome(number & 0xffffffffu, 32);
      PutSome(number >> 32, width_ - 32);
    } else {
      PutSome(number, width_);
    }
  }
  void Finish() {
    if (count_ != 0) {
      out_->push_back(static_cast<char>(pending_));
    }
    count_ = 0;
  }

 private:
  void PutSome(uint64_t bits, uint32_t width) {
    pending_ |= bits << count_;
    for (count_ += width; count_ >= 8; count_ -= 8, pending_ >>= 8) {
      out_->push_back(static_cast<char>(pending_));
    }
  }

  const uint32_t width_;
  std::string* const out_;
  uint64_t pending_ = 0;
  uint32_t count_ = 0;  // of pending bits; below 8 between calls
};

class BitReader {
 public:
  BitReader(const Slice& bytes, uint32_t width)
      : bytes_(bytes),
        width_(width),
        mask_(width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1) {}

  // What is behind the end is zeros.
  uint64_t Get() {
    const uint64_t byte = position_ / 8;
    const uint32_t shift = position_ % 8;
    position_ += width_;
    char copy[9] = {};
    const char* p = copy;
    if (byte + sizeof(copy) <= bytes_.size()) {
      p = bytes_.data() + byte;
    } else if (byte < bytes_.size()) {
      memcpy(copy, bytes_.data() + byte, bytes_.size() - byte);
    }
    uint64_t number = DecodeFixed64(p) >> shift;
    if (shift + width_ > 64) {
      number |= uint64_t{static_cast<unsigned char>(p[8])} << (64 - shift);
    }
    return number & mask_;
  }

 private:
  const Slice bytes_;
  const uint32_t width_;
  const uint64_t mask_;
  uint64_t position_ = 0;  // in bits
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
