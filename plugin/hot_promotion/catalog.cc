// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/catalog.h"

#include <mutex>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

void Catalog::Add(const FileId& file, const FileEntry& entry,
                  const std::shared_ptr<FileSystem>& file_system) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  files_[file] = entry;
  obsolete_.erase(file);
  file_systems_[entry.file_system] = file_system;
}

void Catalog::AddStored(const FileId& file, const FileEntry& entry) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  files_.emplace(file, entry);
}

bool Catalog::Find(const FileId& file, FileEntry* entry) const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto it = files_.find(file);
  if (it == files_.end()) {
    return false;
  }
  *entry = it->second;
  return true;
}

bool Catalog::NoteObsolete(const FileId& file) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const bool known = files_.count(file) > 0;
  if (known) {
    obsolete_.insert(file);
  }
  return known;
}

Catalog::Files Catalog::Obsolete() const {
  Files files;
  for (const FileId& file : obsolete_) {
    files.insert(*files_.find(file));
  }
  return files;
}

std::vector<FileId> Catalog::TakeDead(bool all) {
  Files files;
  std::map<std::string, std::shared_ptr<FileSystem>> file_systems;
  {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    files = all ? files_ : Obsolete();
    if (all) {
      obsolete_.clear();  // those that are still there are of a database that was closed
    }
    for (const auto& [name, file_system] : file_systems_) {
      file_systems[name] = file_system.lock();
    }
  }
  std::vector<FileId> dead;
  for (const auto& [file, entry] : files) {
    const auto it = file_systems.find(entry.file_system);
    if (it != file_systems.end() && it->second != nullptr &&
        it->second->FileExists(entry.path, IOOptions(), nullptr).IsNotFound() &&
        Remove(file, entry)) {
      dead.push_back(file);
    }
  }
  return dead;
}

// Not if it was told of anew, at another place, since it was looked for.
bool Catalog::Remove(const FileId& file, const FileEntry& entry) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto it = files_.find(file);
  if (it == files_.end() || it->second.path != entry.path) {
    return false;
  }
  files_.erase(it);
  obsolete_.erase(file);
  return true;
}

size_t Catalog::Count() const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  return files_.size();
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
