// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of TieredFileSystem that finds out whether a database may be opened over these tiers.

#include <algorithm>

#include "logging/logging.h"
#include "plugin/tiered_env/db/survey.h"
#include "plugin/tiered_env/files/identity.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Names of files whose stubs are there, in tiers that keep what they have.
std::string DurablyLost(const Policy& policy, const Survey& survey) {
  std::string result;
  for (const auto& tier : policy.tiers) {
    const std::vector<std::string> names =
        tier->is_volatile() ? std::vector<std::string>() : survey.LostIn(*tier);
    for (const std::string& name : names) {
      result += (result.empty() ? "" : ", ") + name;
    }
  }
  return result;
}

}  // namespace

// Stubs that came without the TIERS beside them are a copy's, or hard links.
IOStatus TieredFileSystem::CheckName(const std::string& directory) {
  if (!IsMissing(target_->FileExists(directory + "/" + kIdentityName, IOOptions(), nullptr))) {
    return IOStatus::OK();
  }
  Survey survey(this, directory);
  IOStatus s = survey.Run();
  for (const Survey::File& file : survey.files()) {
    if (s.ok() && file.place.stub) {
      s = IOStatus::InvalidArgument(
          directory + "/" + file.base,
          "is a stub of " + file.place.path +
              ", and the directory has no TIERS. If it was copied from another database's, use "
              "checkpoints or backups; else \"rocktier tier check --repair\" brings TIERS back");
    }
  }
  return s;
}

IOStatus TieredFileSystem::Claim(const std::string& directory) {
  IOStatus s = CheckDirectories(policy_.tiers, directory);
  if (s.ok()) {
    s = CheckName(directory);
  }
  if (!s.ok()) {
    return s;
  }
  Survey survey(this, directory);
  if (folders_->IsOld(directory)) {  // then paths may be wrong: they shall not be written down
    s = survey.Run();
    if (s.ok() && !DurablyLost(policy_, survey).empty()) {
      return folders_->CheckOwner(directory);
    }
    s = IOStatus::OK();
  }
  s = folders_->Claim(directory,
                      target_->FileExists(directory + "/CURRENT", IOOptions(), nullptr).ok());
  if (s.IsInvalidArgument() && survey.Run().ok()) {
    const std::string lost = DurablyLost(policy_, survey);
    const std::shared_ptr<Logger> info_log = InfoLog(directory);
    ROCKS_LOG_ERROR(info_log, "tiered_env: %s; not there: %s", s.ToString().c_str(), lost.c_str());
    s = lost.empty() ? s : IOStatus::InvalidArgument(s.getState(), "not there: " + lost);
  }
  return s;
}

bool TieredFileSystem::IsBeside(const std::string& base, uint64_t size) const {
  return std::any_of(beside_.begin(), beside_.end(), [&](const std::string& directory) {
    uint64_t found = 0;
    return target_->GetFileSize(directory + "/" + base, IOOptions(), &found, nullptr).ok() &&
           found == size;
  });
}

IOStatus TieredFileSystem::FileExists(const std::string& path, const IOOptions& options,
                                      IODebugContext* dbg) {
  IOStatus s = target_->FileExists(path, options, dbg);
  const std::shared_ptr<Database> database =
      IsMissing(s) && BaseOf(path) == "CURRENT" ? FindDatabase(DirectoryOf(path)) : nullptr;
  if (database == nullptr) {
    return s;
  }
  Survey survey(this, database->directory());
  IOStatus looked = survey.Run();
  if (!looked.ok()) {
    return IOStatus::IOError(path, "is missing: " + looked.ToString());
  }
  // What died when it made one has left a MANIFEST at most.
  const auto is_data = [](const std::string& base) {
    uint64_t number;
    const Content content = ContentOf(base, &number);
    return base.find('/') == std::string::npos && content != Content::kMeta &&
           content != Content::kOther;
  };
  size_t count = 0;
  for (const Survey::Orphan& orphan : survey.Orphans(*database)) {
    count += is_data(orphan.base) ? 1 : 0;
  }
  for (const Survey::File& file : survey.files()) {
    count += file.place.stub && is_data(file.base) ? 1 : 0;
  }
  return count == 0 ? s
                    : IOStatus::IOError(
                          path, "is missing, and tiers have " + std::to_string(count) +
                                    " files of the database: put CURRENT and MANIFEST back, or "
                                    "call RepairDB() or DestroyDB() with this FileSystem");
}

void TieredFileSystem::LookForReadOnly(const std::string& directory) {
  for (const auto& tier : policy_.tiers) {
    const bool read_only = !tier->is_home() && IsReadOnly(tier->options().path);
    if (tier->SetReadOnly(read_only)) {
      const std::shared_ptr<Logger> info_log = InfoLog(directory);
      ROCKS_LOG_WARN(info_log, "tiered_env: %s is %s", tier->ToString().c_str(),
                     read_only ? "read-only: what is there stays, and nothing goes there"
                               : "not read-only any more");
    }
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
