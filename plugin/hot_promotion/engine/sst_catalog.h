// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "plugin/hot_promotion/engine/file_system_lease.h"
#include "plugin/hot_promotion/store/format.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Knows the SSTs that the hot store may have records of, and where they are. A record is alive as
// long as its SST is known here. An SST is known from Add() or AddStored() on, until a
// DeadSstFinder finds that it is gone from all of its places.
//
// Thread-safe.
class SstCatalog {
 public:
  // Returns what each reader and builder of a table holds as long as it has a file of this
  // FileSystem open.
  std::shared_ptr<FileSystemLease> Lease(const std::shared_ptr<FileSystem>& file_system);

  // Adds an SST that was opened or written at this path. The FileSystem is asked whether it is
  // still there, as long as anybody has the lease.
  void Add(const FileId& file, uint64_t space, const std::string& path,
           const FileSystemLease& lease);

  // Adds an SST that the store names. A place of it is gone when FileSystems of that name are known
  // and none has it.
  void AddStored(const FileId& file, const FileEntry& entry);

  bool Find(const FileId& file, FileEntry* entry) const;

  // Notes that the file of this SST is about to be deleted. False: the SST is not known.
  bool NoteObsolete(const FileId& file);

  size_t Count() const;

 private:
  friend class DeadSstFinder;

  struct Location {
    Place place;
    std::shared_ptr<BorrowedFileSystem> file_system;  // null: of one that is not open
  };
  struct File {
    uint64_t space = 0;
    std::vector<Location> locations;
  };
  struct Loan {
    std::weak_ptr<FileSystemLease>
        lease;  // that of the tables: held here it would not end with them
    std::shared_ptr<BorrowedFileSystem> file_system;
  };
  using FileSystems = std::map<std::string, std::vector<std::shared_ptr<BorrowedFileSystem>>>;

  FileSystems Open();
  static bool IsGone(const Location& location, const FileSystems& open);
  bool Remove(const FileId& file, const std::vector<Location>& gone);

  mutable std::shared_mutex mutex_;
  std::map<FileId, File> files_;
  std::set<FileId> obsolete_;
  std::map<const FileSystem*, Loan> loans_;
};

// Finds the SSTs of a catalog whose files are gone, and removes them there. Not thread-safe.
class DeadSstFinder {
 public:
  explicit DeadSstFinder(SstCatalog* catalog) : catalog_(catalog) {}

  // Removes the SSTs whose files are gone and returns them, after looking for files as long as
  // go_on(). Those that NoteObsolete() was told of come first; the others, if `all`, from where the
  // last call ended.
  using GoOn = std::function<bool()>;
  std::vector<FileId> Take(
      bool all, const GoOn& go_on = [] { return true; });

  // Whether the last call with `all` came to the end of them.
  bool LookedForAll() const { return next_ == FileId{}; }

 private:
  bool Next(std::set<FileId>* obsolete, bool* all, FileId* id, SstCatalog::File* file);

  SstCatalog* const catalog_;
  FileId next_{};  // where Take() goes on; null: at the first
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
