// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of Recovery that takes the references of recipes to logs, and says what is kept.

#include <algorithm>
#include <utility>

#include "plugin/tiered_env/recipe/format.h"
#include "plugin/tiered_env/recovery/recovery.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Not what has found no room in memory, and is durable.
bool NeedsRecipe(const VolatileTable& table) {
  return !table.given_up && table.place.tier->is_volatile();
}

}  // namespace

// An SST that is there, but whose recipe would not help it any more, needs another one.
IOStatus Recovery::TakeReferences() {
  keep_.database = contents_.database;
  keep_.next_segment = contents_.next_segment;
  for (const std::string& directory : segments_.directories()) {
    if (directory != directory_) {
      keep_.directories.insert(NameOfLogDirectory(directory_, directory));
    }
  }
  for (const auto& tier : names_->policy().tiers) {
    if (tier->is_volatile()) {
      keep_.tiers.insert(tier->name());
    }
  }
  std::vector<char> complete(tables_.size());
  IOStatus s = ForAll(tables_.size(), [&](size_t i) {
    bool has_all = false;
    IOStatus taken = TakeReferencesOf(tables_[i], &has_all);
    complete[i] = has_all ? 1 : 0;
    return taken;
  });
  if (!s.ok()) {
    return s;
  }
  for (size_t i = 0; i < tables_.size(); i++) {
    const VolatileTable& table = tables_[i];
    if (complete[i] != 0) {
      keep_.recipes[table.base] = contents_.recipes[table.base];
    } else if (NeedsRecipe(table)) {
      without_recipe_.push_back({table.base, table.place, table.size});
    }
  }
  CarryOver();
  return s;
}

IOStatus Recovery::TakeReferencesOf(const VolatileTable& table, bool* complete) {
  *complete = table.has_recipe && NeedsRecipe(table);
  if (!*complete) {
    return IOStatus::OK();
  }
  std::string recipe;
  IOStatus s = recipe_log_->ReadRecipe(table.base, &recipe);
  if (!s.ok()) {
    return s;
  }
  std::vector<std::pair<Segment*, Ordinal>> taken;
  ForEachReference(recipe, [&](const Reference& reference) {
    Segment* const segment = segments_.segment(reference.segment);
    if (*complete && segment != nullptr && segment->Take(reference.ordinal)) {
      taken.emplace_back(segment, reference.ordinal);
    } else {
      *complete = false;
    }
  }).PermitUncheckedError();  // was read before
  if (!*complete) {
    for (const auto& [segment, ordinal] : taken) {
      segment->Release(ordinal);
    }
  }
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
  if (!finder_.missing().empty()) {
    keep_.segments = contents_.segments;
    keep_.tiers.insert(contents_.tiers.begin(), contents_.tiers.end());
    for (const auto& known : contents_.recipes) {
      if (keep_.recipes.insert(known).second) {
        carried_.insert(known.first);
      }
    }
  }
  for (const auto& [id, known] : segments_.known()) {
    keep_.segments[id] = known;
  }
  keep_.next_segment = std::max(keep_.next_segment, segments_.next_segment());
  for (const auto& [id, path] : segments_.alien()) {
    keep_.segments[id].id = id;
    keep_.segments[id].log_number = kNoLog;
  }
  // Its log may be on a disk that is not mounted this time.
  for (const auto& [id, known] : contents_.segments) {
    if (known.log_number == kNoLog) {
      keep_.segments.emplace(id, known);
    }
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
