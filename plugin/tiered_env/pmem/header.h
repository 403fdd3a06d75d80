// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The header of a file in a tier of kind pmem: pure functions, no I/O. See FORMAT.md.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

//   offset  size
//   0       8     magic; 0: the file was not created to the end, and is empty
//   8       4     version, 1
//   12      4     where the data begins, 4096
//   16      44    zero
//   60      4     CRC-32C of the bytes before, masked
//   64      8     the length word, alone on its cache line
//   72      4024  not looked at
// All integers are little-endian.
constexpr uint64_t kHeaderMagic = 0x6d656d7072746b72;  // "rktrpmem"
constexpr uint32_t kHeaderVersion = 1;
constexpr size_t kHeaderSize = 4096;
constexpr size_t kRootSize = 64;
constexpr size_t kLengthOffset = 64;

// The length of the data in the lower 48 bits, and a CRC-16 of it in the others: a length that was
// damaged is known as such, and still is one store of 8 bytes.
constexpr uint64_t kMaxLength = (uint64_t{1} << 48) - 1;
uint64_t PackLength(uint64_t length);
bool UnpackLength(uint64_t word, uint64_t* length);

// The first kRootSize bytes.
void EncodeRoot(char* root);

// Corruption if they are not those of a file of this format, NotSupported if of a later version;
// with the path of the file.
IOStatus CheckRoot(const std::string& path, const char* root);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
