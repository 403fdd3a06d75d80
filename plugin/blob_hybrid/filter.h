// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/blob_hybrid/counters.h"
#include "plugin/blob_hybrid/error_log.h"
#include "plugin/blob_hybrid/reader.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/version.h"

namespace ROCKSDB_NAMESPACE {

class BlobIndex;
class BlobSource;
class Logger;
class PinnableSlice;

namespace blob_hybrid {

// The blob files of a family when a compaction begins, for reading values and for deciding which
// ones to move. Constant.
struct BlobFiles {
  struct File {
    uint64_t bytes;
    bool move_large;   // values of that class out of it
    bool move_medium;  // into SSTs, at any level
  };
  std::map<uint64_t, File> files;  // by number
  BlobSource* source = nullptr;    // null: nothing is to be moved
  Logger* logger = nullptr;
  std::shared_ptr<ErrorLog> errors;  // of the database; not null with a source
  uint64_t readahead_size = 0;
  uint32_t family = 0;
  uint64_t large_size = 0;  // values below are medium; 0: there is no medium class
  int merge_level = 0;      // compactions to this level and below put medium values into SSTs
};

// Moves values out of blob files: it returns the value in the place of the reference, which RocksDB
// then writes to a new blob file if it is large, and to the SST else. Asks the user's filter first,
// which sees values as it would without this one. Made for one compaction, which must keep the blob
// files. Used by one thread.
class BlobHybridFilter : public CompactionFilter {
 public:
  // `user` may be null; it is owned if `owned` is set.
  BlobHybridFilter(BlobFiles files, const CompactionFilter* user,
                   std::unique_ptr<CompactionFilter> owned, std::shared_ptr<Counters> counters);

  const char* Name() const override { return "BlobHybridFilter"; }

  // RocksDB then gives references as they are, which shows the blob file without reading it. Keys
  // of references are internal keys then.
  bool IsStackedBlobDbInternalCompactionFilter() const override { return files_.source != nullptr; }

  // RocksDB refuses filters that heed snapshots, which it asks them for.
  bool IgnoreSnapshots() const override { return user_ == nullptr || user_->IgnoreSnapshots(); }

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
  // Tells whether a value may be moved, before it is read. Sizes are those of BlobIndex: compressed
  // ones.
  bool MayMove(const BlobIndex& index) const;
  bool IsMerging() const;
  // Tells whether a value that has been read is moved.
  bool Moves(const BlobIndex& index, const Slice& value) const;
  Decision FilterReference(const Slice& internal_key, const Slice& reference,
                           const Arguments& arguments) const;
  Decision AskUser(const Slice& user_key, const Slice& value, const Arguments& arguments) const;
  bool Read(const Slice& user_key, const BlobIndex& index, PinnableSlice* value) const;

  const BlobFiles files_;
  const CompactionFilter* const user_;
  const std::unique_ptr<CompactionFilter> owned_;
  const std::shared_ptr<Counters> counters_;
  const std::unique_ptr<BlobReader> reader_;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
