// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Who may delete what when a database is opened.
//
// hot_promotion has three folders: that of the option `path`, and in it `store` and `ralt`. Each
// has a marker, the file HOT_PROMOTION. Files are deleted in marked folders only, and only files
// with names that the part itself gives.
//
//   what is at the place of a folder       | a database is opened         | rocktier hot clear
//   ---------------------------------------+------------------------------+------------------------
//   nothing                                | is made and marked           | NotFound
//   an empty folder (LOCK, LOG, lost+found,| is marked                    | NotFound
//   statistics and a marker that was being |                              |
//   written do not count)                  |                              |
//   a marked folder                        | is used                      | its own files are
//                                          |                              | deleted
//   one without a marker in which all is   | is marked and used           | the same
//   ours, as the first version made it     |                              |
//   anything else: a file, somebody's      | InvalidArgument; nothing is  | InvalidArgument;
//   folder                                 | changed, not even a lock     | nothing is changed
//                                          | taken                        |
//   what cannot be looked at (EIO, EACCES, | no copies; tried again       | that error
//   ...)                                   |                              |
//   a folder that another process has      | no copies; tried again       | Busy
//   locked                                 |                              |
//
// A folder of the first version is "ours" if there is nothing else in it: in `path` LOCK, LOG,
// store and ralt; in the store files of a RocksDB whose OPTIONS name HotPromotionFilter; in ralt
// run files and a CATALOG that begins with its magic.
//
//   in a marked folder                            | what happens
//   ----------------------------------------------+------------------------------------------------
//   a store that is damaged, lacks a file that it | begins empty: its files are deleted
//   names, or is of another version               | (Store::OpenOrReplace), also while the process
//                                                 | runs (HotDirectory::KeepOpen)
//   a store that has keys and no format           | InvalidArgument: another database was put there
//   a store that cannot be opened for another     | is left as it is: no copies; tried again
//   reason (descriptors, EIO, space, busy)        |
//   files run-N in the store, once it is open     | deleted: nothing refers to them
//   an access table whose CATALOG is damaged      | begins empty: its run files are deleted
//                                                 | (ralt::FileSet)
//   a run file that is damaged or missing         | is dropped from the table, and deleted
//   an access table that cannot be read for       | is left as it is: no copies; tried again
//   another reason                                |
//   other files and folders                       | are left; rocktier hot clear refuses a store or
//                                                 | access table that has some
//
// Only an instance that can use copies opens folders: DB::Open() for writing. Tools, SstFileWriter,
// read-only and secondary instances do not.
//
// Locks, in the order in which they are taken; none is held while a database's own SST is read or
// written:
//
//   HotPromotionTable::mutex_ *
//   Promoter::round_mutex_ *
//   BorrowedFileSystem::mutex_ *, and the locks of a database's FileSystem
//   Ralt::Rep::drain_mutex_ *
//   Store::evict_mutex_ *
//   Store::add_mutex_ *
//   DiskSpace::mutex_ *
//   locks of the store's RocksDB
//   one of Registry::mutex_, SstCatalog::mutex_, PromotionCache::Shard::mutex,
//     Promoter::wake_mutex_, HotDirectory::status_mutex_, the other locks of the access table, and
//     that of the table of folders (folder.cc): no lock is taken under these
//
// There is I/O under those with a star. A read takes none of them, but for the first one when it
// opens an SST.
//
// Promoter::round_mutex_ waits for users of the store (Guarded::Take()), who may hold locks from
// Store::add_mutex_ on.

#pragma once

#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// The statistics file in the folder of `path`.
constexpr char kMetricsName[] = "rocktier_hot_promotion.prom";

// Folder: one of ours. While the object lives, no other object of this process has the folder, by
// whatever name.
class Folder {
 public:
  enum class Kind : char { kTop = 1, kStore = 2, kTable = 3 };

  // Whether a folder may be opened; changes nothing. InvalidArgument: it is somebody else's. OK if
  // there is none.
  static Status Check(Kind kind, const std::string& path);

  // Makes, locks (kTop only) and marks a folder. Busy: somebody has it. InvalidArgument: as of
  // Check().
  static Status Open(Kind kind, const std::string& path, std::unique_ptr<Folder>* result);

  // Whether the folder of `path`, which is there, is free; changes nothing. Busy: somebody has it.
  static Status CheckFree(const std::string& path);

  // Makes the folder `path` if there is nothing. Errors are left to Open().
  static void Make(const std::string& path);

  // Refuses what Remove() would, and removes nothing.
  static Status CheckRemovable(Kind kind, const std::string& path);

  // Removes a folder with all that is ours in it. NotFound: there is none. InvalidArgument: there
  // is something else, and nothing was removed.
  static Status Remove(Kind kind, const std::string& path);

  // Identifies a folder by device and inode, whatever its name. Empty: there is none, or it cannot
  // be looked at.
  static std::string IdOf(const std::string& path);

  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  Folder(Kind kind, const std::string& path) : kind_(kind), path_(path) {}

  Status Claim();
  Status Lock();
  Status LookAtLock() const;
  Status Mark();

  const Kind kind_;
  const std::string path_;
  int fd_ = -1;     // as long as it is open, no other folder gets its inode
  std::string id_;  // in the table of folders of this process
  FileLock* lock_ = nullptr;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
