// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/known_sst.h"

#include <algorithm>
#include <memory>

#include "db/version_set.h"
#include "plugin/blob_hybrid/properties.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// One byte of so many, at most, that SSTs have besides keys and values is not counted as data of
// the user.
constexpr uint64_t kBesides = 10;

// Indexes, filters and padding are left out, but for what small records need of them. Of a
// compressed file they are not known.
uint64_t UserBytesOf(uint64_t file_bytes, const TableProperties& properties) {
  const uint64_t trailers = properties.num_entries * kNumInternalBytes;
  const uint64_t records = properties.raw_key_size + properties.raw_value_size;
  const uint64_t raw = records - std::min(records, trailers);
  return std::clamp(raw, file_bytes - file_bytes / kBesides, file_bytes);
}

// What the MANIFEST has of it.
SstInfo InfoOf(const FileMetaData& file) {
  SstInfo info;
  info.number = file.fd.GetNumber();
  info.bytes = file.fd.GetFileSize();
  info.user_bytes = info.bytes;
  info.oldest_blob = file.oldest_blob_file_number;
  info.keys = std::make_shared<const KeyRange>(
      KeyRange{file.smallest.user_key().ToString(), file.largest.user_key().ToString()});
  return info;
}

SketchPtr NoSample() {
  auto sketch = std::make_shared<Sketch>();
  sketch->threshold = UINT64_MAX;  // lowers that of no other SST
  return sketch;
}

}  // namespace

Status ReadSst(const Version& version, const FileMetaData& file, KnownSst* sst) {
  // The properties in FileMetaData are there only for some files after a reopen.
  std::shared_ptr<const TableProperties> properties;
  const Status s = version.GetTableProperties(ReadOptions(), &properties, &file);
  if (!s.ok()) {
    return s;
  }
  const UserCollectedProperties& ours = properties->user_collected_properties;
  *sst = KnownSst();
  sst->info = InfoOf(file);
  sst->info.user_bytes = UserBytesOf(sst->info.bytes, *properties);
  sst->info.entries = properties->num_entries;
  sst->info.deletions = properties->num_deletions;
  sst->info.range_deletions = properties->num_range_deletions;
  sst->info.medium_bytes = MediumBytesOf(ours);
  sst->info.references = ReferencesOf(ours);
  sst->info.sketch = SketchOf(ours);
  sst->says_all = sst->info.references != nullptr && SaysAll(ours);
  sst->covers = sst->info.range_deletions > 0;
  return s;
}

KnownSst UnreadSst(const FileMetaData& file) {
  KnownSst sst;
  sst.info = InfoOf(file);
  sst.info.unread = true;
  sst.info.sketch = NoSample();
  return sst;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
