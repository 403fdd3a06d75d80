// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/tiered_env/files/namespace.h"
#include "plugin/tiered_env/fs/open_database.h"
#include "plugin/tiered_env/tier/placement.h"
#include "plugin/tiered_env/tier/usage.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// WriteRequest: what RocksDB has told of a file that it writes.
struct WriteRequest {
  std::string path;
  FileOptions options;
  Content kind = Content::kOther;
  size_t preallocation_block = 0;  // bytes
  Env::IOPriority priority = Env::IO_TOTAL;
  Env::WriteLifeTimeHint hint = Env::WLTH_NOT_SET;
};

// A file that is being written, in the tier that was found for it: TieredWritableFile makes it when
// it can wait no longer. Not thread-safe.
class PlacedFile {
 public:
  // `request` may change until the file is closed.
  PlacedFile(Namespace* names, OpenDatabase* database, const WriteRequest* request);
  ~PlacedFile() { status_.PermitUncheckedError(); }

  // Chooses the tier and makes the file; status() is what comes of it. Called first.
  void Start();
  // The first failure to find a place, now or after Spill().
  const IOStatus& status() const { return status_; }

  // Returns null after a failure, and when it is closed.
  FSWritableFile* file() const { return file_.get(); }
  const Place& place() const { return place_; }
  bool is_volatile() const {
    return request_.kind == Content::kTable && place_.tier != nullptr && place_.tier->is_volatile();
  }
  // Tell of the first file: whoever writes lays out its buffers by them, whatever tier it is in
  // later.
  bool direct() const { return direct_; }
  size_t alignment() const { return alignment_; }

  uint64_t size() const { return size_; }
  void set_size(uint64_t size) { size_ = size; }

  // Takes from the budget of the tier what a file of `end` bytes needs. NoSpace: there is not so
  // much. A column family's budget holds when a file is begun in a tier, not here.
  IOStatus MakeRoom(uint64_t end);
  // Goes on in the next tier that has room, with a copy of what was written.
  IOStatus Spill();
  // Spills in the middle of a write: if that fails, it is the status() from then on.
  IOStatus SpillOver();
  // Makes a recipe of what is there of an SST in memory, if there is none, or spills the file. No
  // more bytes come then.
  IOStatus KeepTable();
  // Makes the stub durable, if it is not yet.
  IOStatus SyncStub();
  // Closes it, and counts it as the database's.
  IOStatus Close(const IOOptions& options, IODebugContext* dbg);

 private:
  static constexpr uint64_t kLeastOfOthers = 64 << 20;  // bytes: see Expected()

  bool counts() const {
    return request_.kind == Content::kTable || request_.kind == Content::kBlob;
  }
  // Bytes that it begins with, as far as is known; 0 if it takes of no budget.
  uint64_t Wanted() const {
    return counts() ? std::max<uint64_t>(request_.preallocation_block, size_) : 0;
  }
  // Bytes that its directory should have free. What is no SST or blob file does not spill, and
  // nobody knows how long it becomes.
  uint64_t Expected() const {
    return counts() ? Wanted() : std::max<uint64_t>(request_.preallocation_block, kLeastOfOthers);
  }
  Facts WhatIsKnown();
  Tier* FirstTier(Tier* wanted);
  // Returns whether a tier may be tried.
  bool MayUse(const Tier& tier) const;
  // Takes the bytes that the file begins with, if it takes of budgets; `beyond`: whatever that of
  // its column family.
  bool TakeRoom(Tier* tier, uint64_t bytes, bool beyond);
  IOStatus StartIn(Tier* first);
  // Makes it in the first of these tiers that takes it, instead of `first`.
  IOStatus StartInOneOf(const std::vector<Tier*>& tiers, Tier* first, bool beyond);
  // `at_home`: set if home has failed, which is to have the stub.
  IOStatus Open(const Place& place, bool* at_home);
  // Deletes what Open() has made, when it fails.
  void TakeBack(const Place& place, bool has_stub);
  // Makes it with direct I/O or without, as what was written before, or as RocksDB wants it.
  IOStatus Create(const Place& place, std::unique_ptr<FSWritableFile>* file) const;
  // NoSpace: it must be another tier.
  IOStatus CopyFrom(const Place& source);
  void Discard();

  Namespace* const names_;
  OpenDatabase* const database_;
  Usage* const usage_;
  const WriteRequest& request_;

  IOStatus status_;
  Place place_;
  std::unique_ptr<FSWritableFile> file_;
  Writing writing_;                       // file_, in place_.tier
  std::unique_ptr<FSWritableFile> stub_;  // until it is durable
  std::string family_;                    // its column family; empty: not known
  uint64_t reserved_ = 0;                 // bytes of the tier's budget, and of the family's
  uint64_t size_ = 0;
  bool direct_ = false;
  size_t alignment_ = 0;   // 0: there was no file yet
  bool complete_ = false;  // nothing more comes, and its end may be anywhere
  std::vector<bool> tried_;
  Purpose purpose_;
  uint64_t kept_ = 0;       // bytes of an SST that a recipe was made of
  bool no_recipe_ = false;  // it was refused one, or would be
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
