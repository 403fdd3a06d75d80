// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Numbers in arguments, and bytes in answers.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

// Reads bytes: digits, and then nothing, K, M, G, T, KiB, MiB, GiB or TiB, which are powers of
// 1024. False if it is anything else, or more than fits in 63 bits.
bool ParseBytes(const std::string& text, uint64_t* bytes);

// Reads a number with or without a fraction. False if it is anything else.
bool ParseDouble(const std::string& text, double* number);

// Reads a share, "5%" or "0.5%", from more than 0 to 100. False if it is anything else.
bool ParsePercent(const std::string& text, double* percent);

// Reads a number of things in a second, "20K/s": digits, and then nothing, K or M, which are powers
// of 1000. False if it is anything else, or 0.
bool ParseRate(const std::string& text, double* per_second);

// "1.5 GiB"; less than a KiB is "1023 B".
std::string HumanBytes(uint64_t bytes);

// A number of bytes as it is printed: all digits, and with `human` in a larger unit beside it.
std::string BytesFor(uint64_t bytes, bool human);

// Adds the larger unit to a line "name: value" or "name value" whose name says that it is bytes: it
// ends in "bytes", "size", "capacity" or "budget".
std::string WithHumanBytes(const std::string& line);

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
