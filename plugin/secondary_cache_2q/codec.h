// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The cache's own compression of blocks: lz4 and zstd, as RocksDB was built with them.

#pragma once

#include <memory>
#include <string>

#include "rocksdb/compression_type.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Whether this build can compress and decompress with `type` (kNoCompression: always).
bool CodecSupported(CompressionType type);

// Compresses; false if the result would not be smaller by an eighth at least.
bool Compress(CompressionType type, const Slice& raw, std::string* compressed);

// Decompresses to exactly raw_size bytes. Null if the bytes are not what Compress() made of so
// many, or if there is no memory.
std::unique_ptr<char[]> Decompress(CompressionType type, const Slice& compressed, size_t raw_size);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
