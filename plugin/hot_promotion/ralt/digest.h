// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Amounts of records.
struct Amounts {
  uint64_t records = 0;
  uint64_t raw_bytes =
      0;               // their keys of the table and values, as they are before prefixes are cut
  uint64_t sizes = 0;  // of what they stand for: key and value
  // The same, of records whose key is not hot by an older run; so the sums over all runs count no
  // hot key twice.
  uint64_t table_bytes = 0;
  uint64_t hot_keys = 0;   // those of them that are hot
  uint64_t hot_bytes = 0;  // and the sizes of what these stand for

  void Add(const Amounts& other);
};

// Digest: what is known of a file without reading its records: a user property of the SST.
//
//   size      field
//          4  version, 1, little-endian
//   varint64  records, raw_bytes, sizes, table_bytes, hot_keys, hot_bytes: one behind the other
//   string    the last key
//   varint64  number of points, at least one
//             and for each of these: string key, varint64 table_bytes, varint64 hot_bytes before it
//
// A string is a varint32 length and the bytes. The first point is at the first record, with nothing
// before it; keys and amounts grow from point to point.
struct Digest {
  struct Point {
    std::string key;
    uint64_t table_bytes = 0;
    uint64_t hot_bytes = 0;
  };

  Amounts total;
  std::string last;
  std::vector<Point> points;

  std::string Encode() const;
  // False: the bytes are no digest, or one of another version.
  static bool Decode(Slice bytes, Digest* result);

  // The amounts of the records from `begin` on; those that the points do not have are in
  // proportion.
  Amounts From(const Slice& begin) const;

 private:
  // The last point at or before the key, or the first one.
  const Point& PointBefore(const Slice& key) const;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
