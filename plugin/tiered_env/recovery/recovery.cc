// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recovery/recovery.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/thread.h"
#include "plugin/tiered_env/recipe/format.h"
#include "plugin/tiered_env/recipe/rebuild.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr auto kReportEvery = std::chrono::seconds(1);
// Ends the message that an SST is lost.
constexpr char kSalvageHint[] =
    "; only if that is gone for good, \"rocktier tier recover --salvage\" gives it up, and brings "
    "away what there is";

uint64_t MicrosSince(std::chrono::steady_clock::time_point start) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::steady_clock::now() - start)
                                   .count());
}

}  // namespace

Recovery::Recovery(Namespace* names, std::string directory, RecipeLog* recipe_log, uint32_t threads)
    : names_(names),
      directory_(std::move(directory)),
      recipe_log_(recipe_log),
      threads_(threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency())),
      info_log_(names->InfoLog(directory_)),
      finder_(names, directory_, recipe_log, contents_, info_log_),
      segments_(names->shown(), names->target(), directory_, info_log_),
      writer_(names, directory_),
      start_(std::chrono::steady_clock::now()),
      reported_(start_) {}

// With the threads that can be had: this one at least.
IOStatus Recovery::ForAll(size_t count, const Work& work) const {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  IOStatus result;
  const auto run = [&] {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      IOStatus s = work(i);
      if (!s.ok()) {
        std::lock_guard<std::mutex> lock(mutex);
        result = result.ok() ? s : result;
        next.store(count);
      }
    }
  };
  std::vector<std::thread> threads;
  std::thread thread;
  for (size_t i = 1; i < std::min<size_t>(threads_, count) && StartThread(run, &thread); i++) {
    threads.push_back(std::move(thread));
  }
  run();
  for (std::thread& other : threads) {
    other.join();
  }
  return result;
}

IOStatus Recovery::ForTables(const std::vector<VolatileTable*>& tables,
                             const std::function<IOStatus(VolatileTable*)>& work) {
  return ForAll(tables.size(), [&](size_t i) {
    IOStatus s = work(tables[i]);
    if (s.IsCorruption() && goes_on()) {
      std::lock_guard<std::mutex> lock(mutex_);
      tables[i]->given_up = true;
      failures_.push_back({tables[i]->base, s.ToString()});
      s = IOStatus::OK();
    } else if (s.IsCorruption()) {
      s = IOStatus::Corruption(Slice(s.getState()).ToString() + kSalvageHint);
    }
    return s;
  });
}

std::vector<VolatileTable*> Recovery::All() {
  std::vector<VolatileTable*> all;
  for (VolatileTable& table : tables_) {
    all.push_back(&table);
  }
  return all;
}

IOStatus Recovery::Salvage(const std::map<uint64_t, LiveTable>& tables,
                           const std::map<uint64_t, LiveBlob>& blobs, const Families& families,
                           const std::vector<std::string>& gone) {
  salvage_ = true;
  gone_ = gone;
  return Run(tables, blobs, families);
}

IOStatus Recovery::Run(const std::map<uint64_t, LiveTable>& tables,
                       const std::map<uint64_t, LiveBlob>& blobs, const Families& families) {
  IOStatus s = recipe_log_->Load(&contents_);
  if (s.IsCorruption() && salvage_) {  // what was read counts
    s = IOStatus::OK();
  }
  if (!contents_.damage.empty()) {
    ROCKS_LOG_WARN(info_log_, "tiered_env: the recipe log: %s", contents_.damage.c_str());
  }
  if (s.ok()) {
    s = FindTables(tables, blobs, families);
  }
  if (s.ok() && !salvage_) {
    s = CheckDamage();
  }
  if (s.ok()) {
    s = ForTables(All(), [this](VolatileTable* table) { return Check(table); });
  }
  if (s.ok()) {
    s = LoadSegments();
  }
  std::vector<VolatileTable*> lost;
  for (VolatileTable& table : tables_) {
    if (table.intact) {
      writer_.Count(table);
    } else if (!table.given_up) {
      lost.push_back(&table);
      lost_bytes_ += table.size;
    }
  }
  if (s.ok() && !lost.empty()) {
    ROCKS_LOG_INFO(info_log_,
                   "tiered_env: rebuilding %zu SSTs, %llu bytes, from %zu logs, in %u threads",
                   lost.size(), static_cast<unsigned long long>(lost_bytes_),
                   segments_.ids().size(), threads_);
  }
  if (s.ok()) {
    s = ForTables(lost, [this](VolatileTable* table) { return Rebuild(table); });
  }
  segments_.DropEntries();
  buffers_.Clear();
  if (s.ok()) {
    s = TakeReferences();
  }
  if (s.ok() && !lost.empty()) {
    ROCKS_LOG_INFO(info_log_, "tiered_env: rebuilt %llu SSTs in %llu ms",
                   static_cast<unsigned long long>(rebuilt_files_),
                   static_cast<unsigned long long>(MicrosSince(start_) / 1000));
  }
  if (!s.ok()) {
    ROCKS_LOG_ERROR(info_log_, "tiered_env: cannot rebuild what is lost: %s", s.ToString().c_str());
  }
  return s;
}

