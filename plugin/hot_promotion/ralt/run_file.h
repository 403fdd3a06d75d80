// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plugin/hot_promotion/ralt/digest.h"
#include "plugin/hot_promotion/ralt/filter.h"
#include "rocksdb/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// One file of a run: an SST whose keys are those of the table and whose values are Records. Its
// digest and the filter of its hot keys are in memory, held by the SST's properties.
//
// Thread-safe.
class RunFile {
 public:
  // Corruption: not a file of ours, or its properties are damaged. Else what the Env says.
  static Status Open(Env* env, const std::string& directory, uint64_t number,
                     std::shared_ptr<const RunFile>* result);

  bool MayBeHot(uint64_t hash) const { return filter_.MayHave(hash); }
  const std::string& first() const { return digest_.points.front().key; }
  const std::string& last() const { return digest_.last; }
  const Digest& digest() const { return digest_; }
  uint64_t number() const { return number_; }
  uint64_t file_size() const { return file_size_; }
  size_t MemoryUsage() const { return memory_; }

  // Over all records. Keys are RocksDB's internal ones; see UserKey().
  std::unique_ptr<Iterator> NewIterator() const { return reader_->NewTableIterator(); }
  Status Verify() const { return reader_->VerifyChecksum(); }

 private:
  RunFile(uint64_t number, const Options& options);
  Status Load(const std::string& name);

  const uint64_t number_;
  // Constant after Open().
  std::unique_ptr<SstFileReader> reader_;
  std::shared_ptr<const TableProperties> properties_;
  Digest digest_;
  Filter filter_{Slice()};
  uint64_t file_size_ = 0;
  size_t memory_ = 0;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
