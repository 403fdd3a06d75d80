// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of Recovery that writes SSTs, hands over what is needed, and deletes what is not.

#include <cstring>
#include <utility>

#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/recovery/recovery.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

IOStatus CloseFile(IOStatus s, FSWritableFile* file) {
  IOStatus closed = file != nullptr ? file->Close(IOOptions(), nullptr) : IOStatus::OK();
  return s.ok() ? closed : s;
}

}  // namespace

// An SST that is there, but whose recipe would not help it any more, needs another one.
IOStatus Recovery::TakeReferences() {
  keep_.database = contents_.database;
  keep_.next_segment = contents_.next_segment;
  for (const std::string& directory : searched_) {
    if (directory != directory_) {
      keep_.directories.insert(NameOfLogDirectory(directory_, directory));
    }
  }
  for (const auto& tier : names_->policy().tiers) {
    if (tier->is_volatile()) {
      keep_.tiers.insert(tier->name());
    }
  }
  IOStatus s;
  std::string recipe;
  for (const Table& table : tables_) {
    if (table.given_up || !table.place.tier->is_volatile()) {
      continue;  // has found no room in memory, and is durable
    }
    bool complete = table.has_recipe;
    if (table.has_recipe) {
      s = recipe_log_->ReadRecipe(table.base, &recipe);
      if (!s.ok()) {
        return s;
      }
      std::vector<std::pair<Segment*, Ordinal>> taken;
      ForEachReference(recipe, [&](const Reference& reference) {
        Segment* const segment = segments_[reference.segment].segment.get();
        if (complete && segment != nullptr && segment->Take(reference.ordinal)) {
          taken.emplace_back(segment, reference.ordinal);
        } else {
          complete = false;
        }
      }).PermitUncheckedError();  // was read before
      if (!complete) {
        for (const auto& [segment, ordinal] : taken) {
          segment->Release(ordinal);
        }
      }
    }
    if (complete) {
      keep_.recipes[table.base] = contents_.recipes[table.base];
    } else {
      without_recipe_.push_back({table.base, table.place, table.size});
    }
  }
  CarryOver();
  return s;
}

// The recipe of an SST that is there stays until it has another one, whatever is wrong with its
// logs now.
void Recovery::CarryOver() {
  for (const Present& table : without_recipe_) {
    const auto known = contents_.recipes.find(table.base);
    if (known != contents_.recipes.end()) {
      keep_.recipes.insert(*known);
      carried_.insert(table.base);
    }
  }
  if (!missing_.empty()) {
    keep_.segments = contents_.segments;
    keep_.tiers.insert(contents_.tiers.begin(), contents_.tiers.end());
    for (const auto& known : contents_.recipes) {
      if (keep_.recipes.insert(known).second) {
        carried_.insert(known.first);
      }
    }
  }
  for (const auto& [id, loaded] : segments_) {
    if (loaded.references > 0 && contents_.segments.count(id) > 0) {
      keep_.segments[id] = loaded.known;
    }
  }
}

void Recovery::Hold(Tier* tier, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  held_.emplace_back(tier, bytes);
}

IOStatus Recovery::Write(Table* table, const Slice& sst) {
  Tier* const wanted = table->place.tier;
  if (in_use_) {  // it counts as it was
    return WriteTo(wanted, table, sst);
  }
  IOStatus s = IOStatus::NoSpace(table->base, "finds no room in any tier");
  for (Tier* tier : SpillOrder(names_->policy(), wanted)) {
    if ((tier->is_volatile() && tier != wanted) || !tier->Reserve(sst.size())) {
      continue;
    }
    Hold(tier, sst.size());
    s = WriteTo(tier, table, sst);
    if (s.ok() && tier != wanted) {
      names_->ReportSpill(directory_ + "/" + table->base, *wanted, *tier);
    }
    if (!s.IsNoSpace()) {
      break;
    }
  }
  return s;
}