IOStatus Recovery::Rehearse(const std::map<uint64_t, LiveTable>& tables,
                            const std::vector<std::string>& gone, std::string* refusal) {
  rehearse_ = true;
  IOStatus s = recipe_log_->Load(&contents_);
  if (s.ok()) {
    s = FindTables(tables, {}, {});
  }
  for (const VolatileTable& table : tables_) {
    lost_bytes_ += table.size;
  }
  if (s.ok()) {
    s = ForTables(All(), [this](VolatileTable* table) {
      return table->has_recipe ? IOStatus::OK()
                               : IOStatus::Corruption(directory_ + "/" + table->base,
                                                      "is in memory and has no recipe");
    });
  }
  if (s.ok()) {
    s = LoadSegments();
  }
  if (s.ok()) {
    const IOStatus mounted = segments_.CheckMounted(gone);
    *refusal = mounted.ok() ? "" : mounted.getState();
    s = ForTables(All(), [this](VolatileTable* table) {
      return table->given_up ? IOStatus::OK() : Rebuild(table);
    });
  }
  return s;
}

IOStatus Recovery::BringBack(const std::map<uint64_t, LiveTable>& tables) {
  in_use_ = true;
  IOStatus s = recipe_log_->Load(&contents_);
  finder_.FindInUse(tables);
  tables_ = finder_.TakeFound();
  for (const VolatileTable& table : tables_) {
    lost_bytes_ += table.size;
  }
  if (s.ok()) {
    s = LoadSegments();
  }
  if (s.ok()) {
    s = ForTables(All(), [this](VolatileTable* table) {
      return table->given_up ? IOStatus::OK() : Rebuild(table);
    });
  }
  return s;
}

IOStatus Recovery::FindTables(const std::map<uint64_t, LiveTable>& tables,
                              const std::map<uint64_t, LiveBlob>& blobs, const Families& families) {
  IOStatus s = finder_.Find(tables, families);
  finder_.FindBlobs(blobs, families);
  tables_ = finder_.TakeFound();
  for (const TableFinder::Durable& file : finder_.durable()) {
    writer_.Count(file);
  }
  return s;
}

// An SST without a stub may have its recipe where the recipe log is damaged. That would be written
// anew without it, and the damaged one deleted.
IOStatus Recovery::CheckDamage() const {
  return contents_.damage.empty() || finder_.missing().empty()
             ? IOStatus::OK()
             : IOStatus::Corruption(
                   directory_ + "/" + finder_.missing().front(),
                   "is missing, and so may be its recipe: " + contents_.damage + kSalvageHint);
}

// What cannot be looked at now is rebuilt. Who gives SSTs up does not take that for a loss.
IOStatus Recovery::Check(VolatileTable* table) {
  IOStatus s = finder_.Check(table);
  if (s.IsCorruption()) {
    return s;
  }
  return salvage_ || !table->has_recipe ? NotYet(*table, s) : IOStatus::OK();
}

IOStatus Recovery::LoadSegments() {
  IOStatus s = CollectReferences();
  if (s.ok()) {
    s = segments_.Find(contents_);
  }
  if (!s.ok()) {
    return s;
  }
  const std::vector<uint64_t> ids = segments_.ids();
  s = ForAll(ids.size(), [&](size_t i) {
    IOStatus read = segments_.Load(ids[i]);
    return salvage_ ? read : IOStatus::OK();  // else the SST that needs it tells
  });
  return s.ok() && salvage_ ? segments_.CheckMounted(gone_) : s;
}

