// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/writable_file.h"

#include <algorithm>
#include <utility>

#include "plugin/tiered_env/compat.h"
#include "plugin/tiered_env/files/copy.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/tier/expected_level.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint64_t kReserveStep = 1 << 20;  // bytes of a budget that are taken at once

}  // namespace

TieredWritableFile::TieredWritableFile(Namespace* names, std::shared_ptr<OpenDatabase> database,
                                       std::string path, const FileOptions& options,
                                       std::function<void()> changed)
    : FSWritableFile(options),
      names_(names),
      database_(std::move(database)),
      path_(std::move(path)),
      options_(options),
      changed_(std::move(changed)) {
  uint64_t number;
  content_ = ContentOf(path_, &number);
  write_hint_ = HintOf(options);
}

TieredWritableFile::~TieredWritableFile() {
  if (!closed_) {
    Close(IOOptions(), nullptr).PermitUncheckedError();
  }
  start_.PermitUncheckedError();
}

Facts TieredWritableFile::WhatIsKnown() const {
  Facts facts;
  facts.content = content_;
  facts.temperature = options_.temperature;
  if (content_ != Content::kTable) {
    return facts;
  }
  ExpectedLevel expected;
  if (TakeExpectedLevel(path_, &expected)) {
    facts.level = expected.level;
    purpose_.column_family = expected.column_family;
    facts.shape = database_->LevelsOf(expected.column_family);
  } else {
    // Flushes write with high priority.
    facts.shape = database_->LevelsOf(0);
    facts.level = LevelOfHint(write_hint_, io_priority_ == Env::IO_HIGH, facts.shape);
  }
  return facts;
}

IOStatus TieredWritableFile::StartOrFail() const {
  if (!started_) {
    started_ = true;
    const Policy& policy = names_->policy();
    tried_.assign(policy.tiers.size(), false);
    const Facts facts = WhatIsKnown();
    purpose_.level = facts.level;
    start_ = StartIn(FirstTier(policy.tier(policy.placement.TierOf(facts, policy.home))));
    if (start_.ok() && content_ == Content::kWal && database_->recovery_manager() != nullptr) {
      file_ = database_->recovery_manager()->Track(path_, std::move(file_));
    }
  }
  return start_;
}

// The one where it belongs, or that to which it would go from there.
Tier* TieredWritableFile::FirstTier(Tier* wanted) const {
  if (!wanted->is_volatile() || database_->recovery_manager()->IsWorthTrying(purpose_)) {
    return wanted;
  }
  no_recipe_ = true;
  const std::vector<Tier*> order = SpillOrder(names_->policy(), wanted);
  return *std::find_if(order.begin(), order.end(), [](Tier* tier) { return !tier->is_volatile(); });
}

bool TieredWritableFile::MayUse(const Tier& tier) const {
  // What has no recipe in one memory would have none in another.
  if (tier.is_volatile() &&
      (content_ != Content::kTable || no_recipe_ || database_->recovery_manager()->full())) {
    return false;
  }
  return !tried_[static_cast<size_t>(tier.index())] && tier.usable();
}

// In this tier or the first of those after it, and home at last, that takes it.
IOStatus TieredWritableFile::StartIn(Tier* first) const {
  size_t block;
  size_t last_block;
  const_cast<TieredWritableFile*>(this)->GetPreallocationStatus(&block, &last_block);
  const uint64_t wanted = counts() ? std::max<uint64_t>(block, size_) : 0;
  IOStatus s = IOStatus::NoSpace(path_, "finds no room in any tier");
  const Policy& policy = names_->policy();
  for (Tier* tier : SpillOrder(policy, first)) {
    if (!MayUse(*tier) || !tier->Reserve(wanted, LeftFor(purpose_.level, *tier))) {
      continue;
    }
    reserved_ = wanted;
    tried_[static_cast<size_t>(tier->index())] = true;
    Place place;
    s = names_->NewPlace(path_, tier, &place);
    if (s.ok()) {
      s = Open(place);
    }
    if (s.ok()) {
      if (tier != first) {
        names_->ReportSpill(path_, *first, *tier);
      }
      return s;
    }
    tier->Release(reserved_);
    reserved_ = 0;
    names_->ReportFailure(path_, tier, s);
  }
  return s;
}

