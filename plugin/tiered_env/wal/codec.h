// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>

#include "rocksdb/compression_type.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The codecs that archives can have.
bool IsCodec(CompressionType codec);
const char* NameOf(CompressionType codec);
// Whether RocksDB was built with it.
bool HasCodec(CompressionType codec);

// Compresses blocks at the codec's default level. Not thread-safe.
class Compressing {
 public:
  explicit Compressing(CompressionType codec);
  ~Compressing();

  // False if it would not be smaller; then `stored` is of no use.
  bool Compress(const Slice& raw, std::string* stored);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// False if `stored` is not what was compressed to `raw_size` bytes.
bool Uncompress(CompressionType codec, const Slice& stored, size_t raw_size, std::string* raw);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
