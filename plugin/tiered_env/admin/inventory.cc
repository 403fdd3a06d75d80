// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/admin/inventory.h"

#include <set>
#include <utility>
#include <vector>

#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/find.h"
#include "plugin/tiered_env/recipe/format.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#include "plugin/tiered_env/wal/archive.h"
#include "plugin/tiered_env/wal/archive_format.h"
#include "plugin/tiered_env/wal/log_directories.h"
#include "plugin/tiered_env/wal/log_reader.h"
#include "plugin/tiered_env/wal/segment.h"
#include "plugin/tiered_env/wal/segments.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr int kMostTries = 8;  // of files that get other names meanwhile

// Directories where logs are, and their names.
std::map<std::string, std::vector<std::string>> ListLogs(const AdminSession& session,
                                                         const RecipeLog::Contents& contents) {
  std::map<std::string, std::vector<std::string>> result;
  for (const std::string& base :
       FindLogDirectories(session.fs(), session.directory(), contents.directories)) {
    for (const std::string& directory : {base, ArchivalDirectory(base)}) {
      session.target()
          ->GetChildren(directory, IOOptions(), &result[directory], nullptr)
          .PermitUncheckedError();  // there may be none
    }
  }
  return result;
}

// Reads the logs of a database, and counts.
class Inventory {
 public:
  explicit Inventory(const AdminSession* session)
      : session_(*session), recipe_log_(session->target(), session->directory()) {}

  IOStatus Run(std::vector<TieredLogInfo>* logs) {
    IOStatus s = Load();
    std::set<uint64_t> ids;
    for (const auto& [id, path] : FindRetainedLogs(session_, contents_)) {
      ids.insert(id);
    }
    for (const auto& [id, ordinals] : references_) {
      ids.insert(id);
    }
    for (auto it = ids.begin(); s.ok() && it != ids.end(); ++it) {
      TieredLogInfo info;
      info.id = *it;
      bool gone;
      s = Describe(&info, &gone);
      if (s.ok() && !gone) {
        logs->push_back(std::move(info));
      }
    }
    return s;
  }

 private:
  // The sequence-number bitmaps, as recipes make them.
  IOStatus Load() {
    references_.clear();
    IOStatus s = LoadRecipes(&recipe_log_, &contents_);
    std::string recipe;
    for (const auto& [base, known] : contents_.recipes) {
      if (s.ok() && recipe_log_.ReadRecipe(base, &recipe).ok()) {
        ForEachReference(recipe, [&](const Reference& reference) {
          std::vector<bool>& ordinals = references_[reference.segment];
          const auto segment = contents_.segments.find(reference.segment);
          if (segment == contents_.segments.end() || reference.ordinal >= segment->second.entries) {
            return;  // it has no such entry
          }
          if (ordinals.size() <= reference.ordinal) {
            ordinals.resize(reference.ordinal + uint64_t{1});
          }
          ordinals[reference.ordinal] = true;
        }).PermitUncheckedError();  // "tier check --rebuild" tells
      }
    }
    return s;
  }

  // *gone: it is not there, and nothing needs it.
  IOStatus Describe(TieredLogInfo* info, bool* gone) {
    *gone = false;
    IOStatus found;
    for (int i = 0; i < kMostTries; i++) {
      found = IOStatus::PathNotFound();
      const std::vector<std::string> paths = PathsOf(info->id);
      for (auto it = paths.begin(); !found.ok() && it != paths.end(); ++it) {
        found = Count(*it, info);
      }
      if (!IsMissing(found)) {
        info->problem = found.ok() ? "" : found.ToString();
        return IOStatus::OK();
      }
      IOStatus s = Load();
      *gone = references_.count(info->id) == 0;
      if (!s.ok() || *gone) {
        return s;
      }
    }
    info->kind = "lost";
    info->problem = "recipes refer to it, and it is not there";
    return IOStatus::OK();
  }

  std::vector<std::string> PathsOf(uint64_t id) const {
    std::vector<std::string> result;
    const auto retained = FindRetainedLogs(session_, contents_);
    const auto [begin, end] = retained.equal_range(id);
    for (auto it = begin; it != end; ++it) {
      result.push_back(it->second);
    }
    const auto known = contents_.segments.find(id);
    if (known != contents_.segments.end()) {
      for (const auto& [directory, names] : ListLogs(session_, contents_)) {
        for (const std::string& name : names) {
          uint64_t number;
          if (ContentOf(name, &number) == Content::kWal && number == known->second.log_number) {
            result.push_back(directory + "/" + name);
          }
        }
      }
    }
    return result;
  }

