// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of TieredFileSystem that opens and closes databases.

#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/options_file.h"
#include "plugin/tiered_env/fs/claim.h"
#include "plugin/tiered_env/fs/file_system.h"
#include "plugin/tiered_env/fs/shared_logger.h"
#include "plugin/tiered_env/options/options.h"
#include "plugin/tiered_env/options/text.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

Status RefuseChange(const std::string& change) {
  return Status::InvalidArgument("TieredFileSystem: " + change,
                                 "cannot be changed while the FileSystem is in use: close its "
                                 "databases first");
}

}  // namespace

TieredFileSystem::TieredFileSystem(const std::shared_ptr<FileSystem>& target)
    : FileSystemWrapper(target) {
  RegisterOptions(&options_, &OptionTypes());
}

bool TieredFileSystem::InUse() const { return uses_.any() || !databases_.empty(); }

// Stops the threads while all that they use is there.
TieredFileSystem::~TieredFileSystem() {
  StopReporting();
  mover_.reset();
}

// PrepareOptions() would be too late. RocksDB has set the options then; it puts them back when they
// are refused, and for that makes the target anew, which is in use.
Status TieredFileSystem::ParseOption(const ConfigOptions& config, const OptionTypeInfo& info,
                                     const std::string& name, const std::string& value,
                                     void* address) {
  std::lock_guard<std::mutex> lock(*uses_.mutex());
  return InUse() ? RefuseChange(name + "=" + value)
                 : FileSystemWrapper::ParseOption(config, info, name, value, address);
}

Status TieredFileSystem::PrepareOptions(const ConfigOptions& options) {
  Status s = FileSystemWrapper::PrepareOptions(options);
  std::lock_guard<std::mutex> lock(*uses_.mutex());
  if (s.ok() && prepared_ == TextOf(options_) && prepared_target_ == target_) {
    return s;  // what is in use must stay
  }
  if (s.ok() && InUse()) {
    const std::string change = FirstChange(prepared_, TextOf(options_));
    s = RefuseChange(change.empty() ? "target" : change);
    options_ = in_force_;  // a database may have been locked after ParseOption()
    return s;
  }
  Setup setup;
  if (s.ok()) {
    s = MakeSetup(options_, target_, &setup);
  }
  if (!s.ok()) {
    return s;
  }
  mover_.reset();
  in_force_ = options_;
  prepared_ = TextOf(options_);
  const std::shared_ptr<FileSystem> before = std::move(prepared_target_);  // until it has no users
  prepared_target_ = target_;
  setup_ = std::move(setup);
  names_ = std::make_unique<Namespace>(this, target_.get(), std::move(setup_.policy),
                                       std::move(setup_.beside), &info_logs_);
  follower_ = std::make_unique<RecipeLogFollower>(target_.get());
  readers_ = std::make_unique<OpenReaders>(names_.get(), &uses_);
  MoveHooks hooks;
  hooks.bring_back = [this](const std::string& path, const Place& place) {
    return BringBack(DirectoryOf(path), place);
  };
  hooks.moved = [this](const std::string& path) { readers_->Switch(path); };
  relocator_ = std::make_unique<Relocator>(names_.get(), std::move(hooks));
  limiter_.reset(options_.mover_bytes_per_second == 0 ? nullptr
                                                      : NewGenericRateLimiter(static_cast<int64_t>(
                                                            options_.mover_bytes_per_second)));
  if (options_.mover && names_->policy().tiers.size() > 1) {
    Mover::Settings settings;
    settings.limiter = limiter_;
    settings.prefers_database_limiter = options_.mover_limiter == "database";
    settings.hours = OffpeakTimeOption(options_.mover_hours);
    mover_ = std::make_unique<Mover>(relocator_.get(), std::move(settings));
  }
  return s;
}

std::string TieredFileSystem::GetPrintableOptions() const {
  TieredStats stats;
  const_cast<TieredFileSystem*>(this)->AddStats(nullptr, &stats);
  return FileSystemWrapper::GetPrintableOptions() + stats.ToString();
}

