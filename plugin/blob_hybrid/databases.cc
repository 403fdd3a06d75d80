// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/databases.h"

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "plugin/blob_hybrid/collector.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/policy.h"
#include "plugin/blob_hybrid/survey.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

ColumnFamilyData* DataOf(ColumnFamilyHandle* handle) {
  return static_cast<ColumnFamilyHandleImpl*>(handle)->cfd();
}

}  // namespace

Databases* Databases::Instance() {
  static Databases* const instance = new Databases();  // outlives every database
  return instance;
}

std::shared_ptr<Collector> Databases::Notice(DB* db, uint32_t family) {
  std::shared_ptr<Collector> collector;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& entry = collectors_[db];
    if (entry == nullptr) {
      entry = std::make_shared<Collector>(static_cast<DBImpl*>(db));
    }
    collector = entry;
  }
  bool added = false;
  if (!collector->Uses(family, &added)) {
    return nullptr;
  }
  if (added) {
    auto* impl = static_cast<DBImpl*>(db);
    const auto handle = impl->GetColumnFamilyHandleUnlocked(family);
    if (handle != nullptr) {
      std::lock_guard<std::mutex> lock(mutex_);
      for (const DbPath& path : ImmutableOf(*DataOf(handle.get())).cf_paths) {
        folders_[std::make_pair(path.path, family)].insert(impl);
      }
    }
  }
  return collector;
}

void Databases::Forget(DB* db) {
  std::shared_ptr<Collector> collector;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = collectors_.find(db);
    if (it == collectors_.end()) {
      return;
    }
    collector = std::move(it->second);
    collectors_.erase(it);
    for (auto folder = folders_.begin(); folder != folders_.end();) {
      folder->second.erase(static_cast<DBImpl*>(db));
      folder = folder->second.empty() ? folders_.erase(folder) : std::next(folder);
    }
  }
  collector->Stop();
}

std::shared_ptr<Collector> Databases::Find(DB* db) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = collectors_.find(db);
  return it == collectors_.end() ? nullptr : it->second;
}

std::pair<DBImpl*, std::shared_ptr<Collector>> Databases::FindByFolder(const std::string& folder,
                                                                       uint32_t family) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = folders_.find(std::make_pair(folder, family));
  DBImpl* const db = it == folders_.end() || it->second.size() > 1 ? nullptr : *it->second.begin();
  const auto entry = collectors_.find(db);
  return {db, entry == collectors_.end() ? nullptr : entry->second};
}

bool Databases::IsCrowdedFamily(const std::string& folder, uint32_t family) {
  const auto [db, collector] = FindByFolder(folder, family);
  return collector != nullptr && collector->IsCrowdedFamily(family);
}

bool Databases::FindBlobFiles(const std::string& folder, uint32_t family,
                              const BlobHybridOptions& options, BlobFiles* files) {
  const auto [db, collector] = FindByFolder(folder, family);
  if (collector == nullptr) {
    return false;
  }
  // The compaction that asks keeps the database open, the family's data, and the blob files that its inputs refer to.
  const auto handle = db->GetColumnFamilyHandleUnlocked(family);
  if (handle == nullptr) {
    return false;
  }
  ColumnFamilyData* data = DataOf(handle.get());
  files->source = data->blob_source();
  files->logger = ImmutableOf(*data).logger;
  // Files that are mapped into memory are not read into buffers.
  files->readahead_size = ImmutableOf(*data).allow_mmap_reads ? 0 : options.readahead_size;
  files->family = family;
  const Layout layout = LayoutOf(db, data);
  const bool has_medium = ClassesOf(options).medium > 0;
  if (has_medium) {
    files->large_size = layout.min_blob_size;
    files->merge_level = MergeLevelOf(options.merge_level, layout.last_level);
  }
  const Collector::Aim aim = collector->AimOf(family, layout.blobs);
  for (const BlobInfo& blob : layout.blobs) {
    const bool move = aim.victims.count(blob.number) > 0;
    files->files[blob.number] = {blob.file_bytes, move, move && aim.medium};
  }
  return !aim.victims.empty() || (has_medium && !layout.blobs.empty());
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