// Files without direct I/O also take what was laid out for it.
IOStatus TieredWritableFile::Create(const Place& place,
                                    std::unique_ptr<FSWritableFile>* file) const {
  FileOptions options = options_;
  options.use_direct_writes = alignment_ == 0 ? options_.use_direct_writes : direct_ && !complete_;
  IOStatus s = place.fs()->NewWritableFile(place.path, options, file, nullptr);
  const bool has_none = !s.ok() && !s.IsNoSpace() && place.stub;
  const bool wants_larger_pages =
      s.ok() && alignment_ != 0 && (*file)->GetRequiredBufferAlignment() > alignment_;
  if (options.use_direct_writes && (has_none || wants_larger_pages)) {
    file->reset();
    options.use_direct_writes = false;
    s = place.fs()->NewWritableFile(place.path, options, file, nullptr);
  }
  return s;
}

IOStatus TieredWritableFile::Open(const Place& place) const {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = Create(place, &file);
  if (s.ok() && place.stub) {
    names_->folders()->Touch(DirectoryOf(path_), *place.tier);
  }
  // RocksDB wants to read each log that has a name, synced or not: what a stub names must be there.
  if (s.ok() && place.stub && !counts()) {
    s = names_->folders()->Sync(DirectoryOf(path_));
  }
  TEST_SYNC_POINT("TieredWritableFile::Open:BeforeStub");
  if (s.ok() && place.stub) {
    s = names_->WriteStub(path_, place, &stub_);
  }
  // Recipes need logs that RocksDB never syncs, and whoever syncs a log for them does not know its
  // stub.
  if (s.ok() && content_ == Content::kWal && database_->recovery_manager() != nullptr) {
    s = SyncStub();
  }
  if (!s.ok()) {
    stub_.reset();
    if (place.stub && file != nullptr) {
      place.fs()->DeleteFile(place.path, IOOptions(), nullptr).PermitUncheckedError();
    }
    return s;
  }
  place_ = place;
  file_ = std::move(file);
  if (alignment_ == 0) {
    direct_ = file_->use_direct_io();
    alignment_ = file_->GetRequiredBufferAlignment();
  }
  auto* self = const_cast<TieredWritableFile*>(this);
  size_t block;
  size_t last_block;
  self->GetPreallocationStatus(&block, &last_block);
  if (block > 0) {
    file_->SetPreallocationBlockSize(block);
  }
  file_->SetIOPriority(io_priority_);
  file_->SetWriteLifeTimeHint(write_hint_);
  return s;
}

IOStatus TieredWritableFile::MakeRoom(uint64_t end) {
  if (!counts() || end <= reserved_) {
    return IOStatus::OK();
  }
  const uint64_t more = std::max(end - reserved_, kReserveStep);
  for (const uint64_t step : {more, end - reserved_}) {
    if (place_.tier->Reserve(step, LeftFor(purpose_.level, *place_.tier))) {
      reserved_ += step;
      return IOStatus::OK();
    }
  }
  return IOStatus::NoSpace(path_, "is beyond the budget of " + place_.tier->ToString());
}

template <typename Write>
IOStatus TieredWritableFile::WriteUpTo(uint64_t end, const Write& write) {
  IOStatus s = Start();
  if (s.ok() && content_ == Content::kMeta && database_->recovery_manager() != nullptr) {
    s = database_->recovery_manager()->Barrier();
  }
  while (s.ok()) {
    s = MakeRoom(end);
    if (s.ok()) {
      s = write();
      if (s.IsNoSpace() && counts()) {
        names_->ReportFailure(path_, place_.tier, s);
      }
    }
    if (!s.IsNoSpace() || !counts()) {
      break;
    }
    s = Spill();
    start_ = s;
  }
  if (!s.ok() && file_ != nullptr) {
    names_->ReportFailure(path_, place_.tier, s);  // whoever tries again shall not come here
  }
  if (s.ok()) {
    place_.tier->written_bytes.fetch_add(end - std::min(end, size_), std::memory_order_relaxed);
    size_ = std::max(size_, end);
  }
  return s;
}

// NoSpace: it must be another tier.
IOStatus TieredWritableFile::CopyFrom(const Place& source) {
  IOStatus s = Copy(source, size_, file_.get());
  if (s.IsNoSpace()) {
    names_->ReportFailure(path_, place_.tier, s);
  }
  return s;
}

