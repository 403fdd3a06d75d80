// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/survey.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "db/blob/blob_file_meta.h"
#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "db/version_set.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/properties.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// One byte of so many, at most, that SSTs have besides keys and values is not counted as data of the user.
constexpr uint64_t kBesides = 10;

std::vector<BlobInfo> BlobsOf(const VersionStorageInfo& storage) {
  std::vector<BlobInfo> blobs;
  for (const auto& meta : storage.GetBlobFiles()) {
    BlobInfo info;
    info.number = meta->GetBlobFileNumber();
    info.file_bytes = meta->GetBlobFileSize();
    info.bytes = meta->GetTotalBlobBytes();
    info.garbage_bytes = meta->GetGarbageBlobBytes();
    blobs.push_back(info);
  }
  return blobs;
}

// Indexes, filters and padding are left out, but for what small records need of them. Of a compressed file they are not known.
uint64_t UserBytesOf(uint64_t file_bytes, const TableProperties& properties) {
  const uint64_t trailers = properties.num_entries * kNumInternalBytes;
  const uint64_t records = properties.raw_key_size + properties.raw_value_size;
  const uint64_t raw = records - std::min(records, trailers);
  return std::clamp(raw, file_bytes - file_bytes / kBesides, file_bytes);
}

std::shared_ptr<const KeyRange> KeysOf(const FileMetaData& file) {
  return std::make_shared<const KeyRange>(
      KeyRange{file.smallest.user_key().ToString(), file.largest.user_key().ToString()});
}

}  // namespace

void Surveyor::Thin(std::map<uint64_t, Counts>* counts) {
  std::vector<SketchPtr*> sketches;
  for (auto& [number, of_sst] : *counts) {
    sketches.push_back(&of_sst.sketch);
  }
  ThinTogether(sketches);
}

uint64_t Survey::max_sst_number() const {
  uint64_t result = 0;
  for (const SstInfo& sst : ssts) {
    result = std::max(result, sst.number);
  }
  return result;
}

Layout LayoutOf(DBImpl* db, ColumnFamilyData* family) {
  SuperVersion* version = db->GetAndRefSuperVersion(family);
  const VersionStorageInfo& storage = *version->current->storage_info();
  Layout layout;
  layout.blobs = BlobsOf(storage);
  layout.last_level = std::max(storage.num_non_empty_levels() - 1, 0);
  const MutableCFOptions& options = version->mutable_cf_options;
  layout.min_blob_size = options.min_blob_size;
  layout.memtable_bytes = options.write_buffer_size * options.max_write_buffer_number;
  layout.compacts = !options.disable_auto_compactions;
  layout.goes_by_levels = ImmutableOf(*family).compaction_style == kCompactionStyleLevel &&
                          options.preclude_last_level_data_seconds == 0;
  db->ReturnAndCleanupSuperVersion(family, version);
  return layout;
}

std::set<uint64_t> InCompaction(DBImpl* db, ColumnFamilyData* family) {
  std::set<uint64_t> numbers;
  InstrumentedMutexLock lock(db->mutex());
  const VersionStorageInfo& storage = *family->current()->storage_info();
  for (int level = 0; level < storage.num_levels(); level++) {
    for (const FileMetaData* file : storage.LevelFiles(level)) {
      if (file->being_compacted) {
        numbers.insert(file->fd.GetNumber());
      }
    }
  }
  return numbers;
}

Status Surveyor::Take(DBImpl* db, ColumnFamilyData* family, Survey* survey) {
  std::lock_guard<std::mutex> lock(mutex_);
  *survey = Survey();
  SuperVersion* version = db->GetAndRefSuperVersion(family);
  const VersionStorageInfo& storage = *version->current->storage_info();
  std::map<uint64_t, Counts> known;
  Status s;
  for (int level = 0; s.ok() && level < storage.num_levels(); level++) {
    for (const FileMetaData* file : storage.LevelFiles(level)) {
      SstInfo sst;
      sst.number = file->fd.GetNumber();
      sst.level = level;
      sst.bytes = file->fd.GetFileSize();
      sst.oldest_blob = file->oldest_blob_file_number;
      // Those of FileMetaData are there only for some files after a reopen.
      auto counts = known_.find(sst.number);
      if (counts == known_.end()) {
        std::shared_ptr<const TableProperties> properties;
        s = version->current->GetTableProperties(ReadOptions(), &properties, file);
        if (!s.ok()) {
          break;
        }
        counts =
            known_
                .emplace(sst.number,
                         Counts{UserBytesOf(sst.bytes, *properties), properties->num_entries,
                                properties->num_deletions, properties->num_range_deletions,
                                MediumBytesOf(properties->user_collected_properties), KeysOf(*file),
                                ReferencesOf(properties->user_collected_properties),
                                SketchOf(properties->user_collected_properties)})
                .first;
      }
      known.insert(*counts);
      sst.user_bytes = counts->second.user_bytes;
      sst.entries = counts->second.entries;
      sst.deletions = counts->second.deletions;
      sst.range_deletions = counts->second.range_deletions;
      sst.medium_bytes = counts->second.medium_bytes;
      sst.keys = counts->second.keys;
      sst.references = counts->second.references;
      survey->ssts.push_back(sst);
      survey->last_level = level;
    }
  }
  survey->blobs = BlobsOf(storage);
  survey->base_level = std::max(storage.base_level(), 1);
  survey->comparator = family->user_comparator();
  db->ReturnAndCleanupSuperVersion(family, version);
  if (!s.ok()) {
    return s;
  }
  Thin(&known);
  for (SstInfo& sst : survey->ssts) {
    sst.sketch = known.at(sst.number).sketch;
  }
  known_ = std::move(known);
  return s;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