// In a durable tier it is whole before it has its name, or a stub: what has these is taken for
// durable.
IOStatus Recovery::WriteTo(Tier* tier, Table* table, const Slice& sst) {
  const std::string path = directory_ + "/" + table->base;
  const bool has_stub = table->has_stub && table->place.tier == tier;
  Place place;
  IOStatus s = names_->NewPlace(path, tier, &place);  // also makes the folder
  if (s.ok() && has_stub) {
    place.path = table->place.path;
  }
  const std::string written = place.stub && !in_use_ ? place.path : place.path + kTemporary;
  std::unique_ptr<FSWritableFile> file;
  if (s.ok()) {
    s = tier->fs()->NewWritableFile(written, FileOptions(), &file, nullptr);
  }
  if (s.ok()) {
    s = file->Append(sst, IOOptions(), nullptr);
  }
  TEST_SYNC_POINT("Recovery::WriteTo:BeforeSync");
  const bool made = file != nullptr;
  s = tier->is_volatile() ? CloseFile(std::move(s), file.get())
                          : SyncAndClose(std::move(s), file.get());
  if (!s.ok()) {
    if (made) {
      tier->fs()->DeleteFile(written, IOOptions(), nullptr).PermitUncheckedError();
    }
    return s;
  }
  TEST_SYNC_POINT("Recovery::WriteTo:BeforeName");
  if (in_use_) {
    s = NameInUse(path, place, written);
  } else if (!tier->is_volatile()) {
    s = NameDurably(path, place, written);
  } else if (!has_stub) {
    s = names_->WriteStub(path, place);
  }
  if (s.ok()) {
    table->place = place;
  }
  return s;
}

// Who deletes the SST deletes its stub first, and then what that stood for.
IOStatus Recovery::NameInUse(const std::string& path, const Place& place,
                             const std::string& written) {
  IOStatus s = place.fs()->RenameFile(written, place.path, IOOptions(), nullptr);
  Place now;
  if (s.ok() && (!names_->Resolve(path, &now).ok() || now.path != place.path)) {
    place.fs()->DeleteFile(place.path, IOOptions(), nullptr).PermitUncheckedError();
  }
  return s;
}

// Its recipe will be forgotten.
IOStatus Recovery::NameDurably(const std::string& path, const Place& place,
                               const std::string& written) {
  IOStatus s;
  std::string renamed = written;
  if (place.stub) {
    s = SyncDirectory(place.fs(), DirectoryOf(place.path));
    renamed = path + kTemporary;
    s = s.ok() ? names_->WriteStub(renamed, place) : s;
  }
  if (s.ok()) {
    s = names_->target()->RenameFile(renamed, path, IOOptions(), nullptr);
  }
  return s.ok() ? SyncDirectory(names_->target(), directory_) : s;
}

void Recovery::Restore(WalSegments* logs, LogDirectories* directories) {
  for (auto& [id, loaded] : segments_) {
    if (loaded.segment != nullptr && loaded.segment->live() > 0) {
      used_.insert(loaded.path);
      logs->Restore(std::move(loaded.segment), loaded.known, directories->PathOf(loaded.path));
    }
  }
  // Of those in the archive nobody has made the names durable, and what recipes need of them is
  // retained.
  for (const auto& [number, path] : logs_) {
    if (used_.count(path) == 0 && BaseOf(DirectoryOf(path)) != BaseOf(ArchivalDirectory(""))) {
      logs->Found(number, directories->PathOf(path), /*complete=*/true);
    }
  }
}

bool Recovery::MayDelete(const std::string& path, const std::set<FileId>& used) const {
  FileId id;
  if (used_.count(path) > 0 || (FindFileId(path, &id) && used.count(id) > 0)) {
    return false;
  }
  std::string name = BaseOf(path);
  if (EndsWith(name, kTemporary)) {
    name.resize(name.size() - strlen(kTemporary));
  }
  uint64_t segment;
  std::string tag;
  const bool has_tag = WalSegments::ParseName(name, &segment, &tag) && !tag.empty();
  return has_tag ? tag == RecipeLog::TagOf(contents_) : IsAtHome(directory_, DirectoryOf(path));
}

void Recovery::DeleteUnused() {
  if (!missing_.empty()) {
    return;
  }
  std::set<FileId> used;
  for (const std::string& path : used_) {
    FileId id;
    if (FindFileId(path, &id)) {
      used.insert(id);
    }
  }
  std::vector<std::string> all = temporary_;
  for (const auto& [id, path] : retained_) {
    all.push_back(path);
  }
  for (const std::string& path : all) {
    if (MayDelete(path, used)) {
      names_->shown()->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
    }
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