void TieredWritableFile::Discard() {
  stub_.reset();
  file_->Close(IOOptions(), nullptr).PermitUncheckedError();
  file_.reset();
  place_.fs()->DeleteFile(place_.path, IOOptions(), nullptr).PermitUncheckedError();
  place_.tier->Release(reserved_);
  reserved_ = 0;
}

IOStatus TieredWritableFile::Spill() {
  const Place before = place_;
  const std::unique_ptr<FSWritableFile> old = std::move(file_);
  stub_.reset();
  const uint64_t reserved = reserved_;
  IOStatus s = old->Flush(IOOptions(), nullptr);
  if (s.ok()) {
    // The name of a file at home is needed for its stub.
    s = names_->SetAside(path_, before, &place_);
  }
  const Place source = place_;
  TEST_SYNC_POINT("TieredWritableFile::Spill:BeforeStart");
  if (s.ok()) {
    s = StartIn(before.tier);
  }
  while (s.ok()) {
    TEST_SYNC_POINT("TieredWritableFile::Spill:BeforeCopy");
    s = CopyFrom(source);
    if (!s.IsNoSpace()) {
      break;
    }
    Discard();
    s = StartIn(before.tier);
  }
  TEST_SYNC_POINT("TieredWritableFile::Spill:BeforeDelete");
  old->Close(IOOptions(), nullptr).PermitUncheckedError();
  before.tier->Release(reserved);
  source.fs()->DeleteFile(source.path, IOOptions(), nullptr).PermitUncheckedError();
  return s;
}

IOStatus TieredWritableFile::Append(const Slice& data, const IOOptions& options,
                                    IODebugContext* dbg) {
  return WriteUpTo(size_ + data.size(), [&] { return file_->Append(data, options, dbg); });
}

IOStatus TieredWritableFile::Append(const Slice& data, const IOOptions& options,
                                    const DataVerificationInfo& verification, IODebugContext* dbg) {
  return WriteUpTo(size_ + data.size(),
                   [&] { return file_->Append(data, options, verification, dbg); });
}

IOStatus TieredWritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                              const IOOptions& options, IODebugContext* dbg) {
  return WriteUpTo(offset + data.size(),
                   [&] { return file_->PositionedAppend(data, offset, options, dbg); });
}

IOStatus TieredWritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                              const IOOptions& options,
                                              const DataVerificationInfo& verification,
                                              IODebugContext* dbg) {
  return WriteUpTo(offset + data.size(), [&] {
    return file_->PositionedAppend(data, offset, options, verification, dbg);
  });
}

IOStatus TieredWritableFile::Truncate(uint64_t size, const IOOptions& options,
                                      IODebugContext* dbg) {
  IOStatus s = Start();
  if (s.ok()) {
    s = file_->Truncate(size, options, dbg);
  }
  if (s.ok()) {
    size_ = size;
  }
  return s;
}

IOStatus TieredWritableFile::Close(const IOOptions& options, IODebugContext* dbg) {
  IOStatus s = Start();
  closed_ = true;
  const bool was_volatile = is_volatile();
  if (s.ok() && file_ != nullptr) {
    s = KeepTable();
  }
  if (s.ok() && was_volatile && !is_volatile()) {  // it came here after the last sync
    s = file_->Sync(options, dbg);
    s = s.ok() ? SyncStub() : s;
  }
  if (file_ == nullptr) {
    return s;
  }
  IOStatus closed = file_->Close(options, dbg);
  file_.reset();
  stub_.reset();
  if (!counts()) {
    return s.ok() ? closed : s;
  }
  // Takes over what was reserved, as much as was used.
  if (size_ > reserved_) {
    place_.tier->Take(size_ - reserved_);
  } else {
    place_.tier->Release(reserved_ - size_);
  }
  reserved_ = 0;
  database_->Add(BaseOf(path_), place_.tier, size_);
  return s.ok() ? closed : s;
}

IOStatus TieredWritableFile::Flush(const IOOptions& options, IODebugContext* dbg) {
  IOStatus s = Start();
  if (s.ok()) {
    s = file_->Flush(options, dbg);
  }
  if (s.ok() && content_ == Content::kMeta) {
    changed_();
  }
  return s;
}

