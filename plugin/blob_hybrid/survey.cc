// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/survey.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "db/blob/blob_file_meta.h"
#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "db/version_set.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/properties.h"
#include "plugin/blob_hybrid/ranges.h"

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

void Surveyor::Know(uint64_t number, Counts counts) {
  if (counts.references != nullptr) {
    for (const auto& [blob, bytes] : *counts.references) {
      said_[blob] += bytes;
    }
  }
  known_.emplace(number, std::move(counts));
}

Status Surveyor::Cover(ColumnFamilyData* family, const SuperVersion& version,
                       const FileMetaData& file, SstInfo* sst) {
  if (sst->range_deletions == 0) {
    return Status::OK();
  }
  std::optional<uint64_t>* covered = &known_.at(sst->number).covered;
  if (!covered->has_value()) {
    const auto entries_of = [this](const FileMetaData& other) {
      return known_.at(other.fd.GetNumber()).entries;
    };
    uint64_t count = 0;
    const Status s = CountCovered(family, version, file, sst->level, entries_of, &count);
    if (!s.ok()) {
      return s;
    }
    *covered = count;
  }
  sst->covered = **covered;
  return Status::OK();
}

void Surveyor::Forget() {
  for (auto it = known_.begin(); it != known_.end();) {
    if (it->second.seen == surveys_) {
      ++it;
      continue;
    }
    if (it->second.references != nullptr) {
      for (const auto& [blob, bytes] : *it->second.references) {
        const auto said = said_.find(blob);
        said->second -= bytes;
        if (said->second == 0) {
          said_.erase(said);
        }
      }
    }
    it = known_.erase(it);
  }
}

void Surveyor::Thin() {
  std::vector<SketchPtr*> sketches;
  for (auto& [number, of_sst] : known_) {
    sketches.push_back(&of_sst.sketch);
  }
  ThinTogether(sketches);
}

void Surveyor::CorrectGarbage(std::vector<BlobInfo>* blobs) const {
  uint64_t unsaid = std::numeric_limits<uint64_t>::max();  // from this file on
  for (const auto& [number, of_sst] : known_) {
    if (!of_sst.says_all && of_sst.oldest_blob != kInvalidBlobFileNumber) {
      unsaid = std::min(unsaid, of_sst.oldest_blob);
    }
  }
  for (BlobInfo& blob : *blobs) {
    const auto said = said_.find(blob.number);
    const uint64_t bytes = said == said_.end() ? 0 : said->second;
    const uint64_t unreferred = blob.bytes - std::min(blob.bytes, bytes);
    if (blob.number < unsaid && blob.garbage_bytes < unreferred) {
      blob.garbage_bytes = unreferred;
      blob.corrected = true;
    }
  }
}

uint64_t Survey::max_sst_number() const {
  uint64_t result = 0;
  for (const SstInfo& sst : ssts) {
    result = std::max(result, sst.number);
  }
  return result;
}

uint64_t FilesVersionOf(DBImpl* db, ColumnFamilyData* family) {
  SuperVersion* version = db->GetAndRefSuperVersion(family);
  const uint64_t number = version->current->GetVersionNumber();
  db->ReturnAndCleanupSuperVersion(family, version);
  return number;
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
  surveys_++;
  SuperVersion* version = db->GetAndRefSuperVersion(family);
  const VersionStorageInfo& storage = *version->current->storage_info();
  Status s;
  std::vector<const FileMetaData*> files;
  for (int level = 0; s.ok() && level < storage.num_levels(); level++) {
    for (const FileMetaData* file : storage.LevelFiles(level)) {
      files.push_back(file);
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
        const UserCollectedProperties& ours = properties->user_collected_properties;
        const auto references = ReferencesOf(ours);
        Know(sst.number, Counts{UserBytesOf(sst.bytes, *properties), properties->num_entries,
                                properties->num_deletions, properties->num_range_deletions,
                                MediumBytesOf(ours), KeysOf(*file), references, SketchOf(ours),
                                references != nullptr && SaysAll(ours), sst.oldest_blob});
        counts = known_.find(sst.number);
      }
      counts->second.seen = surveys_;
      sst.user_bytes = counts->second.user_bytes;
      sst.entries = counts->second.entries;
      sst.deletions = counts->second.deletions;
      sst.range_deletions = counts->second.range_deletions;
      sst.medium_bytes = counts->second.medium_bytes;
      sst.keys = counts->second.keys;
      sst.references = counts->second.references;
      survey->ssts.push_back(std::move(sst));
      survey->last_level = level;
    }
  }
  for (size_t i = 0; s.ok() && i < files.size(); i++) {
    s = Cover(family, *version, *files[i], &survey->ssts[i]);
  }
  survey->blobs = BlobsOf(storage);
  survey->base_level = std::max(storage.base_level(), 1);
  survey->comparator = family->user_comparator();
  db->ReturnAndCleanupSuperVersion(family, version);
  if (!s.ok()) {
    return s;
  }
  Forget();
  Thin();
  for (SstInfo& sst : survey->ssts) {
    sst.sketch = known_.at(sst.number).sketch;
  }
  CorrectGarbage(&survey->blobs);
  return s;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
