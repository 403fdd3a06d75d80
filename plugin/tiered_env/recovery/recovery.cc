// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recovery/recovery.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/wal/archive.h"
#include "plugin/tiered_env/wal/log_reader.h"
#include "test_util/sync_point.h"
#include "util/xxhash.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr auto kReportEvery = std::chrono::seconds(1);

constexpr char kSalvage[] =
    "; only if that is gone for good, \"rocktier tier recover --salvage\" gives it up, and brings "
    "away what there is";

Tier* FirstVolatile(const Policy& policy) {
  for (const auto& tier : policy.tiers) {
    if (tier->is_volatile()) {
      return tier.get();
    }
  }
  return nullptr;
}

bool IsInMemory(const std::string& path, const std::string& above) {
  struct statfs st;
  return (statfs(path.c_str(), &st) == 0 || statfs(above.c_str(), &st) == 0) &&
         (st.f_type == TMPFS_MAGIC || st.f_type == RAMFS_MAGIC);
}

uint64_t MicrosSince(std::chrono::steady_clock::time_point start) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::steady_clock::now() - start)
                                   .count());
}

std::string Join(const std::vector<std::string>& paths) {
  std::string result;
  for (const std::string& path : paths) {
    result += (result.empty() ? "" : ", ") + path;
  }
  return result;
}

}  // namespace

// Puts the entries of a log into an index, and keeps those that are wanted.
class Recovery::Loader : public EntryVisitor {
 public:
  Loader(Loaded* loaded, bool is_archive) : loaded_(loaded), is_archive_(is_archive) {}

  void OnEntry(Ordinal ordinal, const Entry& entry) override {
    if (!is_archive_ && ordinal >= loaded_->known.entries) {
      return;  // was added after recipes were made
    }
    loaded_->segment->Add(ordinal, entry);
    if (ordinal < loaded_->wanted.size() && loaded_->wanted[ordinal]) {
      loaded_->entries->Add(ordinal, entry);
    }
  }

 private:
  Loaded* const loaded_;
  const bool is_archive_;
};

// What was kept of all segments.
class Recovery::Entries : public EntrySource {
 public:
  explicit Entries(const std::map<uint64_t, Loaded>& segments) : segments_(segments) {}

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
  const std::map<uint64_t, Loaded>& segments_;
  const EntryArena* last_ = nullptr;
  uint64_t last_id_ = 0;
};

Recovery::Recovery(Namespace* names, std::string directory, RecipeLog* recipe_log, uint32_t threads)
    : names_(names),
      directory_(std::move(directory)),
      recipe_log_(recipe_log),
      threads_(threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency())),
      info_log_(names->InfoLog(directory_)),
      start_(std::chrono::steady_clock::now()),
      reported_(start_) {}

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
  for (size_t i = 1; i < std::min<size_t>(threads_, count); i++) {
    threads.emplace_back(run);
  }
  run();
  for (std::thread& thread : threads) {
    thread.join();
  }
  return result;
}

// Whoever counts the database's files takes what is held here.
Recovery::~Recovery() {
  for (const auto& [tier, bytes] : held_) {
    tier->Release(bytes);
  }
}

IOStatus Recovery::ForTables(const std::vector<Table*>& tables,
                             const std::function<IOStatus(Table*)>& work) {
  return ForAll(tables.size(), [&](size_t i) {
    IOStatus s = work(tables[i]);
    if (s.IsCorruption() && (salvage_ || rehearse_)) {
      std::lock_guard<std::mutex> lock(mutex_);
      tables[i]->given_up = true;
      failures_.push_back({tables[i]->base, s.ToString()});
      s = IOStatus::OK();
    }
    return s;
  });
}

IOStatus Recovery::LoadAll() {
  std::vector<Loaded*> loaded;
  for (auto& [id, segment] : segments_) {
    loaded.push_back(&segment);
  }
  return ForAll(loaded.size(), [&](size_t i) { return Load(loaded[i]); });
}

