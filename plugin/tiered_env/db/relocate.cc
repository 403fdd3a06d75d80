// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of TieredFileSystem that makes stubs and moves files.

#include <algorithm>
#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/file_system.h"
#include "rocksdb/rate_limiter.h"
#include "test_util/sync_point.h"
#include "util/aligned_buffer.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kChunk = 1 << 20;  // bytes that are copied at once

bool IsSet(const std::atomic<bool>* stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

void Wait(RateLimiter* limiter, size_t bytes, const std::atomic<bool>* stop) {
  while (limiter != nullptr && bytes > 0 && !IsSet(stop)) {
    const size_t part =
        std::min<size_t>(bytes, static_cast<size_t>(limiter->GetSingleBurstBytes()));
    limiter->Request(static_cast<int64_t>(part), Env::IO_LOW, nullptr, RateLimiter::OpType::kWrite);
    bytes -= part;
  }
}

IOStatus AppendChunk(FSWritableFile* to, uint64_t offset, const Slice& bytes) {
  return to->use_direct_io() ? to->PositionedAppend(bytes, offset, IOOptions(), nullptr)
                             : to->Append(bytes, IOOptions(), nullptr);
}

}  // namespace

std::vector<Tier*> SpillOrder(const Policy& policy, Tier* first) {
  std::vector<Tier*> result;
  for (size_t i = static_cast<size_t>(first->index()); i < policy.tiers.size(); i++) {
    result.push_back(policy.tiers[i].get());
  }
  if (policy.home < first->index()) {
    result.push_back(policy.home_tier());
  }
  return result;
}

IOStatus TieredFileSystem::NewPlace(const std::string& path, Tier* tier, Place* place) {
  if (!tier->is_home()) {
    return folders_->NewPath(DirectoryOf(path), BaseOf(path), tier, place);
  }
  place->tier = tier;
  place->path = path;
  place->stub = false;
  return IOStatus::OK();
}

IOStatus TieredFileSystem::WriteStub(const std::string& path, const Place& place,
                                     std::unique_ptr<FSWritableFile>* file) {
  Stub stub;
  stub.tier = place.tier->name();
  stub.directory = place.tier->options().path;
  stub.path = place.path.substr(stub.directory.size() + 1);
  if (file == nullptr) {
    return WriteSmallFile(target_.get(), path, stub.Encode());
  }
  IOStatus s = target_->NewWritableFile(path, FileOptions(), file, nullptr);
  if (s.ok()) {
    s = (*file)->Append(stub.Encode(), IOOptions(), nullptr);
  }
  return s.ok() ? (*file)->Flush(IOOptions(), nullptr) : s;
}

IOStatus TieredFileSystem::SetAside(const std::string& path, const Place& place, Place* aside) {
  *aside = place;
  if (place.stub) {
    return IOStatus::OK();
  }
  aside->path = path + kTemporary;
  return target_->RenameFile(path, aside->path, IOOptions(), nullptr);
}

// In whole pages, for files with direct I/O: those that are copied to one are of whole pages.
IOStatus TieredFileSystem::Copy(const Place& from, uint64_t size, FSWritableFile* to,
                                RateLimiter* limiter, const std::atomic<bool>* stop) {
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = from.fs()->NewSequentialFile(from.path, FileOptions(), &file, nullptr);
  AlignedBuffer buffer;
  buffer.Alignment(std::max<size_t>(to->GetRequiredBufferAlignment(), kDefaultPageSize));
  buffer.AllocateNewBuffer(kChunk);
  for (uint64_t done = 0; s.ok() && done < size;) {
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(kChunk, size - done));
    size_t got = 0;
    if (IsSet(stop)) {
      return IOStatus::Aborted(from.path, "is no longer copied");
    }
    while (s.ok() && got < wanted) {
      Slice bytes;
      char* const at = buffer.BufferStart() + got;
      s = file->Read(wanted - got, IOOptions(), &bytes, at, nullptr);
      if (s.ok() && bytes.empty()) {
        return IOStatus::Corruption(from.path, "ends at " + std::to_string(done + got) + " of " +
                                                   std::to_string(size) + " bytes");
      }
      if (s.ok() && bytes.data() != at) {
        memcpy(at, bytes.data(), bytes.size());
      }
      got += bytes.size();
    }
    TEST_SYNC_POINT("TieredFileSystem::Copy:Chunk");
    Wait(limiter, got, stop);
    if (s.ok()) {
      s = AppendChunk(to, done, Slice(buffer.BufferStart(), got));
    }
    done += got;
  }
  return s;
}

