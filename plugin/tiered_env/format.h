// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What tiered_env writes beside the files themselves: pure codecs, no I/O. FORMAT.md tells how the pieces
// fit. All integers are little-endian.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The plain file under a file's own name in the database directory, when the file itself is in another
// tier.
//
//   offset size  field
//        0    n  one record of RocksDB's log format (type kFullType) that holds a write batch with an unknown
//                tag, so that RocksDB without the plugin can take it neither for a log nor for a MANIFEST; it is
//                no SST either. Its body:
//                  8 sequence number 0, 4 count 1, 1 tag 0xEE, then 8 magic "RKTTIERS", 4 version,
//                  2 length and name of the tier, 2 length and path of the file below the tier's directory,
//                  2 length and the tier's directory as it was, for people
//        n       zeros up to kSize
struct Stub {
  static constexpr size_t kSize = 2048;
  static constexpr uint32_t kVersion = 1;

  std::string tier;
  std::string path;
  std::string directory;  // of the tier, when it was written; cut to what has room

  std::string Encode() const;
  // Corruption also for a path that is no name in a folder. The zeros may be missing: power failed before they were durable. NotFound: not a stub; NotSupported: of another version; Corruption: damaged. `name` is for messages.
  static Status Decode(const Slice& bytes, const std::string& name, Stub* result);
};

// A text file: TIERS in each directory that has stubs, OWNER in each folder of a tier. Both say which
// directory the files in the folder belong to.
//
//   rocktier tiered_env 1
//   <name of the folder in the tiers>
//   <path of the directory>
//   <masked CRC-32C of all that is above, 8 hexadecimal digits>
struct Identity {
  std::string folder;
  std::string directory;

  std::string Encode() const;
  // Corruption, NotSupported: as above.
  static Status Decode(const Slice& bytes, const std::string& name, Identity* result);
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
