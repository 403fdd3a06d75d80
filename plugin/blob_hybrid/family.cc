// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/family.h"

#include <algorithm>
#include <memory>

#include "db/blob/blob_file_meta.h"
#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "db/job_context.h"
#include "db/version_set.h"
#include "plugin/blob_hybrid/compat.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// Null if it has been dropped. Requires the database's mutex.
ColumnFamilyData* Find(DBImpl* db, uint32_t number) {
  return db->GetVersionSet()->GetColumnFamilySet()->GetColumnFamily(number);
}

}  // namespace

HeldFamily::HeldFamily(DBImpl* db, uint32_t number) : db_(db) {
  InstrumentedMutexLock lock(db->mutex());
  ColumnFamilyData* const data = Find(db, number);
  if (data != nullptr) {
    data->Ref();
  }
  handle_.SetCFD(data);
}

// Does what the end of a handle does, in this thread.
HeldFamily::~HeldFamily() {
  if (data() == nullptr) {
    return;
  }
  // What may be freed with the family's data, and not under the mutex.
  std::unique_ptr<const ColumnFamilyOptions> last;
  JobContext files(/*_job_id=*/0);
  {
    InstrumentedMutexLock lock(db_->mutex());
    const bool dropped = data()->IsDropped();
    if (dropped) {
      last = std::make_unique<const ColumnFamilyOptions>(data()->initial_cf_options());
    }
    if (data()->UnrefAndTryDelete() && dropped) {
      db_->FindObsoleteFiles(&files, /*force=*/false, /*no_full_scan=*/true);
    }
  }
  if (files.HaveSomethingToDelete()) {
    db_->PurgeObsoleteFiles(files);
  }
  files.Clean();
}

HeldVersion::HeldVersion(DBImpl* db, ColumnFamilyData* family) : db_(db) {
  InstrumentedMutexLock lock(db->mutex());
  version_ = family->current();
  version_->Ref();
}

HeldVersion::~HeldVersion() {
  InstrumentedMutexLock lock(db_->mutex());
  version_->Unref();
}

ColumnFamilyData* DataOf(ColumnFamilyHandle* handle) {
  return static_cast<ColumnFamilyHandleImpl*>(handle)->cfd();
}

BlobInfo BlobInfoOf(const BlobFileMetaData& meta) {
  BlobInfo info;
  info.number = meta.GetBlobFileNumber();
  info.file_bytes = meta.GetBlobFileSize();
  info.bytes = meta.GetTotalBlobBytes();
  info.garbage_bytes = meta.GetGarbageBlobBytes();
  return info;
}

uint64_t FilesVersionOf(DBImpl* db, uint32_t family) {
  InstrumentedMutexLock lock(db->mutex());
  ColumnFamilyData* const data = Find(db, family);
  return data == nullptr ? 0 : data->current()->GetVersionNumber();
}

FamilyInfo FamilyInfoOf(DBImpl* db, ColumnFamilyData* family) {
  InstrumentedMutexLock lock(db->mutex());
  const VersionStorageInfo& storage = *family->current()->storage_info();
  FamilyInfo info;
  info.has_blobs = !storage.GetBlobFiles().empty();
  info.last_level = std::max(storage.num_non_empty_levels() - 1, 0);
  const MutableCFOptions& options = LatestOptionsOf(*family);
  info.min_blob_size = options.min_blob_size;
  info.memtable_bytes = options.write_buffer_size * options.max_write_buffer_number;
  info.compacts = !options.disable_auto_compactions;
  info.goes_by_levels = ImmutableOf(*family).compaction_style == kCompactionStyleLevel &&
                        options.preclude_last_level_data_seconds == 0;
  return info;
}

std::vector<BlobInfo> BlobsOf(DBImpl* db, ColumnFamilyData* family) {
  const HeldVersion version(db, family);
  const auto& metas = version->storage_info()->GetBlobFiles();
  std::vector<BlobInfo> blobs;
  blobs.reserve(metas.size());
  for (const auto& meta : metas) {
    blobs.push_back(BlobInfoOf(*meta));
  }
  return blobs;
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

bool AreFree(DBImpl* db, ColumnFamilyData* family, const std::vector<SstInfo>& ssts,
             int output_level) {
  InstrumentedMutexLock lock(db->mutex());
  const VersionStorageInfo& storage = *family->current()->storage_info();
  const InternalKeyComparator& comparator = family->internal_comparator();
  const InternalKey* smallest = nullptr;
  const InternalKey* largest = nullptr;
  for (const SstInfo& sst : ssts) {
    const auto location = storage.GetFileLocation(sst.number);
    if (!location.IsValid() || location.GetLevel() != sst.level) {
      return false;
    }
    const FileMetaData& file = *storage.LevelFiles(sst.level)[location.GetPosition()];
    if (file.being_compacted) {
      return false;
    }
    if (smallest == nullptr || comparator.Compare(file.smallest, *smallest) < 0) {
      smallest = &file.smallest;
    }
    if (largest == nullptr || comparator.Compare(file.largest, *largest) > 0) {
      largest = &file.largest;
    }
  }
  std::vector<FileMetaData*> overlapping;
  storage.GetOverlappingInputs(output_level, smallest, largest, &overlapping);
  return std::none_of(overlapping.begin(), overlapping.end(),
                      [](const FileMetaData* file) { return file->being_compacted; });
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
