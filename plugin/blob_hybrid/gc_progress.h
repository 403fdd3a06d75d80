// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "plugin/blob_hybrid/gc_picker.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Which blob files of a family are collected, and how far that is. The job tracks files as long as
// the bound is near; each compaction that begins asks which ones to move values out of.
// Thread-safe.
class GcProgress {
 public:
  // `options` must outlive it.
  explicit GcProgress(const BlobHybridOptions& options) : options_(options) {}

  // Aims a compaction at the files to move values out of: those with more garbage than the options
  // say, or with less as long as the bound is near. Medium values too as long as it is; else they
  // wait for the merge level.
  struct Aim {
    std::set<uint64_t> victims;
    bool medium = false;
  };
  Aim AimOf(const std::vector<BlobInfo>& blobs) const;

  // Takes what a look at the family has found. `garbage`: of files of which RocksDB knows less.
  void SetRoom(const Room& room, std::map<uint64_t, uint64_t> garbage);

  // Tracks the files to collect while the bound is near; those that are tracked stay so as long as
  // they have garbage that can be freed. `bad`: SSTs that cannot be compacted for a time; the files
  // that only these refer to are not to be in the way of others.
  Since Track(const Survey& survey, const std::set<uint64_t>& bad);
  // Tracks none: the bound is not near.
  void Rest();
  // Forgets since when files are tracked, so that their SSTs are compacted once more. False if
  // there was none.
  bool Restart();

 private:
  void SetCollected(Collected collected);

  const BlobHybridOptions& options_;
  mutable std::mutex mutex_;
  // What follows is guarded by mutex_.
  bool near_ = false;  // the bound
  Room room_;          // RoomFor()
  Since since_;
  Collected collected_;
  std::map<uint64_t, uint64_t> garbage_;  // of blob files, as surveyed
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
