// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <algorithm>

#include "plugin/tiered_env/find.h"
#include "plugin/tiered_env/name.h"
#include "plugin/tiered_env/visit.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

TieredFileInfo Describe(const Visit& visit, const Survey::File& file) {
  TieredFileInfo info;
  info.name = file.base;
  info.size = file.size;
  info.tier = file.place.tier->name();
  info.wanted = info.tier;
  info.path = file.place.path;
  info.temperature = file.place.tier->options().temperature;
  info.lost = file.lost;
  const LiveTable* need = file.counts ? visit.NeedOf(file.base) : nullptr;
  if (need != nullptr) {
    info.needed = true;
    info.level = need->level;
    info.column_family = need->column_family;
    if (need->temperature != Temperature::kUnknown) {
      info.temperature = need->temperature;
    }
  }
  return info;
}

TieredTierInfo Describe(const Visit& visit, const Tier& tier) {
  TieredTierInfo info;
  info.name = tier.name();
  info.path = tier.is_home() ? visit.directory() : tier.options().path;
  info.budget = tier.options().budget;
  info.there = visit.target()->FileExists(info.path, IOOptions(), nullptr).ok();
  if (info.there) {
    visit.target()
        ->GetFreeSpace(info.path, IOOptions(), &info.free_bytes, nullptr)
        .PermitUncheckedError();
  }
  return info;
}

void Count(const Survey::File& file, TieredTierInfo* tier) {
  (file.counts ? tier->files : tier->other_files)++;
  (file.counts ? tier->bytes : tier->other_bytes) += file.size;
}

}  // namespace

Status InspectTiers(FileSystem* fs, const std::string& directory, TieredDirectoryInfo* info) {
  TieredFileSystem* ours;
  Status s = FindFs(fs, &ours);
  if (!s.ok()) {
    return s;
  }
  Visit visit(ours, directory);
  s = visit.Look();
  if (!s.ok()) {
    return s;
  }
  *info = TieredDirectoryInfo();
  for (const auto& tier : visit.policy().tiers) {
    info->tiers.push_back(Describe(visit, *tier));
  }
  std::map<std::string, const Tier*> wanted;
  for (const Database::Misplaced& file : visit.database().FindMisplaced(visit.policy())) {
    wanted[file.base] = file.wanted;
  }
  for (const Survey::File& file : visit.survey().files()) {
    info->files.push_back(Describe(visit, file));
    TieredTierInfo& tier = info->tiers[static_cast<size_t>(file.place.tier->index())];
    Count(file, &tier);
    const auto it = wanted.find(file.base);
    if (it != wanted.end() && it->second != file.place.tier) {
      info->files.back().wanted = it->second->name();
      tier.stranded_files++;
      tier.stranded_bytes += file.size;
    }
  }
  std::sort(info->files.begin(), info->files.end(),
            [](const TieredFileInfo& a, const TieredFileInfo& b) { return a.name < b.name; });
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