IOStatus Recovery::Run(const std::map<uint64_t, LiveTable>& tables, bool salvage) {
  salvage_ = salvage;
  IOStatus s = recipe_log_->Load(&contents_);
  if (s.IsCorruption() && salvage) {
    contents_ = RecipeLog::Contents();
    s = IOStatus::OK();
  }
  if (s.ok()) {
    s = FindTables(tables);
  }
  std::vector<Table*> all;
  for (Table& table : tables_) {
    all.push_back(&table);
  }
  if (s.ok()) {
    s = ForTables(all, [this](Table* table) { return Check(table); });
  }
  if (s.ok()) {
    s = CollectReferences();
  }
  if (s.ok()) {
    s = FindLogs();
  }
  std::vector<Table*> lost;
  for (Table& table : tables_) {
    if (table.intact) {
      table.place.tier->Take(table.size);
      Hold(table.place.tier, table.size);
    } else if (!table.given_up) {
      lost.push_back(&table);
      lost_bytes_ += table.size;
    }
  }
  if (s.ok()) {
    s = LoadAll();
  }
  if (s.ok() && !lost.empty()) {
    ROCKS_LOG_INFO(
        info_log_, "tiered_env: rebuilding %zu SSTs, %llu bytes, from %zu logs, in %u threads",
        lost.size(), static_cast<unsigned long long>(lost_bytes_), segments_.size(), threads_);
  }
  if (s.ok()) {
    s = ForTables(lost, [this](Table* table) { return Rebuild(table); });
  }
  for (auto& [id, segment] : segments_) {
    segment.entries.reset();
  }
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

IOStatus Recovery::Rehearse(const std::map<uint64_t, LiveTable>& tables) {
  rehearse_ = true;
  IOStatus s = recipe_log_->Load(&contents_);
  if (s.ok()) {
    s = FindTables(tables);
  }
  std::vector<Table*> all;
  for (Table& table : tables_) {
    all.push_back(&table);
    lost_bytes_ += table.size;
  }
  if (s.ok()) {
    s = ForTables(all, [this](Table* table) {
      return table->has_recipe ? IOStatus::OK()
                               : IOStatus::Corruption(directory_ + "/" + table->base,
                                                      "is in memory and has no recipe");
    });
  }
  if (s.ok()) {
    s = CollectReferences();
  }
  if (s.ok()) {
    s = FindLogs();
  }
  if (s.ok()) {
    s = LoadAll();
  }
  return s.ok() ? ForTables(all,
                            [this](Table* table) {
                              return table->given_up ? IOStatus::OK() : Rebuild(table);
                            })
                : s;
}

IOStatus Recovery::BringBack(const std::map<uint64_t, LiveTable>& tables) {
  in_use_ = true;
  IOStatus s = recipe_log_->Load(&contents_);
  for (const auto& [number, live] : tables) {
    Table table;
    table.base = BaseOf(MakeTableFileName(number));
    table.size = live.size;
    table.has_recipe = contents_.recipes.count(table.base) > 0;
    table.has_stub = names_->Resolve(directory_ + "/" + table.base, &table.place).ok() &&
                     table.place.stub && table.place.tier->is_volatile();
    if (table.has_recipe && table.has_stub) {  // else it was deleted meanwhile
      lost_bytes_ += table.size;
      tables_.push_back(std::move(table));
    }
  }
  if (s.ok()) {
    s = CollectReferences();
  }
  if (s.ok()) {
    s = FindLogs();
  }
  if (s.ok()) {
    s = LoadAll();
  }
  std::vector<Table*> all;
  for (Table& table : tables_) {
    all.push_back(&table);
  }
  return s.ok() ? ForTables(all, [this](Table* table) { return Rebuild(table); }) : s;
}

IOStatus Recovery::FindTables(const std::map<uint64_t, LiveTable>& tables) {
  IOStatus s;
  for (auto it = tables.begin(); s.ok() && it != tables.end(); ++it) {
    if (it->second.path_id == 0) {
      s = Classify(it->first, it->second);
    }
  }
  return s;
}

// A database whose recipe log is of the first version does not know the names of its tiers; then a
// tmpfs tells.
IOStatus Recovery::CheckKind(const Table& table) const {
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

void Recovery::NoteMissing(const std::string& base) {
  missing_.push_back(base);
  ROCKS_LOG_ERROR(info_log_,
                  "tiered_env: %s/%s is missing, or not as long as the MANIFEST says: no retained "
                  "log and no recipe is deleted",
                  directory_.c_str(), base.c_str());
}

// A stub of a volatile tier is not synced: power may have taken it, or a part of it.
IOStatus Recovery::Classify(uint64_t number, const LiveTable& live) {
  Table table;
  table.base = BaseOf(MakeTableFileName(number));
  table.size = live.size;
  table.has_recipe = contents_.recipes.count(table.base) > 0;
  const std::string path = directory_ + "/" + table.base;
  IOStatus s = names_->Resolve(path, &table.place);
  uint64_t size = 0;
  const auto is_there = [&] {
    return table.place.fs()->GetFileSize(table.place.path, IOOptions(), &size, nullptr).ok() &&
           size == live.size;
  };
  if (s.IsCorruption() && table.has_recipe) {
    table.place = Place();
  } else if (!s.ok()) {
    return s;
  } else if (table.place.stub && !table.place.tier->is_volatile()) {
    s = CheckKind(table);
    if (s.ok() && !is_there()) {
      NoteMissing(table.base);  // RocksDB says so
    }
    return s;
  } else if (table.place.stub) {
    table.has_stub = true;
  } else if (is_there()) {
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
  tables_.push_back(std::move(table));
  return IOStatus::OK();
}

// After the death of the process alone the files are there still, and may be trusted if they are
// what their recipes say.
IOStatus Recovery::Check(Table* table) const {
  const std::string path = directory_ + "/" + table->base;
  uint64_t size = 0;
  IOStatus s = table->has_stub
                   ? table->place.fs()->GetFileSize(table->place.path, IOOptions(), &size, nullptr)
                   : IOStatus::NotFound();
  const bool there = s.ok() && size == table->size;
  if (!table->has_recipe) {
    table->intact = there;
    return there ? IOStatus::OK()
                 : IOStatus::Corruption(path, "is lost with " + table->place.tier->ToString() +
                                                  ", and has no recipe" + kSalvage);
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
  return IOStatus::OK();
}

IOStatus Recovery::CollectReferences() {
  IOStatus s;
  std::string recipe;
  for (auto table = tables_.begin(); s.ok() && table != tables_.end(); ++table) {
    if (!table->has_recipe || table->given_up) {
      continue;
    }
    const bool lost = !table->intact;
    Loaded* last = nullptr;
    s = recipe_log_->ReadRecipe(table->base, &recipe);
    if (!s.ok()) {
      break;
    }
    s = AsIOStatus(ForEachReference(recipe, [&](const Reference& reference) {
      if (last == nullptr || last->known.id != reference.segment) {
        last = &segments_[reference.segment];
        last->known.id = reference.segment;
      }
      last->references++;
      if (lost) {
        if (last->wanted.size() <= reference.ordinal) {
          last->wanted.resize(reference.ordinal + 1);
        }
        last->wanted[reference.ordinal] = true;
      }
    }));
    if (!s.ok()) {
      s = IOStatus::Corruption(directory_ + "/" + table->base, s.ToString());
    }
    if (s.IsCorruption() && (salvage_ || rehearse_)) {
      std::lock_guard<std::mutex> lock(mutex_);
      table->has_recipe = false;
      table->given_up = !table->intact;
      if (rehearse_ || table->given_up) {
        failures_.push_back({table->base, s.ToString()});
      }
      s = IOStatus::OK();
    }
  }
  for (auto& [id, loaded] : segments_) {
    const auto known = contents_.segments.find(id);
    if (known != contents_.segments.end()) {
      loaded.known = known->second;
    }
  }
  return s;
}

IOStatus Recovery::FindLogs() {
  IOStatus s;
  const std::string tag = RecipeLog::TagOf(contents_);
  searched_ = FindLogDirectories(names_->shown(), directory_, contents_.directories);
  for (const std::string& base : searched_) {
    for (const std::string& directory : {base, ArchivalDirectory(base)}) {
      std::vector<std::string> names;
      IOStatus listed = names_->target()->GetChildren(directory, IOOptions(), &names, nullptr);
      if (!listed.ok() && !IsMissing(listed) && !contents_.segments.empty()) {
        s = s.ok() ? listed : s;
      }
      WalSegments::FindRetained(directory, names, &retained_, &tag);
      for (const std::string& name : names) {
        uint64_t number;
        if (ContentOf(name, &number) == Content::kWal) {
          logs_.emplace(number, directory + "/" + name);
        } else if (IsKept(name) && EndsWith(name, kTemporary)) {
          temporary_.push_back(directory + "/" + name);
        }
      }
    }
  }
  return s;
}

std::vector<Recovery::Present> Recovery::present() const {
  std::vector<Present> result;
  for (const Table& table : tables_) {
    if (table.intact && table.place.tier->is_volatile()) {
      result.push_back({table.base, table.place, table.size});
    }
  }
  return result;
}

// What is not found is not an error yet: what refers to it may be there.
IOStatus Recovery::Load(Loaded* loaded) const {
  std::vector<std::string> paths;
  const auto retained = retained_.equal_range(loaded->known.id);
  for (auto it = retained.first; it != retained.second; ++it) {
    paths.push_back(it->second);
  }
  const auto logs = logs_.equal_range(loaded->known.log_number);
  for (auto it = logs.first; it != logs.second; ++it) {
    paths.push_back(it->second);
  }
  loaded->problem = "there is no " +
                    WalSegments::LogName(loaded->known.id, RecipeLog::TagOf(contents_)) +
                    " in any of: " + Join(searched_);
  for (const std::string& path : paths) {
    IOStatus s = LoadFrom(path, loaded);
    if (s.ok()) {
      loaded->path = path;
      break;
    }
    loaded->problem = "cannot use " + path + ": " + s.ToString();
    ROCKS_LOG_WARN(info_log_, "tiered_env: cannot use %s: %s", path.c_str(), s.ToString().c_str());
    loaded->segment.reset();
  }
  return IOStatus::OK();
}

IOStatus Recovery::LoadFrom(const std::string& path, Loaded* loaded) const {
  const uint64_t id = loaded->known.id;
  loaded->segment = std::make_unique<Segment>(id);
  loaded->entries = std::make_unique<EntryArena>();
  const bool is_archive = EndsWith(path, ".seg");
  Loader loader(loaded, is_archive);
  if (is_archive) {
    uint64_t found;
    IOStatus s = ReadArchive(names_->shown(), path, &found, &loader);
    return s.ok() && found != id ? IOStatus::Corruption(path, "is of another segment") : s;
  }
  IOStatus s =
      ReadLog(names_->shown(), path, loaded->known.log_number, &loader, loaded->known.bytes);
  if (s.ok() && (loaded->segment->entries() != loaded->known.entries ||
                 loaded->segment->digest() != loaded->known.digest)) {
    s = IOStatus::Corruption(path, "is not the log that recipes refer to, or is damaged");
  }
  return s;
}

IOStatus Recovery::Rebuild(Table* table) {
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
  const std::unique_ptr<char[]> sst(new char[summary.size]);
  if (s.ok()) {
    Entries entries(segments_);
    s = AsIOStatus(tiered_env::Rebuild(recipe, &entries, sst.get()));
  }
  if (!s.ok()) {
    return IOStatus::Corruption(
        path, (rehearse_ ? "cannot be rebuilt: " : "is lost and cannot be rebuilt: ") +
                  s.ToString() + ProblemsOf(recipe) + (rehearse_ ? "" : kSalvage));
  }
  if (rehearse_) {
    Progress(summary.size);
    return s;
  }
  TEST_SYNC_POINT("Recovery::Rebuild:BeforeWrite");
  s = Write(table, Slice(sst.get(), summary.size));
  TEST_SYNC_POINT("Recovery::Rebuild:AfterWrite");
  if (!s.ok()) {
    return s;
  }
  table->intact = true;
  Progress(summary.size);
  return s;
}

std::string Recovery::ProblemsOf(const std::string& recipe) const {
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

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
