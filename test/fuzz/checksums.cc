// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The linker's --wrap sends the callers of crc32c::Extend() here.

#include <cstddef>
#include <cstdint>

#include "test/fuzz/target.h"

namespace rocktier {

#define EXTEND "_ZN7rocksdb6crc32c6ExtendEjPKcm"
uint32_t RealExtend(uint32_t crc, const char* data, size_t n) __asm__("__real_" EXTEND);
uint32_t WrapExtend(uint32_t crc, const char* data, size_t n) __asm__("__wrap_" EXTEND);

namespace {

constexpr uint32_t kForged = 0x666f7267;

thread_local int forging = 0;

}  // namespace

uint32_t WrapExtend(uint32_t crc, const char* data, size_t n) {
  return forging > 0 ? kForged : RealExtend(crc, data, n);
}

ForgedChecksums::ForgedChecksums() { forging++; }
ForgedChecksums::~ForgedChecksums() { forging--; }

}  // namespace rocktier
