// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/sst_catalog.h"

#include <algorithm>
#include <mutex>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

std::shared_ptr<FileSystemLease> SstCatalog::Lease(const std::shared_ptr<FileSystem>& file_system) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  Loan& known = loans_[file_system.get()];
  std::shared_ptr<FileSystemLease> lease = known.lease.lock();
  if (lease == nullptr) {
    lease = std::make_shared<FileSystemLease>(file_system);
    known = {lease, lease->borrowed()};
  }
  return lease;
}

void SstCatalog::Add(const FileId& id, uint64_t space, const std::string& path,
                     const FileSystemLease& lease) {
  const Place place{lease.borrowed()->name(), path};
  std::unique_lock<std::shared_mutex> lock(mutex_);
  File& file = files_[id];
  file.space = space;
  obsolete_.erase(id);
  // A place that the store names, or that a closed database had, becomes one of this FileSystem.
  const auto known =
      std::find_if(file.locations.begin(), file.locations.end(), [&](const Location& location) {
        return location.place == place &&
               (location.file_system == nullptr || location.file_system->HasEnded() ||
                location.file_system == lease.borrowed());
      });
  if (known != file.locations.end()) {
    known->file_system = lease.borrowed();
  } else {
    file.locations.push_back({place, lease.borrowed()});
  }
}

void SstCatalog::AddStored(const FileId& id, const FileEntry& entry) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto [it, added] = files_.try_emplace(id);
  if (added) {
    it->second.space = entry.space;
  }
  for (const Place& place : entry.places) {
    auto& locations = it->second.locations;
    const bool known =
        std::any_of(locations.begin(), locations.end(),
                    [&](const Location& location) { return location.place == place; });
    if (!known) {
      locations.push_back({place, {}});
    }
  }
}

bool SstCatalog::Find(const FileId& id, FileEntry* entry) const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto it = files_.find(id);
  if (it == files_.end()) {
    return false;
  }
  entry->space = it->second.space;
  entry->places.clear();
  for (const Location& location : it->second.locations) {
    entry->places.push_back(location.place);
  }
  return true;
}

bool SstCatalog::NoteObsolete(const FileId& id) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const bool known = files_.count(id) > 0;
  if (known) {
    obsolete_.insert(id);
  }
  return known;
}

// Returns the FileSystems that are open, by name. Those that are not are forgotten.
SstCatalog::FileSystems SstCatalog::Open() {
  FileSystems open;
  std::unique_lock<std::shared_mutex> lock(mutex_);
  for (auto it = loans_.begin(); it != loans_.end();) {
    const std::shared_ptr<BorrowedFileSystem>& one = it->second.file_system;
    if (one->HasEnded()) {
      it = loans_.erase(it);
    } else {
      open[one->name()].push_back(one);
      ++it;
    }
  }
  return open;
}

bool SstCatalog::IsGone(const Location& location, const FileSystems& open) {
  const std::string& path = location.place.path;
  bool lacks = false;
  if (location.file_system != nullptr && location.file_system->Lacks(path, &lacks)) {
    return lacks;
  }
  const auto it = open.find(location.place.file_system);
  bool asked = false;
  for (size_t i = 0; it != open.end() && i < it->second.size(); i++) {
    if (it->second[i]->Lacks(path, &lacks)) {
      asked = true;
      if (!lacks) {
        return false;
      }
    }
  }
  return asked;
}

// Removes places of an SST. True: it has no other place, and is removed. A place that was told of
// anew since it was looked for is another location.
bool SstCatalog::Remove(const FileId& id, const std::vector<Location>& gone) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto it = files_.find(id);
  if (it == files_.end()) {
    return false;
  }
  auto& locations = it->second.locations;
  for (const Location& one : gone) {
    locations.erase(std::remove_if(locations.begin(), locations.end(),
                                   [&](const Location& other) {
                                     return other.place == one.place &&
                                            other.file_system == one.file_system;
                                   }),
                    locations.end());
  }
  obsolete_.erase(id);  // its file went, others are not about to
  if (locations.empty()) {
    files_.erase(it);
    return true;
  }
  return false;
}

size_t SstCatalog::Count() const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  return files_.size();
}

// Gives the next of `obsolete`, which shrinks, and then, if `all`, of all; that is false at their
// end.
bool DeadSstFinder::Next(std::set<FileId>* obsolete, bool* all, FileId* id,
                         SstCatalog::File* file) {
  std::shared_lock<std::shared_mutex> lock(catalog_->mutex_);
  const auto& files = catalog_->files_;
  while (!obsolete->empty()) {
    const auto it = files.find(*obsolete->begin());
    obsolete->erase(obsolete->begin());
    if (it != files.end()) {
      *id = it->first;
      *file = it->second;
      return true;
    }
  }
  if (!*all) {
    return false;
  }
  auto it = files.lower_bound(next_);
  if (it != files.end()) {
    *id = it->first;
    *file = it->second;
    ++it;
  } else {
    *all = false;
  }
  next_ = it == files.end() ? FileId{} : it->first;
  const bool found = *all;
  *all = *all && next_ != FileId{};
  return found;
}

std::vector<FileId> DeadSstFinder::Take(bool all, const GoOn& go_on) {
  const SstCatalog::FileSystems open = catalog_->Open();
  std::set<FileId> obsolete;
  {
    std::unique_lock<std::shared_mutex> lock(catalog_->mutex_);
    obsolete = catalog_->obsolete_;
    if (all && LookedForAll()) {
      // What is still there after this is of a database that was closed.
      catalog_->obsolete_.clear();
    }
  }
  std::vector<FileId> dead;
  FileId id{};
  SstCatalog::File file;
  while (go_on() && Next(&obsolete, &all, &id, &file)) {
    std::vector<SstCatalog::Location> gone;
    for (const SstCatalog::Location& location : file.locations) {
      if (SstCatalog::IsGone(location, open)) {
        gone.push_back(location);
      }
    }
    if (!gone.empty() && catalog_->Remove(id, gone)) {
      dead.push_back(id);
    }
  }
  return dead;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
