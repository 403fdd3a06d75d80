// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The file in a wal_dir that says whose logs are there. A log names the directory in which it was
// created, its wal_dir. A copy of the database's own folder has the same one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "plugin/raw_wal_fs/format.h"
#include "rocksdb/file_system.h"
#include "rocksdb/io_status.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// What the file says: the folder of the database, its home. Integers are little-endian.
//
//   offset size  field
//        0    4  masked CRC-32C of all bytes from 4 on
//        4    8  magic "RKTRHOME"
//       12    4  version, 1
//       16   16  the folder: its time of creation, and its inode
//       32    4  length of path, up to 4096
//       36       path: of the folder when this was written, absolute. The file ends with it
struct WalHome {
  static constexpr size_t kHeader = 36;
  static constexpr size_t kMaxPath = 4096;
  static constexpr size_t kMaxSize = kHeader + kMaxPath;
  static constexpr uint32_t kVersion = 1;

  DirectoryId directory;
  std::string path;

  // Returns what a database's file says now. Not known(): there is no such folder on this machine.
  static WalHome Of(const std::string& database);

  std::string Encode() const;
  // NotSupported: of another version; Corruption: anything else but such a file. `file` is for
  // messages.
  static Status Decode(const Slice& bytes, const std::string& file, WalHome* result);

  // Returns whether this is the folder of another database.
  bool IsOtherThan(const std::string& database) const;
  // Returns whether the folder, or another one with its identity, is at its path.
  bool IsThere() const;
};

// Reads the file in a wal_dir, of at most WalHome::kMaxSize bytes. NotFound: there is none.
IOStatus ReadWalHome(FileSystem* fs, const std::string& wal_dir, WalHome* result);

// Returns whether the file in a wal_dir says that it is this database's.
bool IsWalDirOf(FileSystem* fs, const std::string& wal_dir, const std::string& database);

// Writes the file, durably.
IOStatus WriteWalHome(FileSystem* fs, const std::string& wal_dir, const std::string& database);

// Checks that the stubs in a wal_dir are this database's, as far as a file says. InvalidArgument:
// they are those of another one. `device` is for messages.
IOStatus CheckWalHome(FileSystem* fs, const std::string& wal_dir, const std::string& database,
                      const std::string& device);

// Makes a wal_dir the one of this database, durably, if there are no stubs of another's in it.
IOStatus TakeWalDir(FileSystem* fs, const std::string& wal_dir, const std::string& database,
                    const std::string& device);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