  // Reads a log, and takes the references that recipes have to it.
  IOStatus Count(const std::string& path, TieredLogInfo* info) const {
    const auto known = contents_.segments.find(info->id);
    const bool is_known = known != contents_.segments.end();
    Indexer indexer(info->id, is_known ? &known->second : nullptr);
    info->path = path;
    info->kind = !IsKept(BaseOf(path)) ? "log" : EndsWith(path, ".seg") ? "rewritten" : "retained";
    IOStatus s = session_.fs()->GetFileSize(path, IOOptions(), &info->bytes, nullptr);
    if (s.ok() && info->kind == "rewritten") {
      uint64_t found = 0;
      s = ReadArchive(session_.fs(), path, &found, &indexer);
      if (s.ok() && found != info->id) {
        s = IOStatus::Corruption(path, "is of another segment");
      } else if (s.ok() && indexer.has_more && known->second.log_number != kNoLog) {
        s = IOStatus::Corruption(path, "has entries that its log never had");
      }
    } else if (s.ok()) {
      s = ReadLog(session_.fs(), path, is_known ? known->second.log_number : 0, &indexer,
                  is_known ? known->second.bytes : UINT64_MAX);
      s = s.ok() && is_known && indexer.segment.digest() != known->second.digest
              ? IOStatus::Corruption(path, "is not the log that recipes refer to, or is damaged")
              : s;
    }
    const auto references = references_.find(info->id);
    const size_t ordinals = references == references_.end() ? 0 : references->second.size();
    for (size_t i = 0; i < ordinals; i++) {
      if (references->second[i]) {  // of an archive it may be trimmed: the database may be open
        indexer.segment.Take(static_cast<Ordinal>(i));
      }
    }
    info->entries = indexer.segment.entries() + indexer.entries;
    info->live_entries = indexer.segment.live();
    info->entry_bytes = indexer.segment.bytes() + indexer.bytes;
    info->live_bytes = indexer.segment.live_bytes();
    return s;
  }

  struct Indexer : public EntryVisitor {
    Indexer(uint64_t id, const LoggedSegment* logged) : segment(id), known(logged) {}
    void OnEntry(Ordinal ordinal, const Entry& entry) override {
      if (known == nullptr) {
        entries++;
        bytes += ArchiveBlockBuilder::SizeOf(entry);
      } else if (ordinal < known->entries) {
        segment.Add(ordinal, entry);
      } else {
        has_more = true;  // in a log: was added after recipes were made
      }
    }

    Segment segment;
    const LoggedSegment* const known;
    // Of a segment that is not known: nothing refers to it, or tells how large ordinals may be.
    uint64_t entries = 0;
    uint64_t bytes = 0;
    bool has_more = false;
  };

  const AdminSession& session_;
  RecipeLog recipe_log_;
  RecipeLog::Contents contents_;
  std::map<uint64_t, std::vector<bool>> references_;  // by segment
};

}  // namespace

IOStatus LoadRecipes(RecipeLog* recipe_log, RecipeLog::Contents* contents) {
  IOStatus s;
  for (int i = 0; i < kMostTries; i++) {
    s = recipe_log->Load(contents);
    if (!IsMissing(s)) {
      break;
    }
  }
  return s;
}

std::multimap<uint64_t, std::string> FindRetainedLogs(const AdminSession& session,
                                                      const RecipeLog::Contents& contents) {
  const std::string tag = RecipeLog::TagOf(contents);
  std::multimap<uint64_t, std::string> result;
  for (const auto& [directory, names] : ListLogs(session, contents)) {
    WalSegments::FindRetained(directory, names, &result, &tag);
  }
  return result;
}

Status InspectLogs(FileSystem* fs, const std::string& directory, std::vector<TieredLogInfo>* logs) {
  TieredFileSystem* ours;
  Status s = FindFs(fs, &ours);
  if (!s.ok()) {
    return s;
  }
  logs->clear();
  AdminSession session(ours, directory);
  s = session.Look();
  return s.ok() ? Inventory(&session).Run(logs) : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
