// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/digest.h"

#include <algorithm>

#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

constexpr uint32_t kVersion = 1;

bool GetPoint(Slice* bytes, Digest::Point* point) {
  Slice key;
  if (!GetLengthPrefixedSlice(bytes, &key) || !GetVarint64(bytes, &point->table_bytes) ||
      !GetVarint64(bytes, &point->hot_bytes)) {
    return false;
  }
  point->key = key.ToString();
  return true;
}

bool GetAmounts(Slice* bytes, Amounts* amounts) {
  return GetVarint64(bytes, &amounts->records) && GetVarint64(bytes, &amounts->raw_bytes) &&
         GetVarint64(bytes, &amounts->sizes) && GetVarint64(bytes, &amounts->table_bytes) &&
         GetVarint64(bytes, &amounts->hot_keys) && GetVarint64(bytes, &amounts->hot_bytes);
}

bool Ascending(const Digest& digest) {
  const auto after = [](const Digest::Point& a, const Digest::Point& b) {
    return a.key >= b.key || a.table_bytes > b.table_bytes || a.hot_bytes > b.hot_bytes;
  };
  const std::vector<Digest::Point>& points = digest.points;
  return points.front().table_bytes == 0 && points.front().hot_bytes == 0 &&
         std::adjacent_find(points.begin(), points.end(), after) == points.end() &&
         points.back().key <= digest.last &&
         points.back().table_bytes <= digest.total.table_bytes &&
         points.back().hot_bytes <= digest.total.hot_bytes;
}

uint64_t InProportion(uint64_t amount, uint64_t part, uint64_t whole) {
  return whole == 0 ? 0
                    : static_cast<uint64_t>(static_cast<double>(amount) *
                                            static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

void Amounts::Add(const Amounts& other) {
  records += other.records;
  raw_bytes += other.raw_bytes;
  sizes += other.sizes;
  table_bytes += other.table_bytes;
  hot_keys += other.hot_keys;
  hot_bytes += other.hot_bytes;
}

std::string Digest::Encode() const {
  std::string bytes;
  PutFixed32(&bytes, kVersion);
  PutVarint64Varint64(&bytes, total.records, total.raw_bytes);
  PutVarint64Varint64(&bytes, total.sizes, total.table_bytes);
  PutVarint64Varint64(&bytes, total.hot_keys, total.hot_bytes);
  PutLengthPrefixedSlice(&bytes, last);
  PutVarint64(&bytes, points.size());
  for (const Point& point : points) {
    PutLengthPrefixedSlice(&bytes, point.key);
    PutVarint64Varint64(&bytes, point.table_bytes, point.hot_bytes);
  }
  return bytes;
}

bool Digest::Decode(Slice bytes, Digest* result) {
  uint32_t version;
  Slice last;
  uint64_t count;
  if (!GetFixed32(&bytes, &version) || version != kVersion || !GetAmounts(&bytes, &result->total) ||
      !GetLengthPrefixedSlice(&bytes, &last) || !GetVarint64(&bytes, &count) || count == 0 ||
      count > bytes.size()) {
    return false;
  }
  result->last = last.ToString();
  result->points.resize(count);
  for (Point& point : result->points) {
    if (!GetPoint(&bytes, &point)) {
      return false;
    }
  }
  return bytes.empty() && Ascending(*result);
}

const Digest::Point& Digest::PointBefore(const Slice& key) const {
  const auto after =
      std::upper_bound(points.begin(), points.end(), key,
                       [](const Slice& a, const Point& b) { return a.compare(b.key) < 0; });
  return after == points.begin() ? *after : *std::prev(after);
}

Amounts Digest::From(const Slice& begin) const {
  const Point& point = PointBefore(begin);
  Amounts rest;
  rest.table_bytes = total.table_bytes - point.table_bytes;
  rest.hot_bytes = total.hot_bytes - point.hot_bytes;
  rest.hot_keys = InProportion(total.hot_keys, rest.hot_bytes, total.hot_bytes);
  rest.records = InProportion(total.records, rest.table_bytes, total.table_bytes);
  rest.raw_bytes = InProportion(total.raw_bytes, rest.table_bytes, total.table_bytes);
  rest.sizes = InProportion(total.sizes, rest.table_bytes, total.table_bytes);
  return rest;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
