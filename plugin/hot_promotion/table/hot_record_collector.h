// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/table_properties_collector.h"
#include "memory/arena.h"
#include "plugin/hot_promotion/engine/engine.h"
#include "rocksdb/comparator.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Collects the hot records of an SST that is being written. Shared by its builder, which publishes
// the records, and its collector, which is told of all entries. One thread at a time.
class HotRecordCollector {
 public:
  // `keep`: the records are kept, not only counted; at most `max_bytes` of memory have them.
  HotRecordCollector(const std::shared_ptr<Engine>& engine, const Comparator* comparator,
                     Space space, bool keep, uint64_t max_bytes)
      : engine_(engine),
        comparator_(comparator),
        space_(space),
        keep_(keep),
        max_bytes_(max_bytes) {}

  // Entries come in the order of their internal keys: the first one of a user key is the newest,
  // and what readers that see the whole SST find. Any other must not be copied.
  void Add(const Slice& internal_key, const Slice& value);

  uint64_t hot_keys() const { return hot_keys_; }
  uint64_t hot_bytes() const { return hot_bytes_; }

  // Gives the records of the SST to the hot store, unless there is a range deletion in it, which
  // may cover them.
  void Publish(const FileId& file);

  // Returns what the records take, with all that is needed to keep them.
  uint64_t MemoryBytes() const { return kept_bytes_; }

 private:
  static constexpr size_t kArenaBlock = 64 << 10;

  bool IsFirst(const Slice& user_key);

  const std::shared_ptr<Engine> engine_;
  const Comparator* const comparator_;
  const Space space_;
  const bool keep_;
  const uint64_t max_bytes_;

  bool any_ = false;
  bool range_deletions_ = false;
  std::string last_user_key_;
  Arena arena_{kArenaBlock};
  std::vector<const char*> records_;  // in the arena: key and value, each after its length
  uint64_t kept_bytes_ = 0;
  uint64_t hot_keys_ = 0;
  uint64_t hot_bytes_ = 0;
};

// User properties of SSTs, decimal numbers: how many of its keys were hot when it was written, and
// the bytes of these keys and values. "sst_dump --show_properties" prints them.
extern const char kHotKeysProperty[];
extern const char kHotBytesProperty[];

// The factories of the database and one more, whose collectors feed a HotRecordCollector.
InternalTblPropCollFactories WithHotRecordCollector(
    const InternalTblPropCollFactories* others,
    const std::shared_ptr<HotRecordCollector>& hot_records);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
