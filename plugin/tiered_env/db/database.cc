// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/db/database.h"

#include <algorithm>
#include <utility>

#include "plugin/tiered_env/files/clock.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/tier/directories.h"
#include "plugin/tiered_env/tier/plan.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Blob files have the last claim to room: a look-up reads one of them at most.
constexpr int kClaimOfBlobs = 1000;

// The part of the files in volatile tiers that is brought away at once.
constexpr size_t kPersistedShare = 8;

// The first tier from this one on that is not volatile.
int DurableTier(const Policy& policy, int wanted) {
  for (const Tier* tier : SpillOrder(policy, policy.tier(wanted))) {
    if (!tier->is_volatile()) {
      return tier->index();
    }
  }
  return policy.home;
}

// What is used counts as not of the files to plan, until they are taken off.
std::vector<PlannedTier> RoomIn(const Tiers& tiers) {
  std::vector<PlannedTier> result(tiers.size());
  for (size_t i = 0; i < tiers.size(); i++) {
    const uint64_t used = tiers[i]->used_by_files();
    result[i].budget = tiers[i]->options().budget;
    result[i].reserved = used;
    if (tiers[i]->is_volatile()) {
      result[i].budget -= LeftFor(1, *tiers[i]);
    }
    if (tiers[i]->is_volatile() && !tiers[i]->usable()) {  // what is there stays
      result[i].budget = std::max<uint64_t>(used, 1);
    }
    result[i].closed = !tiers[i]->is_volatile() && !tiers[i]->usable();
  }
  return result;
}

// Whether column families have budgets somewhere.
bool HaveFamilyBudgets(const Tiers& tiers) {
  return std::any_of(tiers.begin(), tiers.end(),
                     [](const auto& tier) { return !tier->options().family_budgets.empty(); });
}

// Numbers the column families of files to plan, and tells what they may have of each tier.
class PlannedFamilies {
 public:
  PlannedFamilies(const Tiers& tiers, const Usage& usage, std::vector<PlannedTier>* room)
      : tiers_(tiers), usage_(usage), room_(*room), counts_(HaveFamilyBudgets(tiers)) {}

  // -1: no family has a budget.
  int NumberOf(const std::string& family) {
    if (!counts_) {
      return -1;
    }
    const auto [it, is_new] = numbers_.try_emplace(family, static_cast<int>(numbers_.size()));
    for (size_t i = 0; is_new && i < tiers_.size(); i++) {
      PlannedFamily planned;
      planned.budget = FamilyBudgetOf(tiers_[i]->options(), family);
      planned.reserved = usage_.Of(family, *tiers_[i]);
      room_[i].families.push_back(planned);
    }
    return it->second;
  }

 private:
  const Tiers& tiers_;
  const Usage& usage_;
  std::vector<PlannedTier>& room_;
  const bool counts_;
  std::map<std::string, int> numbers_;
};

// What is used is not of the files to plan any more.
void TakeOff(const PlannedFile& file, std::vector<PlannedTier>* room) {
  PlannedTier& tier = (*room)[static_cast<size_t>(file.tier)];
  tier.reserved -= std::min(tier.reserved, file.size);
  if (file.family >= 0) {
    PlannedFamily& family = tier.families[static_cast<size_t>(file.family)];
    family.reserved -= std::min(family.reserved, file.size);
  }
}

}  // namespace

Database::Database(FileSystem* fs, std::string directory, bool counted)
    : directory_(std::move(directory)), usage_(counted), manifest_(fs, directory_) {}

Database::~Database() {
  for (const auto& [base, file] : files_) {
    usage_.Release(file.tier, file.family, file.size);
  }
}

void Database::Add(const std::string& base, Tier* tier, uint64_t size, uint64_t written,
                   const std::string& family) {
  std::lock_guard<std::mutex> lock(mutex_);
  Note(base, {tier, size, 0, written, family});
}

void Database::AddCopy(const std::string& base, Tier* tier, uint64_t size,
                       const std::string& family) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = files_.find(base);
  Note(base, {tier, size, 0, it == files_.end() ? 0 : it->second.written, family});
}

void Database::Note(const std::string& base, const File& file) {
  File& noted = files_[base];
  if (noted.tier != nullptr) {
    usage_.Release(noted.tier, noted.family, noted.size);
  }
  noted = file;
  noted.note = ++notes_;
  LearnFamily(base, &noted);
}

void Database::LearnFamily(const std::string& base, File* file) {
  uint64_t number = 0;
  const Content content = file->family.empty() ? ContentOf(base, &number) : Content::kOther;
  if (content == Content::kTable) {
    const auto table = tables_.find(number);
    file->family = table == tables_.end() ? "" : NameOf(table->second.column_family);
  } else if (content == Content::kBlob) {
    const auto blob = blobs_.find(number);
    file->family = blob == blobs_.end() ? "" : NameOf(blob->second.column_family);
  } else {
    return;
  }
  usage_.Learn(*file->tier, file->family, file->size);
}

