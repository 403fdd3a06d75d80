// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/claim.h"

#include <memory>
#include <vector>

#include "logging/logging.h"
#include "plugin/tiered_env/db/survey.h"
#include "plugin/tiered_env/files/identity.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/options/text.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kMostNames = 3;  // in an error

// Names of files whose stubs are there, in tiers that keep what they have.
std::vector<std::string> DurablyLost(const Policy& policy, const Survey& survey) {
  std::vector<std::string> result;
  for (const auto& tier : policy.tiers) {
    if (!tier->is_volatile()) {
      const std::vector<std::string> lost = survey.LostIn(*tier);
      result.insert(result.end(), lost.begin(), lost.end());
    }
  }
  return result;
}

// Stubs that came without the TIERS beside them are a copy's, or hard links.
IOStatus CheckName(Namespace* names, const std::string& directory) {
  if (!IsMissing(
          names->target()->FileExists(directory + "/" + kIdentityName, IOOptions(), nullptr))) {
    return IOStatus::OK();
  }
  Survey survey(names, directory);
  IOStatus s = survey.Run();
  for (const Survey::File& file : survey.files()) {
    if (s.ok() && file.place.stub) {
      s = IOStatus::InvalidArgument(
          directory + "/" + file.base,
          "is a stub that leads to " + file.place.path +
              ", and the directory has no TIERS. If it was copied from another database's, use "
              "checkpoints or backups; else \"rocktier tier check --repair\" brings TIERS back");
    }
  }
  return s;
}

IOStatus CheckPlaces(Namespace* names, const std::string& directory) {
  IOStatus s = CheckDirectories(names->policy().tiers, directory);
  return s.ok() ? CheckName(names, directory) : s;
}

}  // namespace

IOStatus CheckClaim(Namespace* names, const std::string& directory) {
  IOStatus s = CheckPlaces(names, directory);
  return s.ok() ? names->folders()->CheckOwner(directory) : s;
}

IOStatus Claim(Namespace* names, const std::string& directory) {
  IOStatus s = CheckPlaces(names, directory);
  if (!s.ok()) {
    return s;
  }
  Survey survey(names, directory);
  if (names->folders()->IsOld(
          directory)) {  // then paths may be wrong: they shall not be written down
    s = survey.Run();
    if (s.ok() && !DurablyLost(names->policy(), survey).empty()) {
      return names->folders()->CheckOwner(directory);
    }
    s = IOStatus::OK();
  }
  s = names->folders()->Claim(
      directory, names->target()->FileExists(directory + "/CURRENT", IOOptions(), nullptr).ok());
  if (s.IsInvalidArgument() && survey.Run().ok()) {
    const std::vector<std::string> lost = DurablyLost(names->policy(), survey);
    const std::shared_ptr<Logger> info_log = names->InfoLog(directory);
    ROCKS_LOG_ERROR(info_log, "tiered_env: %s; files that are not there: %s", s.ToString().c_str(),
                    Join(lost).c_str());
    if (!lost.empty()) {
      s = IOStatus::InvalidArgument("files are not there (" + Join(lost, kMostNames) + ")",
                                    s.getState());
    }
  }
  return s;
}

IOStatus CheckMissingCurrent(Namespace* names, const Database& database, const std::string& path) {
  Survey survey(names, database.directory());
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
  for (const Survey::Orphan& orphan : survey.Orphans(database)) {
    count += is_data(orphan.base) ? 1 : 0;
  }
  for (const Survey::File& file : survey.files()) {
    count += file.place.stub && is_data(file.base) ? 1 : 0;
  }
  return count == 0 ? IOStatus::OK()
                    : IOStatus::IOError(
                          path, "is missing, and tiers have " + std::to_string(count) +
                                    " files of the database: put CURRENT and MANIFEST back, or "
                                    "call RepairDB() or DestroyDB() with this FileSystem");
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