IOStatus TieredWritableFile::KeepTable() {
  if (!is_volatile() || kept_ == size_) {
    return IOStatus::OK();
  }
  IOStatus s = file_->Flush(IOOptions(), nullptr);
  TEST_SYNC_POINT("TieredWritableFile::KeepTable:Start");
  if (s.ok()) {
    s = database_->recovery_manager()->AddTable(BaseOf(path_), place_, size_, purpose_);
  }
  if (s.IsNotSupported()) {
    complete_ = no_recipe_ = true;
    return Spill();
  }
  if (IsMissing(s)) {  // the tier was cleaned up; RocksDB writes it again
    s = IOStatus::IOError(path_, "is lost while it is written: " + s.ToString());
    s.SetRetryable(true);
  }
  if (s.ok()) {
    kept_ = size_;
  }
  return s;
}

// Of an SST in memory there is nothing to be synced, nor of its stub: its recipe tells what both
// were.
template <typename SyncFile>
IOStatus TieredWritableFile::SyncAll(const SyncFile& sync) {
  IOStatus s = Start();
  if (s.ok()) {
    s = KeepTable();
  }
  if (s.ok() && is_volatile()) {
    return s;
  }
  if (s.ok()) {
    s = sync();
  }
  if (s.ok()) {
    s = SyncStub();
  }
  if (s.ok() && content_ == Content::kMeta) {
    changed_();
  }
  return s;
}

IOStatus TieredWritableFile::SyncStub() const {
  if (stub_ == nullptr) {
    return IOStatus::OK();
  }
  IOStatus s = stub_->Sync(IOOptions(), nullptr);
  if (s.ok()) {
    s = stub_->Close(IOOptions(), nullptr);
    stub_.reset();
  }
  return s;
}

IOStatus TieredWritableFile::Sync(const IOOptions& options, IODebugContext* dbg) {
  return SyncAll([&] { return file_->Sync(options, dbg); });
}

IOStatus TieredWritableFile::Fsync(const IOOptions& options, IODebugContext* dbg) {
  return SyncAll([&] { return file_->Fsync(options, dbg); });
}

IOStatus TieredWritableFile::RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                                       IODebugContext* dbg) {
  IOStatus s = Start();
  return s.ok() ? file_->RangeSync(offset, bytes, options, dbg) : s;
}

IOStatus TieredWritableFile::InvalidateCache(size_t offset, size_t length) {
  IOStatus s = Start();
  return s.ok() ? file_->InvalidateCache(offset, length) : s;
}

bool TieredWritableFile::IsSyncThreadSafe() const {
  return !counts() && Start().ok() && file_->IsSyncThreadSafe();
}

bool TieredWritableFile::use_direct_io() const {
  return Start().ok() ? direct_ : options_.use_direct_writes;
}

size_t TieredWritableFile::GetRequiredBufferAlignment() const {
  return Start().ok() ? alignment_ : kDefaultPageSize;
}

void TieredWritableFile::SetPreallocationBlockSize(size_t size) {
  FSWritableFile::SetPreallocationBlockSize(size);
  if (file_ != nullptr) {
    file_->SetPreallocationBlockSize(size);
  }
}

void TieredWritableFile::SetIOPriority(Env::IOPriority priority) {
  FSWritableFile::SetIOPriority(priority);
  if (file_ != nullptr) {
    file_->SetIOPriority(priority);
  }
}

void TieredWritableFile::SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) {
  FSWritableFile::SetWriteLifeTimeHint(hint);
  if (file_ != nullptr) {
    file_->SetWriteLifeTimeHint(hint);
  }
}

// In memory there is no fragmentation to be avoided, and what was laid out and is not used costs
// time.
void TieredWritableFile::PrepareWrite(size_t offset, size_t length, const IOOptions& options,
                                      IODebugContext* dbg) {
  if (Start().ok() && !is_volatile()) {
    file_->PrepareWrite(offset, length, options, dbg);
  }
}

uint64_t TieredWritableFile::GetFileSize(const IOOptions& /*options*/, IODebugContext* /*dbg*/) {
  return size_;
}

size_t TieredWritableFile::GetUniqueId(char* id, size_t max_size) const {
  return Start().ok() ? file_->GetUniqueId(id, max_size) : 0;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