std::string Database::FamilyOf(const std::string& base) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = files_.find(base);
  return it == files_.end() ? "" : it->second.family;
}

bool Database::IsStill(const Misplaced& file) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = files_.find(file.base);
  return file.note == 0 || (it != files_.end() && it->second.note == file.note);
}

void Database::Remove(const std::string& base) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = files_.find(base);
  if (it != files_.end()) {
    usage_.Release(it->second.tier, it->second.family, it->second.size);
    files_.erase(it);
    persist_.erase(base);
  }
}

void Database::NoteSwept(const std::string& base) {
  std::lock_guard<std::mutex> lock(mutex_);
  swept_.insert(base);
}

bool Database::WasSwept(const std::string& base) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return swept_.count(base) > 0;
}

void Database::Rename(const std::string& from, const std::string& to) {
  Remove(to);
  std::lock_guard<std::mutex> lock(mutex_);
  auto node = files_.extract(from);
  if (!node.empty()) {
    node.key() = to;
    files_.insert(std::move(node));
  }
}

LevelRange Database::LevelsOf(uint32_t column_family) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = shapes_.find(column_family);
  return it == shapes_.end() ? LevelRange() : it->second;
}

IOStatus Database::Refresh() {
  std::lock_guard<std::mutex> manifest_lock(manifest_mutex_);
  IOStatus s = manifest_.Refresh();
  std::lock_guard<std::mutex> lock(mutex_);
  tables_ = manifest_.tables();
  blobs_ = manifest_.blobs();
  families_ = manifest_.families();
  shapes_ = manifest_.shapes();
  first_log_ = manifest_.first_log();
  for (auto& [base, file] : files_) {
    LearnFamily(base, &file);
  }
  return s;
}

IOStatus Database::CheckManifest() {
  std::lock_guard<std::mutex> manifest_lock(manifest_mutex_);
  return manifest_.Check();
}

IOStatus Database::SyncManifest() {
  std::lock_guard<std::mutex> manifest_lock(manifest_mutex_);
  return manifest_.Sync();
}

std::string Database::NameOf(uint32_t column_family) const {
  const auto it = families_.find(column_family);
  return it == families_.end() ? "" : it->second;
}

bool Database::FactsOf(const std::string& base, bool by_family, Facts* facts, int* claim) const {
  uint64_t number;
  facts->content = ContentOf(base, &number);
  *claim = kClaimOfBlobs;
  if (facts->content == Content::kBlob) {
    const auto blob = blobs_.find(number);
    facts->family = blob == blobs_.end() ? "" : NameOf(blob->second.column_family);
    return true;
  }
  if (facts->content != Content::kTable) {
    return false;
  }
  const auto table = tables_.find(number);
  if (table == tables_.end()) {
    return false;
  }
  facts->level = *claim = table->second.level;
  facts->temperature = table->second.temperature;
  facts->keys = table->second.keys;
  if (by_family) {
    facts->family = NameOf(table->second.column_family);
  }
  const auto shape = shapes_.find(table->second.column_family);
  facts->shape = shape == shapes_.end() ? LevelRange() : shape->second;
  return true;
}

std::vector<Database::Misplaced> Database::FindMisplaced(const Policy& policy,
                                                         const Tier* leaving) const {
  std::vector<PlannedFile> planned;
  std::vector<Misplaced> found;
  std::vector<PlannedTier> room = RoomIn(policy.tiers);
  if (leaving != nullptr) {
    room[static_cast<size_t>(leaving->index())].usable = false;
  }
  const Directories directories(policy, leaving);
  PlannedFamilies families(policy.tiers, usage_, &room);
  const bool by_family = policy.placement.HasFamilies();
  {
    const uint64_t now = SecondsSince1970();
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [base, file] : files_) {
      Facts facts;
      facts.age = file.written == 0 ? 0 : now - std::min(now, file.written);
      PlannedFile plan;
      const uint64_t known = KnownSize(base);
      if (!FactsOf(base, by_family, &facts, &plan.level) || (known != 0 && known != file.size)) {
        continue;  // what is damaged stays as it is
      }
      if (facts.content == Content::kBlob && facts.family.empty() && leaving == nullptr) {
        continue;  // it is not installed yet: nobody knows whose it is
      }
      plan.size = file.size;
      plan.tier = file.tier->index();
      plan.wanted = policy.placement.TierOf(facts, policy.home);
      if (policy.tier(plan.wanted)->is_volatile() &&
          (!file.tier->is_volatile() || persist_.count(base) > 0)) {
        plan.wanted = DurableTier(policy, plan.wanted);
      }
      ContentOf(base, &plan.number);
      plan.family = families.NumberOf(file.family);
      const bool is_there = file.tier->IsOneWith(*policy.tier(plan.wanted));
      plan.wanted = is_there && file.tier != leaving
                        ? plan.tier
                        : directories.For(policy.tier(plan.wanted), plan.number)->index();
      planned.push_back(plan);
      found.push_back({base, file.size, plan.level, file.tier, nullptr, policy.tier(plan.wanted),
                       file.note, file.family});
      TakeOff(plan, &room);
    }
  }
  const std::vector<int> assigned = Plan(planned, room);
  std::vector<Misplaced> result;
  for (size_t i = 0; i < found.size(); i++) {
    found[i].to = policy.tier(assigned[i]);
    if (found[i].to->is_volatile()) {  // nothing is gained by bringing there what is durable
      found[i].to = found[i].from;
    }
    if (found[i].from != found[i].to || found[i].from != found[i].wanted ||
        found[i].from == leaving) {
      result.push_back(found[i]);
    }
  }
  return result;
}