void TieredFileSystem::Changed(const std::shared_ptr<Database>& database) {
  if (mover_ != nullptr) {
    mover_->Notify(database);
  }
}

void TieredFileSystem::WaitForMoves() {
  if (mover_ == nullptr) {
    return;
  }
  std::vector<std::shared_ptr<Database>> all;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [directory, database] : databases_) {
      all.push_back(database);
    }
  }
  for (const auto& database : all) {
    mover_->Notify(database);
  }
  mover_->Wait();
}

IOStatus TieredFileSystem::CopyToNew(const Place& from, uint64_t size, const Place& to,
                                     RateLimiter* limiter, const std::atomic<bool>* stop) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = to.fs()->NewWritableFile(to.path, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = Copy(from, size, file.get(), limiter, stop);
  }
  return SyncAndClose(s, file.get());
}

// What stood under the name must be where it was; afterwards the name stands for the copy. An error
// with *swapped: both must be kept until the database is opened again, for one or the other will be
// named.
IOStatus TieredFileSystem::Swap(const std::string& path, const Place& from, const Place& to,
                                bool* swapped) {
  *swapped = false;
  Place now;
  IOStatus s = Resolve(path, &now);
  if (s.ok() && (now.path != from.path || now.tier != from.tier)) {
    s = IOStatus::Aborted(path, "is not where it was");
  }
  if (s.ok()) {
    s = target_->FileExists(path, IOOptions(), nullptr);
    s = s.ok() ? s : IOStatus::Aborted(path, "is gone");
  }
  const std::string temporary = path + kTemporary;
  if (s.ok() && to.stub) {
    s = WriteStub(temporary, to);
  }
  TEST_SYNC_POINT("TieredFileSystem::Swap:BeforeRename");
  if (s.ok()) {
    s = target_->RenameFile(temporary, path, IOOptions(), nullptr);
    // A rename that failed may have happened.
    *swapped = s.ok() || !Resolve(path, &now).ok() || now.path != from.path;
  }
  TEST_SYNC_POINT("TieredFileSystem::Swap:AfterRename");
  return s.ok() ? SyncDirectory(target_.get(), DirectoryOf(path)) : s;
}

// Before it is known by the copy.
IOStatus TieredFileSystem::CheckRoom(const Place& place, uint64_t bytes) {
  uint64_t free;
  IOStatus s = target_->GetFreeSpace(DirectoryOf(place.path), IOOptions(), &free, nullptr);
  return s.ok() && free < bytes ? IOStatus::NoSpace(place.path, "the tier's device is full")
                                : IOStatus::OK();
}

IOStatus TieredFileSystem::MoveFile(Database* database, const Database::Misplaced& file,
                                    RateLimiter* limiter, bool anyway) {
  if (anyway) {
    file.to->Take(file.size);
  } else if (!file.to->Reserve(file.size)) {
    return IOStatus::NoSpace(file.base, "is beyond the budget of " + file.to->ToString());
  }
  bool swapped = false;
  IOStatus s = MoveInto(database, file, limiter, &swapped);
  if (!swapped) {
    file.to->Release(file.size);
  }
  return s;
}

