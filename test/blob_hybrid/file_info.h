// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Files of a family that are nowhere, for tests of pure functions.

#pragma once

#include "plugin/blob_hybrid/files.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

inline SstInfo Sst(uint64_t number, int level, uint64_t entries, uint64_t oldest_blob) {
  SstInfo sst;
  sst.number = number;
  sst.level = level;
  sst.bytes = sst.user_bytes = entries * 10;
  sst.entries = entries;
  sst.oldest_blob = oldest_blob;
  return sst;
}

inline BlobInfo Blob(uint64_t number, uint64_t bytes, uint64_t garbage) {
  BlobInfo blob;
  blob.number = number;
  blob.file_bytes = bytes + 62;
  blob.bytes = bytes;
  blob.garbage_bytes = garbage;
  return blob;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
