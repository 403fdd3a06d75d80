// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recovery/segment_loader.h"

#include <algorithm>
#include <cstring>

#include "logging/logging.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/options/text.h"
#include "plugin/tiered_env/recipe/format.h"
#include "plugin/tiered_env/wal/archive.h"
#include "plugin/tiered_env/wal/log_reader.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Ends the message that a log may be sound.
constexpr char kMoveAway[] = "; only if it is gone for good, move it away, and salvage again";

}  // namespace

// Puts the entries of a log into an index, and keeps those that are wanted.
class SegmentLoader::Visitor : public EntryVisitor {
 public:
  explicit Visitor(Loaded* loaded) : loaded_(loaded) {}

  void OnEntry(Ordinal ordinal, const Entry& entry) override {
    if (loaded_->has_count() && ordinal >= loaded_->known.entries) {
      has_more_ = true;
      return;
    }
    if (loaded_->segment != nullptr) {
      loaded_->segment->Add(ordinal, entry);
    }
    if (loaded_->wants_all || (ordinal < loaded_->wanted.size() && loaded_->wanted[ordinal])) {
      loaded_->entries->Add(ordinal, entry);
    }
  }
  // Whether there were entries that the log had not when recipes were made of it.
  bool has_more() const { return has_more_; }

 private:
  Loaded* const loaded_;
  bool has_more_ = false;
};

// Shows what was kept of all segments.
class SegmentLoader::Source : public EntrySource {
 public:
  explicit Source(const Segments& segments) : segments_(segments) {}

  bool Get(const Reference& reference, Entry* entry) override {
    if (last_ == nullptr || last_id_ != reference.segment) {
      const auto it = segments_.find(reference.segment);
      if (it == segments_.end() || it->second.entries == nullptr) {
        return false;
      }
      last_ = it->second.entries.get();
      last_id_ = reference.segment;
    }
    return last_->Get(reference.ordinal, entry);
  }

 private:
  const Segments& segments_;
  const EntryArena* last_ = nullptr;
  uint64_t last_id_ = 0;
};

// An ordinal that the segment never had would take as much memory as it is large.
IOStatus SegmentLoader::Add(const RecipeLogContents& contents, const std::string& recipe,
                            bool wanted) {
  std::vector<SegmentRange> ranges;
  Status s = DecodeSegments(recipe, &ranges);
  std::set<uint64_t> unknown;
  for (const SegmentRange& range : ranges) {
    const auto known = contents.segments.find(range.segment);
    if (known == contents.segments.end() || known->second.log_number == kNoLog) {
      unknown.insert(range.segment);
    } else if (range.first + range.count > known->second.entries) {
      s = Status::Corruption("tiered_env: recipe refers to more than there was in segment " +
                             std::to_string(range.segment));
    }
  }
  if (!s.ok()) {
    return AsIOStatus(s);
  }
  Loaded* last = nullptr;
  return AsIOStatus(ForEachReference(recipe, [&](const Reference& reference) {
    if (last == nullptr || last->known.id != reference.segment) {
      last = &segments_[reference.segment];
      last->known.id = reference.segment;
    }
    if (wanted && unknown.count(reference.segment) > 0) {
      last->wants_all = true;
    } else if (wanted) {
      if (last->wanted.size() <= reference.ordinal) {
        last->wanted.resize(reference.ordinal + size_t{1});
      }
      last->wanted[reference.ordinal] = true;
    }
  }));
}

IOStatus SegmentLoader::Find(const RecipeLogContents& contents) {
  for (auto& [id, loaded] : segments_) {
    const auto known = contents.segments.find(id);
    if (known != contents.segments.end()) {
      loaded.known = known->second;
      loaded.is_known = true;
    }
  }
  for (const auto& [id, known] : contents.segments) {
    if (known.log_number == kNoLog) {
      alien_ids_.insert(id);
    }
  }
  next_segment_ = unused_segment_ = contents.next_segment;
  IOStatus s;
  tag_ = RecipeLog::TagOf(contents);
  knows_tag_ = contents.knows_database;
  searched_ = FindLogDirectories(fs_, directory_, contents.directories);
  for (const std::string& base : searched_) {
    for (const std::string& directory : {base, ArchivalDirectory(base)}) {
      if (directory != base && IsSearched(directory)) {
        continue;  // in its own turn
      }
      std::vector<std::string> names;
      IOStatus listed = target_->GetChildren(directory, IOOptions(), &names, nullptr);
      if (!listed.ok() && !IsMissing(listed) && !contents.segments.empty()) {
        s = s.ok() ? listed : s;
      }
      if (AddLogs(directory, names)) {
        mounted_.insert(base);
      }
    }
  }
  if (!retained_.empty()) {
    unused_segment_ = std::max(unused_segment_, retained_.rbegin()->first + 1);
  }
  if (!segments_.empty()) {  // what says that its id was given may be damaged
    unused_segment_ = std::max(unused_segment_, segments_.rbegin()->first + 1);
  }
  return s;
}