IOStatus TieredFileSystem::MoveInto(Database* database, const Database::Misplaced& file,
                                    RateLimiter* limiter, bool* swapped) {
  const std::string path = database->directory() + "/" + file.base;
  Place from;
  IOStatus s = Resolve(path, &from);
  if (s.ok() && from.tier != file.from) {
    s = IOStatus::Aborted(path, "is not where it was");
  }
  uint64_t size = 0;
  if (s.ok()) {
    s = from.fs()->GetFileSize(from.path, IOOptions(), &size, nullptr);
    if (IsMissing(s) && BringBack(path, from)) {
      s = from.fs()->GetFileSize(from.path, IOOptions(), &size, nullptr);
    }
    s = IsMissing(s) ? IOStatus::Aborted(path, "is gone") : s;
  }
  if (s.ok() && size != file.size) {
    s = IOStatus::Corruption(
        path, "has " + std::to_string(size) + " bytes instead of " + std::to_string(file.size));
  }
  Place to;
  if (s.ok()) {
    s = NewPlace(path, file.to, &to);
  }
  if (!s.ok()) {
    return s;
  }
  const Place unfinished = {to.tier, (to.stub ? to.path : path) + kTemporary, to.stub};
  if (!to.stub) {
    to.path = unfinished.path;
  }
  s = CheckRoom(to, size);
  TEST_SYNC_POINT("TieredFileSystem::MoveFile:BeforeCopy");
  if (s.ok()) {
    s = CopyToNew(from, size, unfinished, limiter, &database->closing);
    if (s.IsNoSpace()) {
      ReportFailure(path, file.to, s);
    }
  }
  TEST_SYNC_POINT("TieredFileSystem::MoveFile:AfterCopy");
  if (s.ok() && to.stub) {
    s = to.fs()->RenameFile(unfinished.path, to.path, IOOptions(), nullptr);
  }
  if (s.ok() && to.stub) {
    folders_->Touch(database->directory(), *to.tier);
    s = folders_->Sync(database->directory());
  }
  if (s.ok()) {
    std::lock_guard<std::mutex> lock(names_mutex_);
    s = database->IsStill(file) ? Swap(path, from, to, swapped)
                                : IOStatus::Aborted(path, "was written anew");
    if (*swapped) {
      database->Add(file.base, file.to, file.size);
    }
  }
  if (!*swapped) {
    to.fs()->DeleteFile(to.path, IOOptions(), nullptr).PermitUncheckedError();
    to.fs()->DeleteFile(unfinished.path, IOOptions(), nullptr).PermitUncheckedError();
    target_->DeleteFile(path + kTemporary, IOOptions(), nullptr).PermitUncheckedError();
    return s;
  }
  TEST_SYNC_POINT("TieredFileSystem::MoveFile:BeforeDelete");
  SwitchReaders(path);
  if (s.ok() && from.stub) {
    DeletePlace(path, from).PermitUncheckedError();  // else it is found when the database is opened
  }
  if (s.ok() && from.tier->is_volatile() && database->recovery_manager() != nullptr) {
    database->recovery_manager()->DropTable(file.base);
    database->recovery_manager()->Persisted(file.size);
  }
  TEST_SYNC_POINT("TieredFileSystem::MoveFile:AfterDelete");
  return s;
}

void TieredFileSystem::ReportSpill(const std::string& path, Tier& wanted, const Tier& got) {
  wanted.spills.fetch_add(1, std::memory_order_relaxed);
  const std::shared_ptr<Logger> info_log = InfoLog(DirectoryOf(path));
  ROCKS_LOG_INFO(info_log, "tiered_env: %s goes to %s: no room in %s", path.c_str(),
                 got.ToString().c_str(), wanted.ToString().c_str());
}

void TieredFileSystem::ReportFailure(const std::string& path, Tier* tier, const IOStatus& reason) {
  LookForReadOnly(DirectoryOf(path));
  const bool is_news = tier->Failed();
  if (is_news) {
    const std::shared_ptr<Logger> info_log = InfoLog(DirectoryOf(path));
    ROCKS_LOG_WARN(info_log, "tiered_env: no new files for %s for a while: %s",
                   tier->ToString().c_str(), reason.ToString().c_str());
  }
}

void TieredFileSystem::ReportMove(const std::string& path, const Database::Misplaced& file,
                                  const IOStatus& result) {
  const std::shared_ptr<Logger> info_log = InfoLog(DirectoryOf(path));
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
