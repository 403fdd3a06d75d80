// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/db/survey.h"

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "db/log_reader.h"
#include "file/sequence_file_reader.h"
#include "plugin/tiered_env/compat.h"
#include "plugin/tiered_env/files/lost.h"
#include "plugin/tiered_env/files/names.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

bool IsCounted(const std::string& base) {
  uint64_t number;
  const Content content = ContentOf(WithoutTrash(base), &number);
  return content == Content::kTable || content == Content::kBlob;
}

// Returns whether it is a FIFO, a socket or a device: to open a FIFO waits for who writes to it.
bool IsSpecial(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool IsBelow(const std::string& base) { return base.find('/') != std::string::npos; }

// Notes whether anything is damaged.
class DamageReporter : public log::Reader::Reporter {
 public:
#ifdef TIERED_HAS_LOG_NUMBER_OF_CORRUPTION
  void Corruption(size_t /*bytes*/, const Status& /*status*/, uint64_t /*log_number*/) override {
#else
  void Corruption(size_t /*bytes*/, const Status& /*status*/) override {
#endif
    found_ = true;
  }
  bool found() const { return found_; }

 private:
  bool found_ = false;
};

// Returns whether a log begins with a record of its own, or with something damaged. One that is
// recycled has those of its old number at first.
bool HasRecords(const Survey::Orphan& log) {
  uint64_t number;
  ContentOf(log.base, &number);
  std::unique_ptr<FSSequentialFile> file;
  const FileOptions options;
  if (!log.place.fs()->NewSequentialFile(log.place.path, options, &file, nullptr).ok()) {
    return true;
  }
  DamageReporter reporter;
  log::Reader reader(nullptr,
                     std::make_unique<SequentialFileReader>(std::move(file), log.place.path),
                     &reporter, /*checksum=*/true, number);
  Slice record;
  std::string scratch;
  return reader.ReadRecord(&record, &scratch) || reporter.found();
}

}  // namespace

IOStatus Survey::Run() {
  files_.clear();
  damaged_.clear();
  temporary_.clear();
  bases_.clear();
  sizes_.clear();
  referenced_.clear();
  return Look("");
}

uint64_t Survey::SizeOf(const std::string& base) const {
  const auto it = sizes_.find(base);
  return it == sizes_.end() ? 0 : it->second;
}

IOStatus Survey::Look(const std::string& below) {
  FileSystem* const target = names_->target();
  const std::string directory = WithoutSlash(directory_ + "/" + below);
  std::vector<std::string> names;
  IOStatus s = target->GetChildren(directory, IOOptions(), &names, nullptr);
  const bool belongs =
      below.empty() || std::find(names.begin(), names.end(), kIdentityName) == names.end();
  for (const std::string& name : names) {
    // To look at a LOCK would unlock it: PosixFileSystem::IsDirectory() opens and closes the file,
    // and with that a process gives up its locks on it.
    if (!s.ok() || name == "." || name == ".." || name == "LOCK") {
      continue;
    }
    const std::string path = directory + "/" + name;
    uint64_t number;
    bool is_directory = false;
    if (EndsWith(name, kTemporary)) {
      if (below.empty()) {  // else it may be of a database of its own
        temporary_.push_back(path);
      }
    } else if (ContentOf(name, &number) == Content::kOther && !IsSpecial(path) &&
               target->IsDirectory(path, IOOptions(), &is_directory, nullptr).ok() &&
               is_directory) {
      s = below.empty() ? Look(name + "/") : s;  // archive, lost
    } else {
      s = LookAt(below + name, belongs);
    }
  }
  return s;
}

IOStatus Survey::LookAt(const std::string& base, bool belongs) {
  const std::string path = directory_ + "/" + base;
  const bool below = IsBelow(base);
  uint64_t number;
  const Content content = ContentOf(base, &number);
  File file;
  file.base = base;
  IOStatus s = names_->Resolve(path, &file.place);
  if (!s.ok() && !s.IsCorruption()) {
    return belongs ? s : IOStatus::OK();
  }
  if (!below && !(s.ok() && IsEmptyLog(file))) {
    bases_.insert(base);
  }
  if (!s.ok()) {
    if (belongs) {
      damaged_.push_back(path);
    }
    return IOStatus::OK();
  }
  file.counts = !below && IsCounted(base);
  if (!file.place.stub && (below || (content != Content::kTable && content != Content::kBlob))) {
    return s;
  }
  if (file.place.stub) {
    referenced_.insert(file.place.path);
  }
  if (!belongs || !Measure(path, &file)) {
    return IOStatus::OK();
  }
  if (!file.lost && !below) {
    sizes_[base] = file.size;
  }
  files_.push_back(std::move(file));
  return IOStatus::OK();
}

// Its stub may have lost its bytes, or the process died before it wrote them: then there are no
// records in the tier, and RocksDB may have the empty log.
bool Survey::IsEmptyLog(const File& file) const {
  uint64_t number;
  uint64_t size = 0;
  return ContentOf(file.base, &number) == Content::kWal && !file.place.stub &&
         names_->target()->GetFileSize(file.place.path, IOOptions(), &size, nullptr).ok() &&
         size == 0;
}

// Looks twice: a file of a database that is open elsewhere may be moved or deleted meanwhile.
bool Survey::Measure(const std::string& path, File* file) {
  const bool asks_for_age = names_->policy().placement.LeastAge() > 0;
  const auto measure = [&] {
    FileSystem* const fs = file->place.fs();
    const std::string& at = file->place.path;
    if (asks_for_age) {  // what has no time is there nevertheless
      fs->GetFileModificationTime(at, IOOptions(), &file->written, nullptr).PermitUncheckedError();
    }
    return fs->GetFileSize(at, IOOptions(), &file->size, nullptr).ok();
  };
  if (measure()) {
    return true;
  }
  const std::string before = file->place.path;
  if (!names_->target()->FileExists(path, IOOptions(), nullptr).ok() ||
      !names_->Resolve(path, &file->place).ok()) {
    return false;
  }
  if (file->place.path != before && file->place.stub) {
    referenced_.insert(file->place.path);
  }
  file->lost = !measure();
  return true;
}

bool Survey::HasFolder(const Tier& tier) const {
  std::string folder;
  return names_->folders()->Find(directory_, &folder).ok() &&
         tier.fs()->FileExists(Folders::PathIn(tier, folder), IOOptions(), nullptr).ok();
}

// As long as the tier is not there, nobody knows.
bool Survey::IsDeletedLog(const File& file, const Database& database) const {
  return file.lost && !IsBelow(file.base) && database.IsObsoleteLog(file.base) &&
         HasFolder(*file.place.tier);
}

std::vector<std::string> Survey::LostIn(const Tier& tier) const {
  std::vector<std::string> result;
  for (const File& file : files_) {
    if (file.lost && file.place.tier == &tier) {
      result.push_back(file.base);
    }
  }
  return result;
}

size_t Survey::CountIn(const Tier& tier) const {
  size_t result = 0;
  for (const File& file : files_) {
    result += file.place.tier == &tier ? 1 : 0;
  }
  return result;
}

std::vector<Survey::Orphan> Survey::Orphans(const Database& database) const {
  std::vector<Orphan> result;
  std::string folder;
  if (!names_->folders()->Find(directory_, &folder).ok()) {
    return result;
  }
  for (const auto& tier : names_->policy().tiers) {
    std::vector<std::string> names;
    const std::string in = Folders::PathIn(*tier, folder);
    if (tier->is_home() || !tier->fs()->GetChildren(in, IOOptions(), &names, nullptr).ok()) {
      continue;
    }
    for (const std::string& name : names) {
      Orphan orphan;
      orphan.place.tier = tier.get();
      orphan.place.path = in + "/" + name;
      if (name == "." || name == ".." || name == kOwnerName || name == kFolderLock ||
          name == kLostName || referenced_.count(orphan.place.path) > 0) {
        continue;
      }
      if (EndsWith(name, kTemporary)) {
        result.push_back(std::move(orphan));
        continue;
      }
      orphan.base = name.substr(0, name.rfind('.'));
      orphan.needed = Lacks(database, orphan.base) ||
                      (IsReplayed(database, orphan) && !IsGivenUp(orphan, names));
      result.push_back(std::move(orphan));
    }
  }
  return result;
}

// One without records is of a crash: its stub is durable before it has any (PlacedFile::Open()).
bool Survey::IsReplayed(const Database& database, const Orphan& orphan) const {
  return database.NeedsLog(orphan.base) && !Has(orphan.base) && HasRecords(orphan);
}

// RepairDB() has put it into lost/: it has another name in the folder, too, which was to be its
// only one (TieredFileSystem::GiveUp()).
bool Survey::IsGivenUp(const Orphan& orphan, const std::vector<std::string>& names) {
  const std::string start = orphan.base + kGivenUp + ".";
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const std::string path = DirectoryOf(orphan.place.path) + "/" + name;
    bool same = false;
    return name.compare(0, start.size(), start) == 0 &&
           orphan.place.fs()
               ->AreFilesSame(path, orphan.place.path, IOOptions(), &same, nullptr)
               .ok() &&
           same;
  });
}

bool Survey::Lacks(const Database& database, const std::string& base) const {
  const uint64_t size = database.SizeOf(base);
  return size != 0 && SizeOf(base) != size && (Has(base) || !names_->IsBeside(base, size));
}

std::vector<Survey::Orphan> Survey::Needed(const Database& database) const {
  std::vector<Orphan> result;
  for (Orphan& orphan : Orphans(database)) {
    if (orphan.needed) {
      result.push_back(std::move(orphan));
    }
  }
  std::string folder;
  if (!names_->folders()->Find(directory_, &folder).ok()) {
    return result;
  }
  for (const Lost::File& file : Lost(names_->policy().tiers, folder).List()) {
    Orphan orphan;
    orphan.place.tier = file.tier;
    orphan.place.path = file.path;
    orphan.base = file.name.substr(0, file.name.rfind('.'));
    orphan.needed = file.size == database.SizeOf(orphan.base) && Lacks(database, orphan.base);
    if (orphan.needed) {
      result.push_back(std::move(orphan));
    }
  }
  return result;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
