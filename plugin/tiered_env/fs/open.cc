// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of TieredFileSystem that opens and closes databases.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/db/survey.h"
#include "plugin/tiered_env/db/sweep.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/options_file.h"
#include "plugin/tiered_env/fs/file_system.h"
#include "plugin/tiered_env/fs/random_access_file.h"
#include "plugin/tiered_env/fs/shared_logger.h"
#include "plugin/tiered_env/options/options.h"
#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/pmem/file_system.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"
#include "plugin/tiered_env/tier/slow_device.h"
#include "rocksdb/convenience.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

Status MakeTier(const TierOptions& options, int index, const std::shared_ptr<FileSystem>& target,
                std::shared_ptr<Tier>* result) {
  std::shared_ptr<FileSystem> fs = target;
  Status s;
  if (options.kind == TierKind::kPmem) {
    s = NewPmemFileSystem(target, options.path, &fs);
  }
  if (s.ok() && !options.emulate.none()) {
    fs = NewEmulatedFileSystem(fs, options.emulate);
  }
  if (s.ok()) {
    *result = std::make_shared<Tier>(options, index, std::move(fs));
  }
  return s;
}

std::string Setup(const TieredOptions& options) {
  return options.tiers + '\n' + options.placement + '\n' +
         std::to_string(options.mover_bytes_per_second) + '\n' + std::to_string(options.mover) +
         '\n' + std::to_string(options.wal_amplification_high) + '\n' +
         std::to_string(options.wal_amplification_low) + '\n' + std::to_string(options.wal_budget) +
         '\n' + options.wal_compression + '\n' + options.on_close + '\n' +
         std::to_string(options.recovery_threads) + '\n' + options.checkpoints + '\n' +
         std::to_string(options.orphan_retention) + '\n' + std::to_string(options.orphan_budget) +
         '\n' + options.db_paths;
}

Status Refuse(const std::string& option, const std::string& value, const std::string& rule) {
  return Status::InvalidArgument("TieredFileSystem: " + option + "=" + value, rule);
}

Status CheckKeeperOptions(const TieredOptions& options, RecoveryOptions* result) {
  const std::map<std::string, CompressionType> codecs = {
      {"none", kNoCompression}, {"lz4", kLZ4Compression}, {"zstd", kZSTD}};
  const auto codec = codecs.find(options.wal_compression);
  if (codec == codecs.end()) {
    return Refuse("wal_compression", options.wal_compression, "must be none, lz4 or zstd");
  }
  const std::vector<CompressionType> supported = GetSupportedCompressions();
  if (std::find(supported.begin(), supported.end(), codec->second) == supported.end()) {
    return Refuse("wal_compression", options.wal_compression, "is not in this build of RocksDB");
  }
  if (options.on_close != "keep" && options.on_close != "persist") {
    return Refuse("on_close", options.on_close, "must be keep or persist");
  }
  if (options.checkpoints != "plain" && options.checkpoints != "linked") {
    return Refuse("checkpoints", options.checkpoints, "must be plain or linked");
  }
  if (!(options.wal_amplification_low >= 1)) {
    return Refuse("wal_amplification_low", std::to_string(options.wal_amplification_low),
                  "must be at least 1");
  }
  if (!(options.wal_amplification_high >= options.wal_amplification_low)) {
    return Refuse("wal_amplification_high", std::to_string(options.wal_amplification_high),
                  "must be at least wal_amplification_low");
  }
  if (options.wal_budget != 0 && !options.mover) {
    return Refuse("wal_budget", std::to_string(options.wal_budget),
                  "needs the mover, which brings SSTs from memory to other tiers, and mover=false");
  }
  result->high = options.wal_amplification_high;
  result->low = options.wal_amplification_low;
  result->compression = codec->second;
  result->wal_budget = options.wal_budget;
  result->persist_on_close = options.on_close == "persist";
  result->recovery_threads = options.recovery_threads;
  return Status::OK();
}

