// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/databases.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "db/version_set.h"
#include "file/filename.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/family.h"
#include "plugin/blob_hybrid/gc_picker.h"
#include "plugin/blob_hybrid/gc_scheduler.h"
#include "table/unique_id_impl.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// The folder of a compaction's inputs: a family has a number only.
std::string FolderOf(const CompactionFilter::Context& compaction) {
  if (compaction.input_table_properties.empty()) {
    return std::string();
  }
  const std::string& path = compaction.input_table_properties.begin()->first;
  return path.substr(0, path.rfind('/'));
}

// Tells whether the family has this SST, and it is being compacted. Copies of a database have the
// same SSTs, but compact others.
bool Compacts(const VersionStorageInfo& storage, uint64_t number,
              const TableProperties& properties) {
  const FileMetaData* file = storage.GetFileMetaDataByNumber(number);
  UniqueId64x2 id;
  return file != nullptr && file->being_compacted &&
         (file->unique_id == kNullUniqueId64x2 ||
          !GetSstInternalUniqueId(properties.db_id, properties.db_session_id,
                                  properties.orig_file_number, &id)
               .ok() ||
          file->unique_id == id);
}

// Tells whether it is a compaction of this database.
bool IsOf(DBImpl* db, const CompactionFilter::Context& compaction) {
  InstrumentedMutexLock lock(db->mutex());
  ColumnFamilyData* const family =
      db->GetVersionSet()->GetColumnFamilySet()->GetColumnFamily(compaction.column_family_id);
  if (family == nullptr) {
    return false;
  }
  const VersionStorageInfo& storage = *family->current()->storage_info();
  const auto& inputs = compaction.input_table_properties;
  return std::all_of(inputs.begin(), inputs.end(), [&](const auto& input) {
    return Compacts(storage, TableFileNameToNumber(input.first), *input.second);
  });
}

}  // namespace

Databases* Databases::Instance() {
  static Databases* const instance = new Databases();  // outlives every database
  return instance;
}

std::shared_ptr<GcFamily> Databases::Notice(DB* db, uint32_t family) {
  auto* impl = static_cast<DBImpl*>(db);
  std::shared_ptr<GcScheduler> scheduler;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& entry = schedulers_[db];
    if (entry == nullptr) {
      entry = std::make_shared<GcScheduler>(impl);
    }
    scheduler = entry;
  }
  bool added = false;
  GcFamily* const entered = scheduler->Enter(family, &added);
  if (added) {
    const HeldFamily held(impl, family);
    if (held) {
      std::lock_guard<std::mutex> lock(mutex_);
      for (const DbPath& path : ImmutableOf(*held.data()).cf_paths) {
        folders_[std::make_pair(path.path, family)].insert(impl);
      }
    }
  }
  return {scheduler, entered};
}

void Databases::Forget(DB* db) {
  std::shared_ptr<GcScheduler> scheduler;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = schedulers_.find(db);
    if (it == schedulers_.end()) {
      return;
    }
    scheduler = std::move(it->second);
    schedulers_.erase(it);
    for (auto folder = folders_.begin(); folder != folders_.end();) {
      folder->second.erase(static_cast<DBImpl*>(db));
      folder = folder->second.empty() ? folders_.erase(folder) : std::next(folder);
    }
  }
  scheduler->Stop();
}

std::shared_ptr<GcScheduler> Databases::Find(DB* db) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = schedulers_.find(db);
  return it == schedulers_.end() ? nullptr : it->second;
}

std::pair<DBImpl*, std::shared_ptr<GcScheduler>> Databases::FindByFolder(
    const std::string& folder, uint32_t family, const std::function<bool(DBImpl*)>& is_it) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = folders_.find(std::make_pair(folder, family));
  if (it == folders_.end()) {
    return {nullptr, nullptr};
  }
  // One alone is asked, too: the database that is meant may not have been entered yet, as RocksDB
  // tells nobody of CompactFiles().
  std::vector<DBImpl*> found;
  std::copy_if(it->second.begin(), it->second.end(), std::back_inserter(found), is_it);
  // Copies that compact the same SSTs at the same time cannot be told apart: nothing is moved then.
  DBImpl* const db = found.size() == 1 ? found.front() : nullptr;
  const auto entry = schedulers_.find(db);
  return {db, entry == schedulers_.end() ? nullptr : entry->second};
}

bool Databases::IsCrowdedFamily(const Env* env, const std::string& folder, uint32_t family) {
  const auto [db, scheduler] =
      FindByFolder(folder, family, [env](DBImpl* candidate) { return candidate->GetEnv() == env; });
  const GcFamily* found = scheduler == nullptr ? nullptr : scheduler->Find(family);
  return found != nullptr && found->is_crowded();
}

bool Databases::FindBlobFiles(const CompactionFilter::Context& compaction,
                              const BlobHybridOptions& options, BlobFiles* files) {
  const uint32_t family = compaction.column_family_id;
  const auto [db, scheduler] = FindByFolder(
      FolderOf(compaction), family, [&](DBImpl* candidate) { return IsOf(candidate, compaction); });
  if (scheduler == nullptr) {
    return false;
  }
  // The compaction that asks keeps the database open, the family's data, and the blob files that
  // its inputs refer to.
  const HeldFamily held(db, family);
  if (!held) {
    return false;
  }
  ColumnFamilyData* data = held.data();
  files->source = data->blob_source();
  files->errors = scheduler->errors();
  files->logger = ImmutableOf(*data).logger;
  // Files that are mapped into memory are not read into buffers.
  files->readahead_size = ImmutableOf(*data).allow_mmap_reads ? 0 : options.readahead_size;
  files->family = family;
  const FamilyInfo info = FamilyInfoOf(db, data);
  const bool has_medium = ClassesOf(options).medium > 0;
  if (has_medium) {
    files->large_size = info.min_blob_size;
    files->merge_level = MergeLevelOf(options.merge_level, info.last_level);
  }
  const std::vector<BlobInfo> blobs = BlobsOf(db, data);
  GcFamily* const found = scheduler->Find(family);
  const GcProgress::Aim aim = found == nullptr ? GcProgress::Aim() : found->progress().AimOf(blobs);
  if (aim.victims.empty() && (!has_medium || blobs.empty())) {
    return false;  // there may be many
  }
  for (const BlobInfo& blob : blobs) {  // by number
    const bool move = aim.victims.count(blob.number) > 0;
    files->files.emplace_hint(files->files.end(), blob.number,
                              BlobFiles::File{blob.file_bytes, move, move && aim.medium});
  }
  return true;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
