// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/blob/prefetch_buffer_collection.h"
#include "plugin/blob_hybrid/counters.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/version.h"

namespace ROCKSDB_NAMESPACE {

class BlobIndex;
class BlobSource;
class Logger;
class PinnableSlice;

namespace blob_hybrid {

// The blob files of a family, for reading values and for deciding which ones to move. Constant.
struct BlobFiles {
  struct File {
    uint64_t bytes;
    bool move;  // values out of it
  };
  std::map<uint64_t, File> files;  // by number
  BlobSource* source = nullptr;    // null: nothing is to be moved
  Logger* logger = nullptr;
  uint64_t readahead_size = 0;
};

// Moves large values out of blob files: it returns the value in the place of the reference, which RocksDB then writes to a new
// blob file, or to the SST if it is no longer large. Behind the user's filter, which sees values as it would without this one.
// Used by one thread.
class BlobHybridFilter : public CompactionFilter {
 public:
  // `user` may be null; it is owned if `owned` is set.
  BlobHybridFilter(BlobFiles files, const CompactionFilter* user,
                   std::unique_ptr<CompactionFilter> owned, std::shared_ptr<Counters> counters);

  const char* Name() const override { return "BlobHybridFilter"; }

  // RocksDB then gives references as they are, which shows the blob file without reading it. Keys of references are
  // internal keys then.
  bool IsStackedBlobDbInternalCompactionFilter() const override { return files_.source != nullptr; }

  Decision FilterBlobByKey(int level, const Slice& key, std::string* new_value,
                           std::string* skip_until) const override;

  Decision FilterV3(int level, const Slice& key, ValueType value_type, const Slice* existing_value,
                    const WideColumns* existing_columns, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string* skip_until) const override;

#if ROCKSDB_MAJOR >= 11
  bool SupportsFilterV4() const override { return user_ == nullptr || user_->SupportsFilterV4(); }
  Decision FilterV4(int level, const Slice& key, ValueType value_type, const Slice* existing_value,
                    const WideColumns* existing_columns, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string* skip_until, WideColumnBlobResolver* blob_resolver) const override;
#endif

 private:
  struct Arguments {
    int level;
    const WideColumns* columns;
    std::string* new_value;
    std::vector<std::pair<std::string, std::string>>* new_columns;
    std::string* skip_until;
  };
  Decision FilterReference(const Slice& internal_key, const Slice& reference,
                           const Arguments& arguments) const;
  Decision AskUser(const Slice& user_key, const Slice& value, const Arguments& arguments) const;
  bool Read(const Slice& user_key, const BlobIndex& index, PinnableSlice* value) const;

  const BlobFiles files_;
  const CompactionFilter* const user_;
  const std::unique_ptr<CompactionFilter> owned_;
  const std::shared_ptr<Counters> counters_;
  const std::unique_ptr<PrefetchBufferCollection> prefetch_;  // null: no readahead
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