IOStatus Recovery::CollectReferences() {
  IOStatus s;
  std::string recipe;
  for (auto table = tables_.begin(); s.ok() && table != tables_.end(); ++table) {
    if (!table->has_recipe || table->given_up) {
      continue;
    }
    s = recipe_log_->ReadRecipe(table->base, &recipe);
    if (s.ok()) {
      s = segments_.Add(contents_, recipe, /*wanted=*/!table->intact);
    }
    if (!s.ok()) {
      s = IsFinal(s) ? IOStatus::Corruption(directory_ + "/" + table->base, s.ToString())
                     : NotYet(*table, s);
    }
    if (s.IsCorruption() && goes_on()) {
      std::lock_guard<std::mutex> lock(mutex_);
      table->has_recipe = false;
      table->given_up = !table->intact;
      if (rehearse_ || table->given_up) {
        failures_.push_back({table->base, s.ToString()});
      }
      s = IOStatus::OK();
    }
  }
  return s;
}

IOStatus Recovery::Rebuild(VolatileTable* table) {
  const std::string path = directory_ + "/" + table->base;
  std::string recipe;
  RecipeSummary summary;
  IOStatus s = recipe_log_->ReadRecipe(table->base, &recipe);
  if (s.ok()) {
    s = AsIOStatus(DecodeSummary(recipe, &summary));
  }
  if (s.ok() && summary.size != table->size) {
    s = IOStatus::Corruption(path, "has a recipe of another file");
  }
  if (!s.ok()) {
    return NotRebuilt(*table, recipe, s);
  }
  Buffers::Buffer buffer = buffers_.Take(summary.size);
  s = RebuildIn(buffer.memory.get(), recipe, table);
  buffers_.Give(std::move(buffer));
  if (s.ok()) {
    Progress(summary.size);
  }
  return s;
}

IOStatus Recovery::RebuildIn(char* sst, const std::string& recipe, VolatileTable* table) {
  const std::unique_ptr<EntrySource> entries = segments_.Entries();
  const Status rebuilt = tiered_env::Rebuild(recipe, entries.get(), sst);
  if (!rebuilt.ok()) {
    return NotRebuilt(*table, recipe, rebuilt);
  }
  if (rehearse_) {
    return IOStatus::OK();
  }
  TEST_SYNC_POINT("Recovery::Rebuild:BeforeWrite");
  IOStatus s = writer_.Write(table, Slice(sst, table->size), in_use_);
  TEST_SYNC_POINT("Recovery::Rebuild:AfterWrite");
  table->intact = s.ok() || table->intact;
  return s;
}

// A rehearsal tells all that fails.
bool Recovery::IsFinal(const Status& why) const { return why.IsCorruption() || rehearse_; }

IOStatus Recovery::NotYet(const VolatileTable& table, const Status& why) const {
  return why.IsNotSupported()
             ? IOStatus::NotSupported(directory_ + "/" + table.base, why.ToString())
             : AsIOStatus(why);
}

IOStatus Recovery::NotRebuilt(const VolatileTable& table, const std::string& recipe,
                              const Status& why) const {
  if (!IsFinal(why)) {
    return NotYet(table, why);
  }
  const std::string path = directory_ + "/" + table.base;
  return IOStatus::Corruption(
      path, (rehearse_ ? "cannot be rebuilt: " : "is lost and cannot be rebuilt: ") +
                why.ToString() + segments_.ProblemsOf(recipe));
}

std::vector<Recovery::Present> Recovery::present() const {
  std::vector<Present> result;
  for (const VolatileTable& table : tables_) {
    if (table.intact && table.place.tier->is_volatile()) {
      result.push_back({table.base, table.place, table.size});
    }
  }
  return result;
}

void Recovery::Progress(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  rebuilt_files_++;
  rebuilt_bytes_ += bytes;
  const auto now = std::chrono::steady_clock::now();
  if (now - reported_ < kReportEvery) {
    return;
  }
  reported_ = now;
  const double seconds = static_cast<double>(MicrosSince(start_)) / 1e6;
  const double left = seconds * static_cast<double>(lost_bytes_ - rebuilt_bytes_) /
                      static_cast<double>(rebuilt_bytes_);
  ROCKS_LOG_INFO(info_log_, "tiered_env: rebuilt %llu of %llu bytes, about %.0f s left",
                 static_cast<unsigned long long>(rebuilt_bytes_),
                 static_cast<unsigned long long>(lost_bytes_), left);
}

void Recovery::DeleteUnused() {
  if (finder_.missing().empty()) {
    segments_.DeleteUnused();
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