bool SegmentLoader::AddLogs(const std::string& directory, const std::vector<std::string>& names) {
  const size_t before = retained_.size();
  // At home they are nobody else's, whatever is left of the tag.
  const bool is_ours = !knows_tag_ && IsAtHome(directory_, directory);
  WalSegments::FindRetained(directory, names, &retained_, is_ours ? nullptr : &tag_);
  bool found = retained_.size() > before;
  for (const std::string& name : names) {
    uint64_t number;
    if (ContentOf(name, &number) == Content::kWal) {
      logs_.emplace(number, directory + "/" + name);
      found = found || IsReferredTo(number);
    } else if (IsKept(name) && EndsWith(name, kTemporary)) {
      temporary_.push_back(directory + "/" + name);
    }
  }
  return found;
}

bool SegmentLoader::IsReferredTo(uint64_t log_number) const {
  return std::any_of(segments_.begin(), segments_.end(), [&](const auto& segment) {
    return segment.second.is_known && segment.second.known.log_number == log_number;
  });
}

bool SegmentLoader::IsSearched(const std::string& directory) const {
  return std::find(searched_.begin(), searched_.end(), directory) != searched_.end();
}

std::vector<uint64_t> SegmentLoader::ids() const {
  std::vector<uint64_t> result;
  for (const auto& [id, loaded] : segments_) {
    result.push_back(id);
  }
  return result;
}

IOStatus SegmentLoader::Load(uint64_t id) {
  Loaded* const loaded = &segments_.at(id);
  std::vector<std::string> paths;
  const auto retained = retained_.equal_range(loaded->known.id);
  for (auto it = retained.first; it != retained.second; ++it) {
    paths.push_back(it->second);
  }
  const auto logs = logs_.equal_range(loaded->known.log_number);
  for (auto it = logs.first; it != logs.second; ++it) {
    paths.push_back(it->second);
  }
  loaded->problem = "there is no " + WalSegments::LogName(loaded->known.id, tag_) +
                    " in any of: " + Join(searched_) +
                    "; if logs were moved to another wal_dir, move them back";
  IOStatus result;
  for (const std::string& path : paths) {
    IOStatus s = LoadFrom(path, loaded);
    if (s.ok()) {
      loaded->path = path;
      return s;
    }
    if (!s.IsCorruption() && !IsMissing(s) && loaded->is_wanted()) {
      result = IOStatus::IOError(
          path, "cannot be read now, so nothing is given up: " + s.ToString() + kMoveAway);
    }
    loaded->problem = "cannot use " + path + ": " + s.ToString();
    ROCKS_LOG_WARN(info_log_, "tiered_env: cannot use %s: %s", path.c_str(), s.ToString().c_str());
    loaded->segment.reset();
  }
  return result;
}

bool SegmentLoader::IsElsewhere(const std::string& directory) const {
  return directory[0] != '/' && !IsAtHome(directory_, directory);
}

// The directory of a disk that is not mounted is missing or empty. A retained log that is damaged
// is nowhere else; of RocksDB's logs another one can have the number.
IOStatus SegmentLoader::CheckMounted(const std::vector<std::string>& gone) const {
  const auto missing =
      std::count_if(segments_.begin(), segments_.end(), [this](const auto& segment) {
        const Loaded& loaded = segment.second;
        return loaded.is_wanted() && loaded.path.empty() && retained_.count(segment.first) == 0;
      });
  std::set<std::string> names;
  for (const std::string& directory : gone) {
    names.insert(NameOfLogDirectory(directory_, directory));
  }
  std::vector<std::string> unmounted;
  for (const std::string& directory : searched_) {
    if (directory != directory_ && mounted_.count(directory) == 0 && !IsElsewhere(directory) &&
        names.count(NameOfLogDirectory(directory_, directory)) == 0) {
      unmounted.push_back(directory);
    }
  }
  return missing == 0 || unmounted.empty()
             ? IOStatus::OK()
             : IOStatus::IOError(
                   Join(unmounted),
                   "no log of the database is there, and " + std::to_string(missing) +
                       " that are needed are not found, so nothing is given up: mount the disk; "
                       "only if it is gone for good, salvage with --lost=DIRECTORY");
}

