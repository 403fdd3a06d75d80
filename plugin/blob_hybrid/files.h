// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The files of a family: what is known of them, and the sums that its space follows from.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/blob_hybrid/properties.h"
#include "plugin/blob_hybrid/sketch.h"
#include "rocksdb/comparator.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

struct KeyRange {
  std::string smallest;  // user keys
  std::string largest;
};

// Tells whether entries of this level may hide others: those above the last one; of level 0 alone,
// all.
inline bool IsUpperLevel(int level, int last_level) { return level < last_level || level == 0; }

struct SstInfo {
  uint64_t number = 0;
  int level = 0;
  uint64_t bytes = 0;
  uint64_t user_bytes = 0;   // of these, keys and values, and what small ones need besides
  uint64_t oldest_blob = 0;  // number of the oldest blob file that it refers to; 0: none
  uint64_t entries = 0;      // deletions included
  uint64_t deletions = 0;    // range deletions included
  uint64_t range_deletions = 0;
  uint64_t covered = 0;       // entries of older SSTs that these may hide, about
  uint64_t medium_bytes = 0;  // of the medium values in blob files that it refers to
  std::shared_ptr<const KeyRange> keys;
  std::shared_ptr<const References> references;  // null: it does not say
  SketchPtr sketch;                              // the same
  bool unread = false;  // its properties cannot be read: entries and what follows are not known
};

struct BlobInfo {
  uint64_t number = 0;
  uint64_t file_bytes = 0;
  uint64_t bytes = 0;  // of its values, with their headers
  // Bytes that no SST refers to: as RocksDB says, or more where all SSTs that may refer to the file
  // say how much. RocksDB does not know what SSTs referred to that DeleteFilesInRange() has
  // deleted.
  uint64_t garbage_bytes = 0;
  // RocksDB says less. It then frees the file only when no SST refers to it or to an older one.
  bool corrected = false;

  uint64_t live_bytes() const { return bytes - std::min(bytes, garbage_bytes); }
  // Tells whether no SST refers to it, so that it only waits for older ones.
  bool IsWaiting() const { return corrected && live_bytes() == 0; }
  double garbage_ratio() const {
    return bytes == 0 ? 0 : static_cast<double>(garbage_bytes) / static_cast<double>(bytes);
  }
};

// The files of a family at a time.
struct Survey {
  std::vector<SstInfo> ssts;                            // by level; but for level 0 by key then
  std::vector<BlobInfo> blobs;                          // by number
  int last_level = 0;                                   // the deepest one that has files
  int base_level = 1;                                   // what RocksDB compacts level 0 to
  const Comparator* comparator = BytewiseComparator();  // of user keys

  uint64_t max_sst_number() const;
  bool IsUpper(const SstInfo& sst) const { return IsUpperLevel(sst.level, last_level); }
};

// Sums over the files of a family, which are kept as files come and go.
struct Totals {
  struct Level {
    uint64_t entries = 0;
    uint64_t values = 0;  // of these, no deletions
    uint64_t covered = 0;
  };

  uint64_t blob_files = 0;
  uint64_t blob_file_bytes = 0;
  uint64_t value_bytes = 0;
  uint64_t garbage_bytes = 0;  // of value_bytes
  uint64_t sst_files = 0;
  uint64_t sst_bytes = 0;
  uint64_t sst_user_bytes = 0;
  uint64_t medium_bytes = 0;
  uint64_t unsampled = 0;  // SSTs without a sketch
  std::vector<Level> levels;
  int last_level = 0;
  Sampled sampled;  // if no SST is without a sketch

  void Add(const SstInfo& sst) { Count(sst, 1); }
  void Remove(const SstInfo& sst) { Count(sst, kMinusOne); }
  void Add(const BlobInfo& blob) { Count(blob, 1); }
  void Remove(const BlobInfo& blob) { Count(blob, kMinusOne); }

 private:
  static constexpr uint64_t kMinusOne = UINT64_MAX;  // modulo 2^64

  void Count(const SstInfo& sst, uint64_t times);
  void Count(const BlobInfo& blob, uint64_t times);
};

Totals TotalsOf(const Survey& survey);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
