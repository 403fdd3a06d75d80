// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recovery/table_finder.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>

#include "file/filename.h"
#include "logging/logging.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/recipe/format.h"
#include "util/xxhash.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

Tier* FirstVolatile(const Policy& policy) {
  for (const auto& tier : policy.tiers) {
    if (tier->is_volatile()) {
      return tier.get();
    }
  }
  return nullptr;
}

bool HasBudget(const Policy& policy, const std::string& family) {
  return std::any_of(policy.tiers.begin(), policy.tiers.end(), [&](const auto& tier) {
    return FamilyBudgetOf(tier->options(), family) != 0;
  });
}

bool IsInMemory(const std::string& path, const std::string& above) {
  struct statfs st;
  return (statfs(path.c_str(), &st) == 0 || statfs(above.c_str(), &st) == 0) &&
         (st.f_type == TMPFS_MAGIC || st.f_type == RAMFS_MAGIC);
}

}  // namespace

// Home may be any of db_paths: by its path id alone an SST is not elsewhere.
bool TableFinder::IsElsewhere(uint64_t number, const LiveTable& live) const {
  const std::string base = BaseOf(MakeTableFileName(number));
  return live.path_id != 0 && contents_.recipes.count(base) == 0 &&
         IsMissing(names_->target()->FileExists(directory_ + "/" + base, IOOptions(), nullptr));
}

IOStatus TableFinder::Find(const std::map<uint64_t, LiveTable>& tables,
                           const std::map<uint32_t, std::string>& families) {
  IOStatus s;
  for (auto it = tables.begin(); s.ok() && it != tables.end(); ++it) {
    if (!IsElsewhere(it->first, it->second)) {
      const auto family = families.find(it->second.column_family);
      s = Classify(it->first, it->second, family == families.end() ? "" : family->second);
    }
  }
  return s;
}

// What is not found is in another directory of db_paths, or RocksDB misses it.
void TableFinder::FindBlobs(const std::map<uint64_t, LiveBlob>& blobs,
                            const std::map<uint32_t, std::string>& families) {
  for (const auto& [number, blob] : blobs) {
    const auto family = families.find(blob.column_family);
    Place place;
    uint64_t size = 0;
    if (family != families.end() && HasBudget(names_->policy(), family->second) &&
        names_->Resolve(BlobFileName(directory_, number), &place).ok() &&
        place.fs()->GetFileSize(place.path, IOOptions(), &size, nullptr).ok()) {
      durable_.push_back({place.tier, size, family->second});
    }
  }
}

void TableFinder::FindInUse(const std::map<uint64_t, LiveTable>& tables) {
  for (const auto& [number, live] : tables) {
    VolatileTable table;
    table.base = BaseOf(MakeTableFileName(number));
    table.size = live.size;
    table.has_recipe = contents_.recipes.count(table.base) > 0;
    table.has_stub = names_->Resolve(directory_ + "/" + table.base, &table.place).ok() &&
                     table.place.stub && table.place.tier->is_volatile();
    if (table.has_recipe && table.has_stub) {
      found_.push_back(std::move(table));
    }
  }
}

// A database whose recipe log is of the first version does not know the names of its tiers; then a
// tmpfs tells.
IOStatus TableFinder::CheckKind(const VolatileTable& table) const {
  const Tier& tier = *table.place.tier;
  const bool was_memory =
      contents_.database.empty()
          ? table.has_recipe && IsInMemory(DirectoryOf(table.place.path), tier.options().path)
          : contents_.tiers.count(tier.name()) > 0;
  return was_memory ? IOStatus::InvalidArgument(
                          directory_ + "/" + table.base,
                          "is in " + tier.ToString() +
                              ", which is memory: tiers= must have it with "
                              "kind=memory; \"rocktier tier drain\" with that empties it")
                    : IOStatus::OK();
}

void TableFinder::NoteMissing(const std::string& base) {
  missing_.push_back(base);
  ROCKS_LOG_ERROR(info_log_,
                  "tiered_env: %s/%s is missing, or not as long as the MANIFEST says: no retained "
                  "log and no recipe is deleted",
                  directory_.c_str(), base.c_str());
}

// A stub of a volatile tier is not synced: power may have taken it, or a part of it.
IOStatus TableFinder::Classify(uint64_t number, const LiveTable& live, const std::string& family) {
  VolatileTable table;
  table.base = BaseOf(MakeTableFileName(number));
  table.size = live.size;
  table.family = family;
  table.has_recipe = contents_.recipes.count(table.base) > 0;
  const std::string path = directory_ + "/" + table.base;
  IOStatus s = names_->Resolve(path, &table.place);
  uint64_t size = 0;
  const auto is_there = [&] {
    return table.place.fs()->GetFileSize(table.place.path, IOOptions(), &size, nullptr).ok() &&
           size == live.size;
  };
  const auto is_durable = [&] {
    if (!is_there()) {
      return false;
    }
    durable_.push_back({table.place.tier, live.size, family});
    return true;
  };
  if (s.IsCorruption() && table.has_recipe) {
    table.place = Place();
  } else if (!s.ok()) {
    return s;
  } else if (table.place.stub && !table.place.tier->is_volatile()) {
    s = CheckKind(table);
    if (s.ok() && !is_durable()) {
      NoteMissing(table.base);  // RocksDB says so
    }
    return s;
  } else if (table.place.stub) {
    table.has_stub = true;
  } else if (is_durable() || (!table.has_recipe && names_->IsBeside(table.base, live.size))) {
    return s;
  } else if (!table.has_recipe) {
    NoteMissing(table.base);
    return s;
  } else {
    table.place = Place();
  }
  if (table.place.tier == nullptr) {
    table.place.tier = FirstVolatile(names_->policy());
  }
  if (table.place.tier == nullptr) {
    return IOStatus::InvalidArgument(path, "was in a volatile tier, and tiers= has none");
  }
  found_.push_back(std::move(table));
  return IOStatus::OK();
}

// After the death of the process alone the files are there still, and may be trusted if they are
// what their recipes say.
IOStatus TableFinder::Check(VolatileTable* table) const {
  const std::string path = directory_ + "/" + table->base;
  uint64_t size = 0;
  IOStatus s = table->has_stub
                   ? table->place.fs()->GetFileSize(table->place.path, IOOptions(), &size, nullptr)
                   : IOStatus::NotFound();
  if (!s.ok() && !IsMissing(s)) {
    return s;
  }
  const bool there = s.ok() && size == table->size;
  if (!table->has_recipe) {
    table->intact = there;
    return there
               ? IOStatus::OK()
               : IOStatus::Corruption(
                     path, "is lost with " + table->place.tier->ToString() + ", and has no recipe" +
                               (contents_.damage.empty() ? "" : "; " + contents_.damage));
  }
  if (!there) {
    return IOStatus::OK();
  }
  std::string recipe;
  RecipeSummary summary;
  s = recipe_log_->ReadRecipe(table->base, &recipe);
  if (s.ok()) {
    s = AsIOStatus(DecodeSummary(recipe, &summary));
  }
  std::unique_ptr<MemoryMappedFileBuffer> sst;
  if (s.ok()) {
    s = table->place.fs()->NewMemoryMappedFileBuffer(table->place.path, &sst);
  }
  table->intact = s.ok() && summary.size == sst->GetLen() &&
                  summary.checksum == XXH3_64bits(sst->GetBase(), sst->GetLen());
  return s.IsCorruption() || IsMissing(s) ? IOStatus::OK() : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