// Only SSTs can be rebuilt.
Status CheckPlacement(const Policy& policy) {
  const std::pair<Content, const char*> kinds[] = {
      {Content::kBlob, "blob"}, {Content::kWal, "wal"}, {Content::kMeta, "meta"}};
  for (const auto& [content, name] : kinds) {
    Facts facts;
    facts.content = content;
    const Tier& tier = *policy.tier(policy.placement.TierOf(facts, policy.home));
    if (tier.is_volatile()) {
      return Refuse("placement", std::string(name) + "=" + tier.name(),
                    "only SSTs can be in a tier of kind memory");
    }
  }
  return Status::OK();
}

// Retained logs have names of ours, which raw_wal_fs takes for those of plain files: it would not
// know them any more.
struct RawWalFileSystem : Customizable {
  static const char* kClassName() { return "RawWalFileSystem"; }
};

Status CheckTarget(const FileSystem& target, const Policy& policy) {
  for (const auto& tier : policy.tiers) {
    if (tier->is_volatile() && target.CheckedCast<RawWalFileSystem>() != nullptr) {
      return Refuse(
          "target", RawWalFileSystem::kClassName(),
          "cannot be below tier " + tier->name() +
              ", of kind memory, which keeps logs that RocksDB has deleted; have it above: "
              "id=RawWalFileSystem;target={id=TieredFileSystem;...}");
    }
  }
  return Status::OK();
}

std::string Join(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) {
    result += (result.empty() ? "" : ", ") + name;
  }
  return result;
}

}  // namespace

TieredFileSystem::TieredFileSystem(const std::shared_ptr<FileSystem>& target)
    : FileSystemWrapper(target) {
  RegisterOptions(&options_, &OptionTypes());
}

bool TieredFileSystem::InUse() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::lock_guard<std::mutex> readers_lock(readers_mutex_);
  return !databases_.empty() || !readers_.empty();
}

TieredFileSystem::~TieredFileSystem() { mover_.reset(); }

Status TieredFileSystem::PrepareOptions(const ConfigOptions& options) {
  Status s = FileSystemWrapper::PrepareOptions(options);
  if (s.ok() && prepared_ == Setup(options_)) {
    return s;  // what is in use must stay
  }
  if (s.ok() && InUse()) {
    return Status::InvalidArgument("TieredFileSystem", "is in use, its options cannot be changed");
  }
  std::vector<TierOptions> tiers;
  if (s.ok()) {
    s = ParseTiers(options_.tiers, &tiers);
  }
  Policy policy;
  std::vector<std::string> names;
  for (size_t i = 0; s.ok() && i < tiers.size(); i++) {
    names.push_back(tiers[i].name);
    std::shared_ptr<Tier> tier;
    s = MakeTier(tiers[i], static_cast<int>(i), target_, &tier);
    policy.tiers.push_back(std::move(tier));
  }
  if (s.ok()) {
    policy.home = FindTier(tiers, "home");
    s = Placement::Parse(options_.placement, names, &policy.placement);
  }
  if (s.ok()) {
    s = CheckPlacement(policy);
  }
  if (s.ok()) {
    s = CheckTarget(*target_, policy);
  }
  RecoveryOptions keeper_options;
  if (s.ok()) {
    s = CheckKeeperOptions(options_, &keeper_options);
  }
  if (!s.ok()) {
    return s;
  }
  mover_.reset();
  prepared_ = Setup(options_);
  policy_ = std::move(policy);
  recovery_options_ = keeper_options;
  retention_.seconds = options_.orphan_retention;
  retention_.budget = options_.orphan_budget;
  beside_ = StringSplit(options_.db_paths, ':');
  folders_ = std::make_unique<Folders>(target_.get(), policy_.tiers);
  follower_ = std::make_unique<RecipeLogFollower>(target_.get());
  limiter_.reset(options_.mover_bytes_per_second == 0 ? nullptr
                                                      : NewGenericRateLimiter(static_cast<int64_t>(
                                                            options_.mover_bytes_per_second)));
  if (options_.mover && policy_.tiers.size() > 1) {
    mover_ = std::make_unique<Mover>(this, limiter_);
  }
  return s;
}

