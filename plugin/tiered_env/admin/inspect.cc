// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "plugin/tiered_env/admin/inventory.h"
#include "plugin/tiered_env/admin/session.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/find.h"
#include "plugin/tiered_env/metrics.h"
#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/recipe/format.h"
#include "plugin/tiered_env/recipe/recipe_log.h"
#include "plugin/tiered_env/stats.h"
#include "plugin/tiered_env/tiered_env_tools.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kMostStatistics = 1 << 20;  // bytes

TieredFileInfo Describe(const AdminSession& session, const Survey::File& file,
                        bool manifest_is_sound) {
  TieredFileInfo info;
  info.need_is_known = file.counts && manifest_is_sound;
  info.name = file.base;
  info.size = file.size;
  info.tier = file.place.tier->name();
  info.wanted = info.next = info.tier;
  info.path = file.place.path;
  info.temperature = file.place.tier->options().temperature;
  info.lost = file.lost;
  const LiveTable* need = file.counts ? session.NeedOf(file.base) : nullptr;
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

TieredTierInfo Describe(const AdminSession& session, const Tier& tier) {
  TieredTierInfo info;
  info.name = tier.name();
  info.path = tier.is_home() ? session.directory() : tier.options().path;
  info.budget = tier.options().budget;
  info.is_memory = tier.is_volatile();
  info.there = session.target()->FileExists(info.path, IOOptions(), nullptr).ok();
  if (info.there) {
    session.target()
        ->GetFreeSpace(info.path, IOOptions(), &info.free_bytes, nullptr)
        .PermitUncheckedError();
  }
  return info;
}

// Adds the column families that have a budget in the tier, and the patterns that no family goes by.
void AddFamilies(const TierOptions& tier, const std::vector<TieredFamilyStats>& families,
                 TieredTierInfo* info) {
  std::set<const FamilyBudget*> used;
  for (const TieredFamilyStats& family : families) {
    if (family.tier == tier.name) {
      used.insert(FindFamilyBudget(tier, family.family));
      info->families.push_back({family.family, false, family.bytes, family.budget});
    }
  }
  for (const FamilyBudget& budget : tier.family_budgets) {
    if (budget.bytes != 0 && used.count(&budget) == 0) {
      info->families.push_back({budget.pattern, true, 0, budget.bytes});
    }
  }
}

void Count(const Survey::File& file, TieredTierInfo* tier) {
  (file.counts ? tier->files : tier->other_files)++;
  (file.counts ? tier->bytes : tier->other_bytes) += file.size;
}

// Bytes of logs that are retained, and of those of RocksDB's that `needed` has.
void MeasureLogs(const AdminSession& session, const RecipeLog::Contents& contents,
                 const std::set<uint64_t>& needed, VolatileStats* stats) {
  const std::multimap<uint64_t, std::string> retained = FindRetainedLogs(session, contents);
  for (auto it = retained.begin(); it != retained.end(); it = retained.upper_bound(it->first)) {
    uint64_t size = 0;
    if (session.target()->GetFileSize(it->second, IOOptions(), &size, nullptr).ok()) {
      stats->segments++;
      stats->retained_bytes += size;
    }
  }
  for (const auto& [id, segment] : contents.segments) {
    if (retained.count(id) == 0 && needed.count(id) > 0) {
      stats->needed_bytes += segment.bytes;
    }
  }
}

IOStatus InspectMemory(const AdminSession& session, VolatileStats* stats) {
  std::string text;
  ReadSmallFile(session.target(), session.PathOf(kMetricsName), kMostStatistics, &text)
      .PermitUncheckedError();
  if (!ReadMemoryMetrics(text, stats)) {  // the database is closed
    ReadSmallFile(session.target(), session.PathOf(kStatisticsName), kMostStatistics, &text)
        .PermitUncheckedError();
    DecodeStatistics(text, stats);  // else nothing was counted
  }
  stats->bytes = stats->recipes = stats->recipe_bytes = stats->recipe_log_bytes = 0;
  stats->segments = stats->retained_bytes = stats->needed_bytes = 0;
  for (const Survey::File& file : session.survey().files()) {
    stats->bytes += file.counts && !file.lost && file.place.tier->is_volatile() ? file.size : 0;
  }
  RecipeLog recipe_log(session.target(), session.directory());
  RecipeLog::Contents contents;
  IOStatus s = LoadRecipes(&recipe_log, &contents);
  std::set<uint64_t> needed;
  std::string recipe;
  for (const auto& [base, known] : contents.recipes) {
    stats->recipes++;
    stats->recipe_bytes += known.size;
    uint64_t last = 0;
    if (recipe_log.ReadRecipe(base, &recipe).ok()) {
      ForEachReference(recipe, [&](const Reference& reference) {
        if (reference.segment != last) {
          last = reference.segment;
          needed.insert(last);
        }
      }).PermitUncheckedError();
    }
  }
  stats->recipe_log_bytes = recipe_log.bytes();
  MeasureLogs(session, contents, needed, stats);
  return s;
}

}  // namespace

Status InspectTiers(FileSystem* fs, const std::string& directory, TieredDirectoryInfo* info) {
  TieredFileSystem* ours;
  Status s = FindFs(fs, &ours);
  if (!s.ok()) {
    return s;
  }
  AdminSession session(ours, directory);
  s = session.Look();
  if (!s.ok()) {
    return s;
  }
  *info = TieredDirectoryInfo();
  const std::vector<TieredFamilyStats> families = session.database().Families(session.policy());
  for (const auto& tier : session.policy().tiers) {
    info->tiers.push_back(Describe(session, *tier));
    AddFamilies(tier->options(), families, &info->tiers.back());
  }
  info->mover_bytes_per_second = ours->options().mover_bytes_per_second;
  std::map<std::string, Database::Misplaced> misplaced;
  for (const Database::Misplaced& file : session.database().FindMisplaced(session.policy())) {
    misplaced[file.base] = file;
  }
  const bool manifest_is_sound = session.CheckManifest().ok();
  for (const Survey::File& file : session.survey().files()) {
    info->files.push_back(Describe(session, file, manifest_is_sound));
    TieredTierInfo& tier = info->tiers[static_cast<size_t>(file.place.tier->index())];
    Count(file, &tier);
    const auto it = misplaced.find(file.base);
    if (it == misplaced.end()) {
      continue;
    }
    info->files.back().next = it->second.to->name();
    if (it->second.wanted != file.place.tier) {
      info->files.back().wanted = it->second.wanted->name();
      tier.stranded_files++;
      tier.stranded_bytes += file.size;
    }
  }
  std::sort(info->files.begin(), info->files.end(),
            [](const TieredFileInfo& a, const TieredFileInfo& b) { return a.name < b.name; });
  info->has_memory = std::any_of(info->tiers.begin(), info->tiers.end(),
                                 [](const TieredTierInfo& tier) { return tier.is_memory; });
  if (info->has_memory) {
    InspectMemory(session, &info->in_memory).PermitUncheckedError();  // "tier check" tells
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