// A tier that is not there is a mistake in the options, unless it holds files of this database:
// then what it has is lost, for now, and RocksDB says what it lacks.
IOStatus TieredFileSystem::CheckTiers(const std::string& directory, const Survey& survey) {
  names_->LookForReadOnly(directory);
  const std::shared_ptr<Logger> info_log = names_->InfoLog(directory);
  for (const auto& tier : names_->policy().tiers) {
    if (tier->is_home()) {
      continue;
    }
    IOStatus s = target_->FileExists(tier->options().path, IOOptions(), nullptr);
    const std::vector<std::string> lost = survey.LostIn(*tier);
    if (!s.ok() && survey.CountIn(*tier) == 0) {
      return IOStatus::InvalidArgument(
          tier->ToString(), "is not there: mount its disk, or make the directory of a new tier");
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

IOStatus TieredFileSystem::Open(const std::string& directory,
                                std::shared_ptr<OpenDatabase>* result) {
  IOStatus s = Claim(names_.get(), directory);
  auto database = std::make_shared<OpenDatabase>(this, directory);
  if (s.ok()) {
    s = Recover(database.get());
  }
  Survey survey(names_.get(), directory);
  if (s.ok()) {
    s = survey.Run();
  }
  const std::shared_ptr<Logger> info_log = names_->InfoLog(directory);
  Sweep sweep(names_.get(), setup_.retention, &survey, database.get(), info_log.get());
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
    IOStatus read = database->Refresh();
    sweep.Run(read.ok());
    if (read.ok()) {
      s = sweep.CheckLogs();
    } else if (!read.IsNotFound()) {  // RocksDB has more to say about it
      ROCKS_LOG_WARN(names_->InfoLog(directory), "tiered_env: cannot read the MANIFEST of %s: %s",
                     directory.c_str(), read.ToString().c_str());
    }
  }
  if (s.ok()) {
    for (const Survey::File& file : survey.files()) {
      if (file.counts && !file.lost) {
        file.place.tier->Take(file.size);
        database->Add(file.base, file.place.tier, file.size, file.written);
      }
    }
    *result = std::move(database);
  }
  return s;
}

IOStatus TieredFileSystem::LockFile(const std::string& path, const IOOptions& options,
                                    FileLock** lock, IODebugContext* dbg) {
  const Use use(&uses_);  // until databases_ has it
  IOStatus s = target_->LockFile(path, options, lock, dbg);
  if (!s.ok() || BaseOf(path) != "LOCK") {  // Another file that is locked is nobody's database.
    return s;
  }
  TEST_SYNC_POINT("TieredFileSystem::LockFile:Locked");
  const std::string directory = DirectoryOf(path);
  std::shared_ptr<OpenDatabase> database;
  s = Open(directory, &database);
  if (!s.ok()) {
    names_->folders()->Release(directory);
    target_->UnlockFile(*lock, options, dbg).PermitUncheckedError();
    *lock = nullptr;
    return s;
  }
  TEST_SYNC_POINT("TieredFileSystem::LockFile:Opened");
  databases_.Add(*lock, database);
  if (database->recovery_manager() != nullptr) {
    std::string wal_dir;
    FindWalDir(this, directory, &wal_dir).PermitUncheckedError();  // RocksDB reads it, too
    NoteWalDir(database, wal_dir).PermitUncheckedError();          // else recipes are larger
    database->recovery_manager()->Start();
  }
  Changed(database);
  StartReporting(database);
  return s;
}

IOStatus TieredFileSystem::UnlockFile(FileLock* lock, const IOOptions& options,
                                      IODebugContext* dbg) {
  const Use use(&uses_);  // when databases_ has it no more
  const std::shared_ptr<OpenDatabase> database = databases_.FindByLock(lock);
  if (database != nullptr && database->recovery_manager() != nullptr) {
    database->recovery_manager()->Stop();
    if (setup_.recovery.persist_on_close) {
      Persist(database);
    }
    IOStatus s = database->recovery_manager()->Barrier();
    if (!s.ok()) {
      ROCKS_LOG_WARN(names_->InfoLog(database->directory()), "tiered_env: cannot sync recipes: %s",
                     s.ToString().c_str());
    }
    database->recovery_manager()->WriteStatistics();
  }
  if (database != nullptr) {
    database->SetReporter(nullptr);
  }
  databases_.Remove(lock);
  TEST_SYNC_POINT("TieredFileSystem::UnlockFile:Removed");
  StopReporting(/*unless_used=*/true);
  if (database != nullptr) {
    info_logs_.Remove(target_.get(), database->directory());
  }
  if (database != nullptr && mover_ != nullptr) {
    mover_->Forget(database);
  }
  if (database != nullptr) {
    names_->folders()->Release(database->directory());
  }
  return target_->UnlockFile(lock, options, dbg);
}

IOStatus TieredFileSystem::NewLogger(const std::string& path, const IOOptions& options,
                                     std::shared_ptr<Logger>* result, IODebugContext* dbg) {
  const Use use(&uses_);
  IOStatus s = target_->NewLogger(path, options, result, dbg);
  if (s.ok()) {
    *result = std::make_shared<SharedLogger>(std::move(*result));
    info_logs_.Add(path, *result);
  }
  return s;
}

void TieredFileSystem::Changed(const std::shared_ptr<Database>& database) {
  if (mover_ != nullptr) {
    mover_->Notify(database);
  }
}

std::function<void()> TieredFileSystem::WhenChanged(const std::shared_ptr<Database>& database) {
  return [this, database, use = std::make_shared<Use>(&uses_)] { Changed(database); };
}

void TieredFileSystem::WaitForMoves() {
  const Use use(&uses_);
  if (mover_ == nullptr) {
    return;
  }
  for (const auto& database : databases_.All()) {
    mover_->Notify(database);
  }
  mover_->Wait();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