std::string TieredFileSystem::GetPrintableOptions() const {
  TieredStats stats;
  const_cast<TieredFileSystem*>(this)->AddStats(&stats);
  return FileSystemWrapper::GetPrintableOptions() + stats.ToString();
}

// A tier that is not there is a mistake in the options, unless it holds files of this database:
// then what it has is lost, for now, and RocksDB says what it lacks.
IOStatus TieredFileSystem::CheckTiers(const std::string& directory, const Survey& survey) {
  LookForReadOnly(directory);
  const std::shared_ptr<Logger> info_log = InfoLog(directory);
  for (const auto& tier : policy_.tiers) {
    if (tier->is_home()) {
      continue;
    }
    IOStatus s = target_->FileExists(tier->options().path, IOOptions(), nullptr);
    const std::vector<std::string> lost = survey.LostIn(*tier);
    if (!s.ok() && survey.CountIn(*tier) == 0) {
      return IOStatus::InvalidArgument(tier->ToString(),
                                       "is not there: mount its disk, or make the directory");
    }
    if (!s.ok()) {
      tier->Failed();
    }
    if (!lost.empty()) {
      ROCKS_LOG_ERROR(info_log, "tiered_env: %s has not what %s has in %s: %s",
                      tier->ToString().c_str(), directory.c_str(), tier->name().c_str(),
                      Join(lost).c_str());
    }
  }
  return IOStatus::OK();
}

IOStatus TieredFileSystem::Open(const std::string& directory, std::shared_ptr<Database>* result) {
  IOStatus s = Claim(directory);
  auto database = std::make_shared<Database>(this, directory);
  if (s.ok()) {
    s = Recover(database.get());
  }
  Survey survey(this, directory);
  if (s.ok()) {
    s = survey.Run();
  }
  const std::shared_ptr<Logger> info_log = InfoLog(directory);
  Sweep sweep(this, &survey, database.get(), info_log.get());
  if (s.ok()) {
    s = sweep.BringBack();
  }
  if (s.ok()) {
    s = CheckTiers(directory, survey);
  }
  if (s.ok()) {
    s = sweep.DeleteSecondNames();
  }
  if (s.ok()) {
    s = database->Refresh();
    sweep.Run(s.ok());
    s = s.IsNotFound() ? IOStatus::OK() : s;
    if (!s.ok()) {  // RocksDB has more to say about it
      ROCKS_LOG_WARN(InfoLog(directory), "tiered_env: cannot read the MANIFEST of %s: %s",
                     directory.c_str(), s.ToString().c_str());
      s = IOStatus::OK();
    }
  }
  if (s.ok()) {
    for (const Survey::File& file : survey.files()) {
      if (file.counts && !file.lost) {
        file.place.tier->Take(file.size);
        database->Add(file.base, file.place.tier, file.size);
      }
    }
    *result = std::move(database);
  }
  return s;
}

IOStatus TieredFileSystem::LockFile(const std::string& path, const IOOptions& options,
                                    FileLock** lock, IODebugContext* dbg) {
  IOStatus s = target_->LockFile(path, options, lock, dbg);
  if (!s.ok()) {
    return s;
  }
  const std::string directory = DirectoryOf(path);
  std::shared_ptr<Database> database;
  s = Open(directory, &database);
  if (!s.ok()) {
    folders_->Release(directory);
    target_->UnlockFile(*lock, options, dbg).PermitUncheckedError();
    *lock = nullptr;
    return s;
  }
  {
    std::lock_guard<std::mutex> guard(mutex_);
    databases_[directory] = database;
    locked_[*lock] = directory;
  }
  if (database->recovery_manager() != nullptr) {
    std::string wal_dir;
    FindWalDir(this, directory, &wal_dir).PermitUncheckedError();  // RocksDB reads it, too
    NoteWalDir(database, wal_dir).PermitUncheckedError();          // else recipes are larger
    database->recovery_manager()->Start();
  }
  Changed(database);
  return s;
}

