// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/hot_promotion/ralt/digest.h"
#include "plugin/hot_promotion/ralt/record.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table_properties.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Writes a RunFile. Not thread-safe.
class RunFileBuilder {
 public:
  explicit RunFileBuilder(Env* env);

  Status Open(const std::string& name);

  // Keys in ascending order. `fresh`: no older run says that it is hot.
  Status Add(const Slice& key, uint64_t hash, const Record& record, bool hot, bool fresh);

  // Makes the file durable. At least one record was added.
  Status Finish();

  uint64_t raw_bytes() const { return digest_.total.raw_bytes; }
  const std::string& last() const { return digest_.last; }

 private:
  static constexpr uint64_t kPointEvery = 8 << 10;

  void Count(const Slice& key, uint64_t raw, const Record& record, bool hot, bool fresh);

  UserCollectedProperties properties_;
  SstFileWriter writer_;
  Digest digest_;
  std::vector<uint64_t> hot_;
  uint64_t next_point_ = 0;
  std::string value_;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
