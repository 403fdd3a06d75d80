// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What logs and SSTs consist of, and how one names the other's.

#pragma once

#include <cstdint>

#include "db/dbformat.h"
#include "rocksdb/slice.h"
#include "rocksdb/types.h"
#include "util/xxhash.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The how-manieth entry of a segment, from 0. What consumes a sequence number counts: range
// deletions too.
using Ordinal = uint32_t;

// An entry of a log or of an SST.
struct Entry {
  // The entry's sequence number; in a log it is `batch` plus the index in the batch.
  SequenceNumber sequence = 0;
  // The first sequence number of the write batch, in a log.
  SequenceNumber batch = 0;
  // Never one of kTypeColumnFamily...: those are mapped to the plain type.
  ValueType type = kTypeValue;
  // The user key, with its timestamp if there is one.
  Slice key;
  Slice value;
};

// XXH3, 64 bits, of type, key and value: the two lengths are in it, so that no two split alike.
inline uint64_t FingerprintOf(ValueType type, const Slice& key, const Slice& value) {
  const uint64_t head[3] = {static_cast<uint64_t>(type), key.size(),
                            XXH3_64bits(key.data(), key.size())};
  return XXH3_64bits_withSeed(value.data(), value.size(), XXH3_64bits(head, sizeof(head)));
}

struct Reference {
  // Id of the segment, which is never used again in a database.
  uint64_t segment = 0;
  Ordinal ordinal = 0;
  // The SST has the sequence number of the batch (WritePrepared), not of the entry.
  bool of_batch = false;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