uint64_t Database::VolatileBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [base, file] : files_) {
    bytes += file.tier->is_volatile() ? file.size : 0;
  }
  return bytes;
}

void Database::PersistOldest() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::map<uint64_t, std::string> oldest;
  for (const auto& [base, file] : files_) {
    uint64_t number;
    if (file.tier->is_volatile() && ContentOf(base, &number) == Content::kTable) {
      oldest[number] = base;
    }
  }
  size_t count = oldest.size() / kPersistedShare + 1;
  for (auto it = oldest.begin(); it != oldest.end() && count > 0; ++it) {
    persist_.insert(it->second);
    count--;
  }
}

std::vector<Database::Misplaced> Database::FindVolatile(const Policy& policy) const {
  std::vector<Misplaced> result;
  const Directories directories(policy);
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [base, file] : files_) {
    if (file.tier->is_volatile()) {
      uint64_t number = 0;
      ContentOf(base, &number);
      Tier* const to =
          directories.For(policy.tier(DurableTier(policy, file.tier->index())), number);
      result.push_back({base, file.size, 0, file.tier, to, to, file.note, file.family});
    }
  }
  return result;
}

std::map<uint64_t, LiveTable> Database::tables() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return tables_;
}

uint64_t Database::SizeOf(const std::string& base) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return KnownSize(base);
}

uint64_t Database::KnownSize(const std::string& base) const {
  uint64_t number;
  const Content content = ContentOf(base, &number);
  if (content == Content::kTable) {
    const auto table = tables_.find(number);
    return table == tables_.end() ? 0 : table->second.size;
  }
  const auto blob = content == Content::kBlob ? blobs_.find(number) : blobs_.end();
  return blob == blobs_.end() ? 0 : blob->second.size;
}

bool Database::NeedsLog(const std::string& base) const {
  uint64_t number;
  std::lock_guard<std::mutex> lock(mutex_);
  return ContentOf(base, &number) == Content::kWal && number >= first_log_;
}

bool Database::IsObsoleteLog(const std::string& base) const {
  uint64_t number;
  const std::string log = WithoutTrash(base);
  std::lock_guard<std::mutex> lock(mutex_);
  return ContentOf(log, &number) == Content::kWal && (number < first_log_ || log != base);
}

std::map<std::string, uint64_t> Database::Needed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::string, uint64_t> result;
  for (const auto& [number, table] : tables_) {
    if (table.path_id == 0) {
      result[BaseOf(MakeTableFileName("", number))] = table.size;
    }
  }
  for (const auto& [number, blob] : blobs_) {
    result[BaseOf(BlobFileName("", number))] = blob.size;
  }
  return result;
}

std::vector<TieredFamilyStats> Database::Families(const Policy& policy) const {
  std::set<std::string> names;
  if (!HaveFamilyBudgets(policy.tiers)) {
    return {};
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [id, name] : families_) {
      names.insert(name);
    }
    for (const auto& [base, file] : files_) {
      names.insert(file.family);
    }
  }
  std::vector<TieredFamilyStats> result;
  for (const auto& tier : policy.tiers) {
    for (const std::string& name : names) {
      const uint64_t budget = FamilyBudgetOf(tier->options(), name);
      if (budget != 0) {
        result.push_back({directory_, tier->name(), name, usage_.Of(name, *tier), budget});
      }
    }
  }
  return result;
}

void Database::AddStats(const Policy& policy, TieredStats* stats) const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [base, file] : files_) {
      stats->tiers[static_cast<size_t>(file.tier->index())].files++;
    }
  }
  const std::vector<TieredFamilyStats> families = Families(policy);
  stats->families.insert(stats->families.end(), families.begin(), families.end());
  for (const Misplaced& file : FindMisplaced(policy)) {
    if (file.from != file.wanted) {
      TieredTierStats& tier = stats->tiers[static_cast<size_t>(file.from->index())];
      tier.misplaced_files++;
      tier.stranded_bytes += file.size;
    }
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
