// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/placed_file.h"

#include <algorithm>
#include <utility>

#include "plugin/tiered_env/files/clock.h"
#include "plugin/tiered_env/files/copy.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/tier/directories.h"
#include "plugin/tiered_env/tier/expected_level.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint64_t kReserveStep = 1 << 20;  // bytes of a budget that are taken at once

}  // namespace

PlacedFile::PlacedFile(Namespace* names, OpenDatabase* database, const WriteRequest* request)
    : names_(names), database_(database), usage_(database->usage()), request_(*request) {}

Facts PlacedFile::WhatIsKnown() {
  Facts facts;
  facts.content = request_.kind;
  facts.temperature = request_.options.temperature;
  ExpectedLevel expected;
  const bool is_told = counts() && TakeExpectedLevel(request_.path, &expected);
  facts.family = expected.family;
  if (request_.kind != Content::kTable) {
    return facts;
  }
  if (is_told) {
    facts.level = expected.level;
    purpose_.column_family = expected.column_family;
    facts.shape = database_->LevelsOf(expected.column_family);
  } else {
    // Flushes write with high priority.
    facts.shape = database_->LevelsOf(0);
    facts.level = LevelOfHint(request_.hint, request_.priority == Env::IO_HIGH, facts.shape);
  }
  return facts;
}

void PlacedFile::Start() {
  const Policy& policy = names_->policy();
  tried_.assign(policy.tiers.size(), false);
  if (request_.kind == Content::kWal) {  // SSTs may be somebody else's, who has another limiter
    database_->limiter = request_.options.rate_limiter;
  }
  const Facts facts = WhatIsKnown();
  purpose_.level = facts.level;
  family_ = facts.family;
  Tier* const tier = FirstTier(policy.tier(policy.placement.TierOf(facts, policy.home)));
  const Directories directories(policy, /*leaving=*/nullptr, /*budgeted=*/counts());
  status_ = StartIn(directories.ForNew(tier, Expected()));
  if (status_.ok() && request_.kind == Content::kWal && database_->recovery_manager() != nullptr) {
    file_ = database_->recovery_manager()->Track(request_.path, std::move(file_));
  }
}

// Returns the tier where it belongs, or that to which it would go from there.
Tier* PlacedFile::FirstTier(Tier* wanted) {
  if (!wanted->is_volatile() || database_->recovery_manager()->IsWorthTrying(purpose_)) {
    return wanted;
  }
  no_recipe_ = true;
  const std::vector<Tier*> order = SpillOrder(names_->policy(), wanted);
  return *std::find_if(order.begin(), order.end(), [](Tier* tier) { return !tier->is_volatile(); });
}

bool PlacedFile::MayUse(const Tier& tier) const {
  // What has no recipe in one memory would have none in another.
  if (tier.is_volatile() &&
      (request_.kind != Content::kTable || no_recipe_ || database_->recovery_manager()->full())) {
    return false;
  }
  return !tried_[static_cast<size_t>(tier.index())] && tier.usable();
}

// A tier whose budget is exceeded, as one that was lowered, has none for a file of no bytes either.
bool PlacedFile::TakeRoom(Tier* tier, uint64_t bytes, bool beyond) {
  if (!counts()) {
    return true;
  }
  const uint64_t left = LeftFor(purpose_.level, *tier);
  return beyond ? usage_->ReserveOfTier(tier, family_, bytes, left)
                : usage_->Reserve(tier, family_, bytes, left);
}

// Makes it in this tier or the first of those after it, and home at last, that takes it. If the
// budgets of its column family leave no tier, the slowest takes it: no write fails for them.
IOStatus PlacedFile::StartIn(Tier* first) {
  std::vector<Tier*> tiers = SpillOrder(names_->policy(), first);
  IOStatus s = StartInOneOf(tiers, first, /*beyond=*/false);
  if (s.ok() || std::none_of(tiers.begin(), tiers.end(), [this](const Tier* tier) {
        return FamilyBudgetOf(tier->options(), family_) != 0;
      })) {
    return s;
  }
  std::sort(tiers.begin(), tiers.end(),
            [](const Tier* a, const Tier* b) { return a->index() > b->index(); });
  IOStatus slowest = StartInOneOf(tiers, first, /*beyond=*/true);
  return slowest.IsNoSpace() ? s : slowest;
}

