// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/files/lost.h"

#include <algorithm>

#include "plugin/tiered_env/files/clock.h"
#include "plugin/tiered_env/files/io.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

std::vector<Lost::File> Lost::List() const {
  std::vector<File> result;
  for (const auto& tier : tiers_) {
    std::vector<std::string> names;
    if (tier->is_home() ||
        !tier->fs()->GetChildren(PathIn(*tier), IOOptions(), &names, nullptr).ok()) {
      continue;
    }
    for (const std::string& name : names) {
      const size_t dot = name.rfind('.');
      File file;
      file.tier = tier.get();
      file.path = PathIn(*tier) + "/" + name;
      Slice time(name);
      time.remove_prefix(dot == std::string::npos ? name.size() : dot + 1);
      if (dot > 0 && ConsumeDecimalNumber(&time, &file.since) && time.empty() &&
          tier->fs()->GetFileSize(file.path, IOOptions(), &file.size, nullptr).ok()) {
        file.name = name.substr(0, dot);
        result.push_back(std::move(file));
      }
    }
  }
  std::sort(result.begin(), result.end(),
            [](const File& a, const File& b) { return a.since < b.since; });
  return result;
}

// Chooses a later second while a name is taken: a loss of power can leave a file under both of its
// names, and a rename of one of them to the other would do nothing.
IOStatus Lost::Take(const Place& place) const {
  FileSystem* fs = place.fs();
  const std::string folder = PathIn(*place.tier);
  IOStatus s = fs->CreateDirIfMissing(folder, IOOptions(), nullptr);
  std::string to;
  for (uint64_t since = SecondsSince1970(); s.ok(); since++) {
    to = folder + "/" + BaseOf(place.path) + "." + std::to_string(since);
    s = fs->FileExists(to, IOOptions(), nullptr);
  }
  return s.IsNotFound() ? fs->RenameFile(place.path, to, IOOptions(), nullptr) : s;
}

IOStatus Lost::TakeDurably(const Place& place) const {
  IOStatus s = Take(place);
  if (s.ok()) {
    s = SyncDirectory(place.fs(), PathIn(*place.tier));
  }
  return s.ok() ? SyncDirectory(place.fs(), Folders::PathIn(*place.tier, folder_)) : s;
}

// A name in a folder is never used again: nothing is replaced.
IOStatus Lost::BringBack(const File& file) const {
  const std::string folder = Folders::PathIn(*file.tier, folder_);
  IOStatus s =
      file.tier->fs()->RenameFile(file.path, folder + "/" + file.name, IOOptions(), nullptr);
  if (!s.ok() || file.tier->is_volatile()) {
    return s;
  }
  s = SyncDirectory(file.tier->fs(), folder);
  return s.ok() ? SyncDirectory(file.tier->fs(), PathIn(*file.tier)) : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
