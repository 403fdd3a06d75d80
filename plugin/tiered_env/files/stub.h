// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What tiered_env writes beside the files themselves: pure codecs, no I/O. FORMAT.md tells how the
// pieces fit. All integers are little-endian.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The plain file under a file's own name in the database directory, when the file itself is in
// another tier.
//
//   offset size  field
//        0    n  one record of RocksDB's log format (type kFullType) that holds a write batch with
//                an unknown tag, so that RocksDB without the plugin can take it neither for a log
//                nor for a MANIFEST; it is no SST either. Its body:
//                  8 sequence number 0, 4 count 1, 1 tag 0xEE, then
//                  8 magic "RKTTIERS", 4 version,
//                  2 length and name of the tier,
//                  2 length and path of the file below the tier's directory,
//                  2 length and the tier's directory as it was, for people
//        n       zeros up to kSize
struct Stub {
  static constexpr size_t kSize = 2048;
  static constexpr uint32_t kVersion = 1;

  std::string tier;
  std::string path;
  std::string directory;  // of the tier, when it was written; cut to what has room

  std::string Encode() const;
  // Corruption also for a path that is no name in a folder. The zeros may be missing: power failed
  // before they were durable. NotFound: not a stub; NotSupported: of another version; Corruption:
  // damaged. `name` is for messages.
  static Status Decode(const Slice& bytes, const std::string& name, Stub* result);
};

// A text file: TIERS in each directory that has stubs, OWNER in each folder of a tier. Both say
// which directory the files in the folder belong to.
//
//   rocktier tiered_env 2
//   folder <its name in the tiers>
//   directory <path; % and line ends as %25 and %0a>
//   opening <id of the last opening for writing, 32 hexadecimal digits>
//   tier <name> <id of the opening that its OWNER is known to have>
//   <masked CRC-32C of all that is above, 8 hexadecimal digits>
//
// TIERS has a line `tier` of each tier with a folder, several if one is being written; OWNER that
// of its own tier.
//
// Version 1 has the name and the path alone in the second and the third line, then the checksum.
struct Identity {
  static constexpr int kVersion = 2;

  int version = kVersion;
  std::string folder;
  std::string directory;
  std::string opening;                                 // since version 2
  std::map<std::string, std::set<std::string>> tiers;  // ids by name; as well

  std::string Encode() const;
  // Corruption, NotSupported: as above.
  static Status Decode(const Slice& bytes, const std::string& name, Identity* result);
};

// Whether it is a name in a directory, and of nothing outside it.
bool IsName(const std::string& text);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