IOStatus SegmentLoader::LoadFrom(const std::string& path, Loaded* loaded) const {
  const uint64_t id = loaded->known.id;
  loaded->segment = loaded->has_count() ? std::make_unique<Segment>(id) : nullptr;
  loaded->entries = std::make_unique<EntryArena>(/*sparse=*/!loaded->has_count());
  Visitor visitor(loaded);
  IOStatus s;
  if (EndsWith(path, ".seg")) {
    uint64_t found = 0;
    s = ReadArchive(fs_, path, &found, &visitor);
    if (s.ok() && found != id) {
      s = IOStatus::Corruption(path, "is of another segment");
    } else if (s.ok() && visitor.has_more()) {
      s = IOStatus::Corruption(path, "has entries that its log never had");
    }
    return s;
  }
  if (loaded->has_count()) {
    s = ReadLog(fs_, path, loaded->known.log_number, &visitor, loaded->known.bytes);
  }
  if (s.ok() && (!loaded->has_count() || loaded->segment->entries() != loaded->known.entries ||
                 loaded->segment->digest() != loaded->known.digest)) {
    s = IOStatus::Corruption(path, "is not the log that recipes refer to, or is damaged");
  }
  return s;
}

std::unique_ptr<EntrySource> SegmentLoader::Entries() const {
  return std::make_unique<Source>(segments_);
}

void SegmentLoader::DropEntries() {
  for (auto& [id, loaded] : segments_) {
    loaded.entries.reset();
  }
}

Segment* SegmentLoader::segment(uint64_t id) const {
  const auto it = segments_.find(id);
  return it == segments_.end() ? nullptr : it->second.segment.get();
}

std::string SegmentLoader::ProblemsOf(const std::string& recipe) const {
  std::set<uint64_t> lost;
  ForEachReference(recipe, [&](const Reference& reference) {
    const auto it = segments_.find(reference.segment);
    if (it != segments_.end() && it->second.path.empty()) {
      lost.insert(reference.segment);
    }
  }).PermitUncheckedError();  // was read before
  std::string result;
  for (const uint64_t id : lost) {
    result += "; " + segments_.at(id).problem;
  }
  return result;
}

std::map<uint64_t, LoggedSegment> SegmentLoader::known() const {
  std::map<uint64_t, LoggedSegment> result;
  for (const auto& [id, loaded] : segments_) {
    if (loaded.is_known) {
      result[id] = loaded.known;
    }
  }
  return result;
}

void SegmentLoader::Restore(WalSegments* logs, LogDirectories* directories) {
  const bool has_newer = !alien().empty();
  for (auto& [id, loaded] : segments_) {
    if (loaded.segment != nullptr && loaded.segment->live() > 0) {
      used_.insert(loaded.path);
      const bool shared = has_newer && !IsAtHome(directory_, DirectoryOf(loaded.path));
      logs->Restore(std::move(loaded.segment), loaded.known, directories->PathOf(loaded.path),
                    shared);
    }
  }
  // Leaves out those in archives: nobody has made their names durable, and what recipes need of
  // them is retained.
  for (const auto& [number, path] : logs_) {
    if (used_.count(path) == 0 && IsSearched(DirectoryOf(path))) {
      logs->Found(number, directories->PathOf(path), /*complete=*/true);
    }
  }
}

// Only of a directory that two homes can have. One at home was retained by an earlier version, just
// before the power failed: its id was not durable.
bool SegmentLoader::IsAlien(const std::string& path) const {
  uint64_t id;
  std::string tag;
  return WalSegments::ParseName(BaseOf(path), &id, &tag) && !tag.empty() && tag == tag_ &&
         (id >= next_segment_ || alien_ids_.count(id) > 0) &&
         !IsAtHome(directory_, DirectoryOf(path));
}

std::multimap<uint64_t, std::string> SegmentLoader::alien() const {
  std::multimap<uint64_t, std::string> result;
  for (const auto& [id, path] : retained_) {
    if (IsAlien(path)) {
      result.emplace(id, path);
    }
  }
  return result;
}

bool SegmentLoader::MayDelete(const std::string& path, const std::set<FileId>& used) const {
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
  return has_tag ? tag == tag_ : IsAtHome(directory_, DirectoryOf(path));
}

void SegmentLoader::DeleteUnused() {
  std::set<FileId> used;
  for (const std::string& path : used_) {
    FileId id;
    if (FindFileId(path, &id)) {
      used.insert(id);
    }
  }
  const auto others = alien();
  for (const auto& [id, path] : others) {
    ROCKS_LOG_WARN(info_log_,
                   "tiered_env: %s stays: it is of a newer state of the database than this one",
                   path.c_str());
  }
  if (!others.empty()) {  // which needs those that both know, too
    return;
  }
  std::vector<std::string> all = temporary_;
  for (const auto& [id, path] : retained_) {
    all.push_back(path);
  }
  for (const std::string& path : all) {
    if (MayDelete(path, used)) {
      fs_->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
    }
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
