// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/db/relocate.h"

#include <memory>
#include <mutex>
#include <vector>

#include "logging/logging.h"
#include "plugin/tiered_env/files/copy.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// A copy that is being made, before it has its name in the tier.
Place Unfinished(const Place& place) {
  return {place.tier, place.stub ? place.path + kTemporary : place.path, place.stub};
}

}  // namespace

// Requires that what stood under the name is where it was; then it stands for the copy. An error
// with *swapped: both must be kept until the database is opened again, for one or the other will be
// named.
IOStatus Relocator::Swap(const std::string& path, const Place& from, const Place& to,
                         bool* swapped) {
  *swapped = false;
  Place now;
  IOStatus s = names_->Resolve(path, &now);
  if (s.ok() && (now.path != from.path || now.tier != from.tier)) {
    s = IOStatus::Aborted(path, "is not where it was");
  }
  if (s.ok()) {
    s = names_->target()->FileExists(path, IOOptions(), nullptr);
    s = s.ok() ? s : IOStatus::Aborted(path, "is gone");
  }
  const std::string temporary = to.stub ? path + kTemporary : to.path;
  const bool has_stub = s.ok() && to.stub;  // or half of it
  if (has_stub) {
    s = names_->WriteStub(temporary, to);
  }
  TEST_SYNC_POINT("Relocator::Swap:BeforeRename");
  if (s.ok()) {
    s = names_->target()->RenameFile(temporary, path, IOOptions(), nullptr);
    // A rename that failed may have happened.
    *swapped = s.ok() || !names_->Resolve(path, &now).ok() || now.path != from.path;
  }
  if (has_stub && !*swapped) {
    names_->target()->DeleteFile(temporary, IOOptions(), nullptr).PermitUncheckedError();
  }
  TEST_SYNC_POINT("Relocator::Swap:AfterRename");
  return s.ok() ? SyncDirectory(names_->target(), DirectoryOf(path)) : s;
}

// Tells before the copy would find out.
IOStatus Relocator::CheckRoom(const Place& place, uint64_t bytes) const {
  uint64_t free;
  IOStatus s = names_->target()->GetFreeSpace(DirectoryOf(place.path), IOOptions(), &free, nullptr);
  return s.ok() && free < bytes ? IOStatus::NoSpace(place.path, "the tier's device is full")
                                : IOStatus::OK();
}

IOStatus Relocator::TakeRoom(Database* database, const Database::Misplaced& file, bool anyway) {
  Usage* const usage = database->usage();
  if (anyway) {
    usage->Take(file.to, file.family, file.size);
    return IOStatus::OK();
  }
  if (usage->Reserve(file.to, file.family, file.size)) {
    return IOStatus::OK();
  }
  const std::string path = database->directory() + "/" + file.base;
  if (!usage->FamilyHasRoom(*file.to, file.family, file.size)) {
    return IOStatus::NoSpace(path, "is beyond the budget of column family " + file.family + " in " +
                                       file.to->ToString());
  }
  return IOStatus::NoSpace(path, "is beyond the budget of " + file.to->ToString());
}

IOStatus Relocator::Move(Database* database, const Database::Misplaced& file, RateLimiter* limiter,
                         bool anyway) {
  IOStatus s = TakeRoom(database, file, anyway);
  if (!s.ok()) {
    return s;
  }
  bool swapped = false;
  s = MoveInto(database, file, limiter, &swapped);
  if (swapped) {
    return s;
  }
  database->usage()->Release(file.to, file.family, file.size);
  std::lock_guard<std::mutex> lock(*names_->mutex());
  // RocksDB deletes files while they are copied.
  return database->IsStill(file) ? s : IOStatus::Aborted(file.base, "is gone");
}

// Nothing helps if it is not there any more, or has got another place.
IOStatus Relocator::BringAway(Database* database, Database::Misplaced* file, RateLimiter* limiter) {
  std::vector<Tier*> order = SpillOrder(names_->policy(), file->from);
  if (file->to != nullptr) {
    order.insert(order.begin(), file->to);
  }
  IOStatus result =
      IOStatus::NoSpace(database->directory() + "/" + file->base, "has no durable tier to go to");
  Tier* first = nullptr;
  for (Tier* tier : order) {
    if (tier->is_volatile() || tier == first) {
      continue;
    }
    file->to = tier;
    IOStatus s = Move(database, *file, limiter, /*anyway=*/true);
    if (s.ok()) {
      return s;
    }
    if (first == nullptr) {
      first = tier;
      result = s;
    }
    if (s.IsAborted()) {
      break;
    }
  }
  file->to = first;
  return result;
}

