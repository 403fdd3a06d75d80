// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A sample of the keys of each SST, so that it is known how much of a family is overwritten or
// deleted in a level above.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

constexpr uint64_t kMostBytes = uint64_t{1} << 48;  // in a number of bytes that is read from an SST

// The entries of an SST whose keys have a hash below a threshold: of all SSTs the same keys, so
// that of a key that is sampled all entries are (a theta sketch).
struct Sketch {
  struct Entry {
    uint64_t hash = 0;
    uint64_t blob_bytes = 0;  // of its record in a blob file; 0: it is in the SST
    uint64_t sst_bytes = 0;   // of user key and value in the SST
    bool deletion = false;
  };

  uint64_t threshold = 0;
  // The entries in the order of the SST: the newest one of a key first, then one for all older ones
  // of the key.
  std::vector<Entry> entries;
};

using SketchPtr = std::shared_ptr<const Sketch>;

// Makes the sketch of one SST. Not thread-safe.
class SketchBuilder {
 public:
  void Add(const Slice& user_key, uint64_t blob_bytes, uint64_t sst_bytes, bool deletion);
  // See FORMAT.md.
  std::string Finish() const;

 private:
  // Lowers the threshold so that half of the entries remain.
  void Thin();

  Sketch sketch_{UINT64_MAX / kLeastShare, {}};
  static constexpr uint64_t kLeastShare = 32;  // one key of so many, at most
};

// Decodes a property of an SST. Null if the text is no sketch.
SketchPtr DecodeSketch(const Slice& text);

constexpr size_t kMostKept = 4 * 65536;  // entries of a family's sketches, in memory

// Thins sketches that have more than kMostKept entries together to about as many as Combine() uses.
// So they take no more memory and time, however large the family is. Null ones are passed over.
void ThinTogether(const std::vector<SketchPtr*>& sketches);

// What is known of entries by the sketches of all SSTs. Those of deletions count in SSTs.
struct Sampled {
  uint64_t entries = 0;
  uint64_t keys = 0;               // distinct ones
  uint64_t blob_bytes = 0;         // of all entries
  uint64_t hidden_blob_bytes = 0;  // of those that a newer entry hides
  uint64_t live_blob_bytes = 0;    // of keys and values of the others
  uint64_t sst_bytes = 0;          // of all entries
  uint64_t hidden_sst_bytes = 0;   // of those that a newer entry hides, and of deletions
  uint64_t live_sst_bytes = 0;     // of the others whose values are there
};

// Combines sketches from the newest SST to the oldest one: those of level 0 by age, then by level.
Sampled Combine(const std::vector<const Sketch*>& sketches);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