// If home has no room for a stub, no tier but home itself can help, and none has failed.
IOStatus PlacedFile::StartInOneOf(const std::vector<Tier*>& tiers, Tier* first, bool beyond) {
  const uint64_t wanted = Wanted();
  IOStatus s = IOStatus::NoSpace(request_.path, "finds no room in any tier");
  bool at_home = false;  // home has failed
  for (Tier* tier : tiers) {
    if ((at_home && !tier->is_home()) || !MayUse(*tier) || !TakeRoom(tier, wanted, beyond)) {
      continue;
    }
    reserved_ = wanted;
    tried_[static_cast<size_t>(tier->index())] = true;
    Place place;
    s = names_->NewPlace(request_.path, tier, &place, &at_home);
    if (s.ok()) {
      s = Open(place, &at_home);
    }
    if (s.ok()) {
      if (!tier->IsOneWith(*first)) {
        const bool of_family = !usage_->FamilyHasRoom(*first, family_, wanted);
        names_->ReportSpill(request_.path, *first, *tier, of_family ? family_ : "");
      }
      return s;
    }
    usage_->Release(tier, family_, reserved_);
    reserved_ = 0;
    names_->ReportFailure(request_.path, at_home ? names_->policy().home_tier() : tier, s);
  }
  return s;
}

// Files without direct I/O also take what was laid out for it.
IOStatus PlacedFile::Create(const Place& place, std::unique_ptr<FSWritableFile>* file) const {
  FileOptions options = request_.options;
  options.use_direct_writes =
      alignment_ == 0 ? request_.options.use_direct_writes : direct_ && !complete_;
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

IOStatus PlacedFile::Open(const Place& place, bool* at_home) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = Create(place, &file);
  if (s.ok() && place.stub) {
    names_->folders()->Touch(DirectoryOf(request_.path), *place.tier, Folders::Change::kMade);
  }
  // RocksDB wants to read each log that has a name, synced or not: what a stub names must be there.
  if (s.ok() && place.stub && !counts()) {
    s = names_->folders()->Sync(DirectoryOf(request_.path));
  }
  TEST_SYNC_POINT("PlacedFile::Open:BeforeStub");
  const bool has_stub = s.ok() && place.stub;  // or half of it
  if (has_stub) {
    s = names_->WriteStub(request_.path, place, &stub_);
  }
  // A log with records and without a stub has lost it (Survey::IsReplayed()). Besides, recipes need
  // logs that RocksDB never syncs, and whoever syncs a log for them does not know its stub.
  if (s.ok() && request_.kind == Content::kWal && place.stub) {
    s = SyncStub();
    s = s.ok() ? SyncDirectory(names_->target(), DirectoryOf(request_.path)) : s;
  }
  if (!s.ok()) {
    *at_home = has_stub;
    if (place.stub && file != nullptr) {
      TakeBack(place, has_stub);
    }
    return s;
  }
  place_ = place;
  file_ = std::move(file);
  writing_ = Writing(place.tier);
  if (alignment_ == 0) {
    direct_ = file_->use_direct_io();
    alignment_ = file_->GetRequiredBufferAlignment();
  }
  if (request_.preallocation_block > 0) {
    file_->SetPreallocationBlockSize(request_.preallocation_block);
  }
  file_->SetIOPriority(request_.priority);
  file_->SetWriteLifeTimeHint(request_.hint);
  return s;
}

// A log or a MANIFEST that a stub names, and that is not there, would be missed. So the file stays,
// without a byte in it, as long as its stub may come back.
void PlacedFile::TakeBack(const Place& place, bool has_stub) {
  stub_.reset();
  IOStatus s;
  if (has_stub) {
    s = names_->target()->DeleteFile(request_.path, IOOptions(), nullptr);
    s = IsMissing(s) ? IOStatus::OK() : s;
  }
  if (s.ok() && has_stub && !counts()) {
    s = SyncDirectory(names_->target(), DirectoryOf(request_.path));
  }
  if (s.ok()) {
    place.fs()->DeleteFile(place.path, IOOptions(), nullptr).PermitUncheckedError();
  }
}