IOStatus Relocator::FindSource(const std::string& path, const Database::Misplaced& file,
                               Place* from) const {
  IOStatus s = names_->Resolve(path, from);
  if (s.ok() && from->tier != file.from) {
    s = IOStatus::Aborted(path, "is not where it was");
  }
  if (!s.ok()) {
    return s;
  }
  uint64_t size = 0;
  s = from->fs()->GetFileSize(from->path, IOOptions(), &size, nullptr);
  if (IsMissing(s) && hooks_.bring_back(path, *from)) {
    s = from->fs()->GetFileSize(from->path, IOOptions(), &size, nullptr);
  }
  s = IsMissing(s) ? IOStatus::Aborted(path, "is gone") : s;
  if (s.ok() && size != file.size) {
    s = IOStatus::Corruption(
        path, "has " + std::to_string(size) + " bytes instead of " + std::to_string(file.size));
  }
  return s;
}

IOStatus Relocator::CopyOver(Database* database, const std::string& path, const Place& from,
                             const Place& to, uint64_t size, RateLimiter* limiter) {
  const Place unfinished = Unfinished(to);
  IOStatus s = CheckRoom(to, size);
  TEST_SYNC_POINT("Relocator::Move:BeforeCopy");
  if (s.ok()) {
    s = CopyToNew(from, size, unfinished, limiter, &database->closing);
    if (s.IsNoSpace()) {
      names_->ReportFailure(path, to.tier, s);
    }
  }
  TEST_SYNC_POINT("Relocator::Move:AfterCopy");
  if (s.ok() && to.stub) {
    s = to.fs()->RenameFile(unfinished.path, to.path, IOOptions(), nullptr);
  }
  if (s.ok() && to.stub) {
    names_->folders()->Touch(database->directory(), *to.tier, Folders::Change::kMade);
    s = names_->folders()->Sync(database->directory());
  }
  return s;
}

IOStatus Relocator::MoveInto(Database* database, const Database::Misplaced& file,
                             RateLimiter* limiter, bool* swapped) {
  const std::string path = database->directory() + "/" + file.base;
  Place from;
  Place to;
  IOStatus s = FindSource(path, file, &from);
  if (s.ok()) {
    s = names_->NewPlace(path, file.to, &to);
  }
  if (!s.ok()) {
    return s;
  }
  if (!to.stub) {
    // It gets the file's own name when it takes the place of the stub. Another move of the file may
    // be under way, as when the database is closed: to one temporary file both would write.
    to.path += "." + std::to_string(copies_home_.fetch_add(1)) + kTemporary;
  }
  s = CopyOver(database, path, from, to, file.size, limiter);
  if (s.ok()) {
    std::lock_guard<std::mutex> lock(*names_->mutex());
    s = database->IsStill(file) ? Swap(path, from, to, swapped)
                                : IOStatus::Aborted(path, "was written anew");
    if (*swapped) {
      database->AddCopy(file.base, file.to, file.size, file.family);
    }
  }
  if (!*swapped) {
    to.fs()->DeleteFile(to.path, IOOptions(), nullptr).PermitUncheckedError();
    to.fs()->DeleteFile(Unfinished(to).path, IOOptions(), nullptr).PermitUncheckedError();
    return s;
  }
  TEST_SYNC_POINT("Relocator::Move:BeforeDelete");
  hooks_.moved(path);
  if (s.ok() && from.stub) {
    // What is left here is found when the database is opened.
    names_->DeletePlace(path, from).PermitUncheckedError();
  }
  if (s.ok() && from.tier->is_volatile()) {
    database->OnPersisted(file.base, file.size);
  }
  TEST_SYNC_POINT("Relocator::Move:AfterDelete");
  return s;
}

void Relocator::Report(const std::string& path, const Database::Misplaced& file,
                       const IOStatus& result) const {
  const std::shared_ptr<Logger> info_log = names_->InfoLog(DirectoryOf(path));
  if (result.ok()) {
    file.to->moves.fetch_add(1, std::memory_order_relaxed);
    file.to->moved_bytes.fetch_add(file.size, std::memory_order_relaxed);
    const char* const why = file.to == file.wanted     ? "where it belongs"
                            : file.from == file.wanted ? "to make room"
                                                       : "nearer to where it belongs";
    ROCKS_LOG_INFO(info_log, "tiered_env: moved %s, %llu bytes, level %d, from %s to %s: %s",
                   path.c_str(), static_cast<unsigned long long>(file.size), file.level,
                   file.from->ToString().c_str(), file.to->ToString().c_str(), why);
  } else if (!result.IsAborted() && !result.IsNoSpace()) {
    file.to->errors.fetch_add(1, std::memory_order_relaxed);
    ROCKS_LOG_WARN(info_log, "tiered_env: cannot move %s to %s: %s", path.c_str(),
                   file.to->ToString().c_str(), result.ToString().c_str());
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