IOStatus TieredFileSystem::UnlockFile(FileLock* lock, const IOOptions& options,
                                      IODebugContext* dbg) {
  std::shared_ptr<Database> database;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    const auto it = locked_.find(lock);
    if (it != locked_.end()) {
      database = databases_[it->second];
    }
  }
  if (database != nullptr && database->recovery_manager() != nullptr) {
    database->recovery_manager()->Stop();
    if (recovery_options_.persist_on_close) {
      Persist(database);
    }
    IOStatus s = database->recovery_manager()->Barrier();
    if (!s.ok()) {
      ROCKS_LOG_WARN(InfoLog(database->directory()), "tiered_env: cannot sync recipes: %s",
                     s.ToString().c_str());
    }
    database->recovery_manager()->WriteStatistics();
  }
  {
    std::lock_guard<std::mutex> guard(mutex_);
    const auto it = locked_.find(lock);
    if (it != locked_.end()) {
      databases_.erase(it->second);
      const auto info_log = FindInfoLog(it->second);  // is about to be closed
      if (info_log != info_logs_.end()) {
        info_logs_.erase(info_log);
      }
      locked_.erase(it);
    }
  }
  if (database != nullptr && mover_ != nullptr) {
    mover_->Forget(database);
  }
  if (database != nullptr) {
    folders_->Release(database->directory());
  }
  return target_->UnlockFile(lock, options, dbg);
}

IOStatus TieredFileSystem::NewLogger(const std::string& path, const IOOptions& options,
                                     std::shared_ptr<Logger>* result, IODebugContext* dbg) {
  IOStatus s = target_->NewLogger(path, options, result, dbg);
  if (s.ok()) {
    *result = std::make_shared<SharedLogger>(std::move(*result));
    std::lock_guard<std::mutex> lock(mutex_);
    info_logs_[path] = *result;
  }
  return s;
}

std::shared_ptr<Logger> TieredFileSystem::InfoLog(const std::string& directory) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = FindInfoLog(directory);
  return it == info_logs_.end() ? nullptr : it->second.lock();
}

// In the directory, or in a db_log_dir with a name that has the directory in it.
TieredFileSystem::InfoLogs::const_iterator TieredFileSystem::FindInfoLog(
    const std::string& directory) const {
  std::string absolute;
  target_->GetAbsolutePath(directory, IOOptions(), &absolute, nullptr).PermitUncheckedError();
  return std::find_if(info_logs_.begin(), info_logs_.end(), [&](const auto& log) {
    const std::string folder = DirectoryOf(log.first);
    return (folder == directory && BaseOf(log.first) == "LOG") ||
           InfoLogFileName(directory, absolute, folder) == log.first;
  });
}

void TieredFileSystem::AddStats(TieredStats* stats) {
  {
    std::lock_guard<std::mutex> lock(readers_mutex_);
    for (const auto& [path, reader] : readers_) {
      reader->AddStats();
    }
  }
  std::vector<std::shared_ptr<Database>> all;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [directory, database] : databases_) {
      all.push_back(database);
    }
  }
  stats->tiers.resize(policy_.tiers.size());
  for (const auto& tier : policy_.tiers) {
    TieredTierStats& to = stats->tiers[static_cast<size_t>(tier->index())];
    to.name = tier->name();
    to.bytes = tier->used_by_files();
    to.held_bytes = tier->held();
    to.budget = tier->options().budget;
#define ADD(name) to.name = tier->name.load(std::memory_order_relaxed)
    ADD(reads);
    ADD(read_bytes);
    ADD(written_bytes);
    ADD(spills);
    ADD(moves);
    ADD(moved_bytes);
    ADD(errors);
#undef ADD
  }
  for (const auto& database : all) {
    database->AddStats(policy_, stats);
    if (database->recovery_manager() != nullptr) {
      database->recovery_manager()->AddStats(&stats->in_memory);
    }
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
