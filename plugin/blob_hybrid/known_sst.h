// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What is known of an SST: what it says of itself in its properties, and what RocksDB says of it.

#pragma once

#include "plugin/blob_hybrid/files.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class Version;
struct FileMetaData;

namespace blob_hybrid {

struct KnownSst {
  SstInfo info;
  bool says_all = false;
  bool covers = false;   // and info.covered is not known yet
  bool counted = false;  // by a Surveyor
};

// Reads the properties of an SST of a version.
Status ReadSst(const Version& version, const FileMetaData& file, KnownSst* sst);

// An SST whose properties cannot be read. Its bytes count as data, and what it refers to is what
// RocksDB's oldest_blob_file_number allows. It has no part in the sample of keys: the estimate goes
// by the others.
KnownSst UnreadSst(const FileMetaData& file);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
