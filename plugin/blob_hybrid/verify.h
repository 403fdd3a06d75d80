// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tells whether the blob files of a database are what its SSTs and its MANIFEST say.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

struct BlobCheck {
  uint64_t ssts = 0;
  uint64_t blob_files = 0;
  uint64_t values = 0;      // in blob files
  uint64_t references = 0;  // in SSTs
  uint64_t garbage = 0;     // values, as the MANIFEST has it
  // Values that no SST refers to and that the MANIFEST does not count as garbage. It is no error:
  // RocksDB does not count when SSTs are dropped as a whole (DeleteFilesInRange); but such a value
  // stays as long as its file has others.
  uint64_t uncounted = 0;
  uint64_t problem_count = 0;
  std::vector<std::string> problems;  // the first ones, each with the file
};

// Reads all SSTs and all blob files of a database, which must not be written to meanwhile. Problems
// are: a reference to a file, a place or a value that is not there or is another key's; a checksum
// that is wrong; a blob file that has not as many values or bytes as the MANIFEST says; more
// references to a file than the MANIFEST knows, or an SST that refers to an older file than it
// knows: values could be deleted that are live. Takes 24 bytes of memory for each value in a blob
// file. Families by name. Errors: those of LookAtFamilies(), and of reading metadata.
// `progress` may be null; it is called by the calling thread, with the bytes of a family's files
// that are read, and of all of them.
Status VerifyBlobs(const std::string& path, std::map<std::string, BlobCheck>* families,
                   const std::function<void(uint64_t done, uint64_t total)>& progress = nullptr);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