IOStatus PlacedFile::MakeRoom(uint64_t end) {
  if (!counts() || end <= reserved_) {
    return IOStatus::OK();
  }
  const uint64_t more = std::max(end - reserved_, kReserveStep);
  for (const uint64_t step : {more, end - reserved_}) {
    if (TakeRoom(place_.tier, step, /*beyond=*/true)) {
      reserved_ += step;
      return IOStatus::OK();
    }
  }
  return IOStatus::NoSpace(request_.path, "is beyond the budget of " + place_.tier->ToString());
}

IOStatus PlacedFile::CopyFrom(const Place& source) {
  IOStatus s = Copy(source, size_, file_.get());
  if (s.IsNoSpace()) {
    names_->ReportFailure(request_.path, place_.tier, s);
  }
  return s;
}

void PlacedFile::Discard() {
  stub_.reset();
  file_->Close(IOOptions(), nullptr).PermitUncheckedError();
  file_.reset();
  writing_ = Writing();
  place_.fs()->DeleteFile(place_.path, IOOptions(), nullptr).PermitUncheckedError();
  usage_->Release(place_.tier, family_, reserved_);
  reserved_ = 0;
}

IOStatus PlacedFile::Spill() {
  const Place before = place_;
  const std::unique_ptr<FSWritableFile> old = std::move(file_);
  stub_.reset();
  const uint64_t reserved = reserved_;
  IOStatus s = old->Flush(IOOptions(), nullptr);
  if (s.ok()) {
    // The name of a file at home is needed for its stub.
    s = names_->SetAside(request_.path, before, &place_);
  }
  const Place source = place_;
  TEST_SYNC_POINT("PlacedFile::Spill:BeforeStart");
  if (s.ok()) {
    s = StartIn(before.tier);
  }
  while (s.ok()) {
    TEST_SYNC_POINT("PlacedFile::Spill:BeforeCopy");
    s = CopyFrom(source);
    if (!s.IsNoSpace()) {
      break;
    }
    Discard();
    s = StartIn(before.tier);
  }
  TEST_SYNC_POINT("PlacedFile::Spill:BeforeDelete");
  old->Close(IOOptions(), nullptr).PermitUncheckedError();
  usage_->Release(before.tier, family_, reserved);
  source.fs()->DeleteFile(source.path, IOOptions(), nullptr).PermitUncheckedError();
  return s;
}

IOStatus PlacedFile::SpillOver() {
  status_ = Spill();
  return status_;
}

IOStatus PlacedFile::KeepTable() {
  if (!is_volatile() || kept_ == size_) {
    return IOStatus::OK();
  }
  IOStatus s = file_->Flush(IOOptions(), nullptr);
  TEST_SYNC_POINT("PlacedFile::KeepTable:Start");
  if (s.ok()) {
    s = database_->recovery_manager()->AddTable(BaseOf(request_.path), place_, size_, purpose_);
  }
  if (s.IsNotSupported()) {
    complete_ = no_recipe_ = true;
    return Spill();
  }
  if (IsMissing(s)) {  // the tier was cleaned up; RocksDB writes it again
    s = IOStatus::IOError(request_.path, "is lost while it is written: " + s.ToString());
    s.SetRetryable(true);
  }
  if (s.ok()) {
    kept_ = size_;
  }
  return s;
}

IOStatus PlacedFile::SyncStub() {
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

IOStatus PlacedFile::Close(const IOOptions& options, IODebugContext* dbg) {
  IOStatus s = file_->Close(options, dbg);
  file_.reset();
  stub_.reset();
  writing_ = Writing();
  if (!counts()) {
    return s;
  }
  // Takes over what was reserved, as much as was used.
  if (size_ > reserved_) {
    usage_->Take(place_.tier, family_, size_ - reserved_);
  } else {
    usage_->Release(place_.tier, family_, reserved_ - size_);
  }
  reserved_ = 0;
  database_->Add(BaseOf(request_.path), place_.tier, size_, SecondsSince1970(), family_);
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
