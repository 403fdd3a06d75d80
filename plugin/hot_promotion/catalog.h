// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <vector>

#include "plugin/hot_promotion/format.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// The SSTs that the hot store may have records of, and where they are: a record is alive as long as its SST is known
// here. Known are those that were told of (Add), until their files are found to be gone (TakeDead).
//
// Thread-safe.
class Catalog {
 public:
  // An SST that was opened or written. `file_system` is asked whether it is still there.
  void Add(const FileId& file, const FileEntry& entry,
           const std::shared_ptr<FileSystem>& file_system);

  // An SST that the store names. It stays until a FileSystem of that name is known and does not have it.
  void AddStored(const FileId& file, const FileEntry& entry);

  bool Find(const FileId& file, FileEntry* entry) const;

  // The file of this SST is about to be deleted. False: it is not known.
  bool NoteObsolete(const FileId& file);

  // Removes the SSTs whose files are gone and returns them. Only those that NoteObsolete() was told of are looked for, or
  // all.
  std::vector<FileId> TakeDead(bool all);

  size_t Count() const;

 private:
  using Files = std::map<FileId, FileEntry>;

  Files Obsolete() const;
  bool Remove(const FileId& file, const FileEntry& entry);

  mutable std::shared_mutex mutex_;
  Files files_;
  std::set<FileId> obsolete_;
  std::map<std::string, std::weak_ptr<FileSystem>> file_systems_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
