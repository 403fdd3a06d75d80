// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/gc_family.h"

#include <cinttypes>
#include <utility>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "logging/logging.h"
#include "plugin/blob_hybrid/compat.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// How long a flush may read SSTs that the job has not read yet, in microseconds.
constexpr uint64_t kLongestLook = 200 * 1000;

bool HasBound(const BlobHybridOptions& options) {
  return options.max_space_amplification > 0 ||
         (options.transient_log_budget > 0 && ClassesOf(options).medium > 0);
}

}  // namespace

GcFamily::GcFamily(DBImpl* db, uint32_t number, std::shared_ptr<const Settings> settings,
                   GcMonitor* monitor)
    : db_(db),
      number_(number),
      settings_(std::move(settings)),
      monitor_(monitor),
      surveyor_(Surveyor::Reading::kPieces),
      progress_(settings_->options),
      gate_(number, settings_->counters.get(), monitor) {
  settings_->families++;
}

GcFamily::~GcFamily() { settings_->families -= dropped_ ? 0 : 1; }

void GcFamily::NoteDropped() {
  surveyor_.Close();
  progress_.Rest();
  progress_.SetRoom(Room(), {});
  settings_->families--;
  dropped_ = true;
}

uint64_t GcFamily::FilesVersion() const { return FilesVersionOf(db_, number_); }

void GcFamily::WaitForRoom() {
  // Flushes look for themselves where the job has not: it may be busy, or late.
  Counters& counters = *settings_->counters;
  if (calm_at_ != 0 && FilesVersion() == calm_at_) {
    counters.bound_missed += calm_above_ ? 1 : 0;
    return;  // the job has looked at the same files
  }
  Findings found;
  const uint64_t end = SteadyMicros() + kLongestLook;
  Status s = Look(&found);
  while (s.IsIncomplete() && SteadyMicros() < end) {
    s = Look(&found);
  }
  if (!s.ok()) {
    return;  // the job reads on, if there is more to read
  }
  const bool ours = IsOurs(found);
  const Needs needs = NeedsOf(found.space, ours, settings_->options);
  if (!needs.above) {
    // What takes the space is no garbage that the job could do something about: versions that
    // snapshots see, for example.
    const bool missed = ours && !needs.any() && IsAbove(found.space, settings_->options);
    counters.bound_missed += missed ? 1 : 0;
    return;
  }
  gate_.Wait(found.space.disk_bytes, memtable_bytes_);
}

void GcFamily::NoteBegin(const CompactionJobInfo& info) {
  if (info.compaction_reason == CompactionReason::kManualCompaction) {
    return;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<uint64_t>& inputs = automatic_[info.job_id];
  for (const CompactionFileInfo& input : info.input_file_infos) {
    inputs.push_back(input.file_number);
  }
}

void GcFamily::NoteEnd(const CompactionJobInfo& info) {
  std::lock_guard<std::mutex> lock(mutex_);
  automatic_.erase(info.job_id);
}

bool GcFamily::RemoveAutomatic(std::set<uint64_t>* ssts) const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [job, inputs] : automatic_) {
    for (const uint64_t input : inputs) {
      ssts->erase(input);
    }
  }
  return !automatic_.empty();
}

Status GcFamily::Look(Findings* found) {
  if (!HasBound(settings_->options)) {
    return Status::NotSupported();
  }
  const HeldFamily family = Hold();
  if (!family) {
    return Status::ColumnFamilyDropped();
  }
  const FamilyInfo info = FamilyInfoOf(db_, family.data());
  memtable_bytes_ = info.memtable_bytes;
  found->has_blobs = info.goes_by_levels && info.has_blobs;
  if (!info.goes_by_levels || (!crowded_ && !info.has_blobs)) {
    return Status::OK();  // nothing to do, so nothing to count
  }
  const BlobHybridOptions& options = settings_->options;
  Totals totals;
  const Status s = surveyor_.Sum(db_, family.data(), &totals);
  NoteUnread(family);
  if (s.ok()) {
    found->space = Estimate(totals, options.space_floor);
    progress_.SetRoom(RoomFor(found->space, options.max_space_amplification),
                      surveyor_.corrected());
  }
  return s;
}

// One line for all that a look has come across: a device that is gone has thousands.
void GcFamily::NoteUnread(const HeldFamily& family) {
  const std::vector<Surveyor::Unread> unread = surveyor_.TakeUnread();
  if (unread.empty()) {
    return;
  }
  settings_->counters->unread_ssts += unread.size();
  ROCKS_LOG_ERROR(ImmutableOf(*family.data()).logger,
                  "BlobHybrid: reading the properties of SST %" PRIu64
                  " of column family %s (and of %zu others): %s",
                  unread.front().sst, family.name(), unread.size() - 1,
                  unread.front().why.ToString().c_str());
}

void GcFamily::UpdateCrowded(const Space& space) {
  const BlobHybridOptions& options = settings_->options;
  crowded_ =
      ClassesOf(options).medium > 0 && IsCrowded(space, options.max_space_amplification, crowded_);
}

void GcFamily::BeginCalm(uint64_t files_version, bool above) {
  calm_above_ = above;
  calm_at_ = files_version;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
