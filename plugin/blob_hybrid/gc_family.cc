// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/gc_family.h"

#include <utility>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "logging/logging.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/family.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

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

std::unique_ptr<ColumnFamilyHandle> GcFamily::Handle() const {
  return db_->GetColumnFamilyHandleUnlocked(number_);
}

uint64_t GcFamily::FilesVersion() const {
  const auto handle = Handle();
  return handle == nullptr ? 0 : FilesVersionOf(db_, DataOf(handle.get()));
}

void GcFamily::WaitForRoom() {
  // Flushes look for themselves where the job has not: it may be busy, or late.
  Counters& counters = *settings_->counters;
  if (calm_at_ != 0 && FilesVersion() == calm_at_) {
    counters.bound_missed += calm_above_ ? 1 : 0;
    return;  // the job has looked at the same files
  }
  Findings found;
  if (!Look(&found)) {
    return;
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

bool GcFamily::Look(Findings* found) { return HasBound(settings_->options) && Read(found).ok(); }

Status GcFamily::Read(Findings* found) {
  const auto handle = Handle();
  if (handle == nullptr) {
    return Status::ColumnFamilyDropped();
  }
  ColumnFamilyData* const data = DataOf(handle.get());
  const FamilyInfo info = FamilyInfoOf(db_, data);
  memtable_bytes_ = info.memtable_bytes;
  found->has_blobs = info.goes_by_levels && info.has_blobs;
  if (!info.goes_by_levels || (!crowded_ && !info.has_blobs)) {
    return Status::OK();  // nothing to do, so nothing to count
  }
  const BlobHybridOptions& options = settings_->options;
  Totals totals;
  const Status s = surveyor_.Sum(db_, data, &totals);
  if (s.ok()) {
    found->space = Estimate(totals, options.space_floor);
    progress_.SetRoom(RoomFor(found->space, options.max_space_amplification),
                      surveyor_.corrected());
  } else if (!s.IsColumnFamilyDropped()) {
    ROCKS_LOG_ERROR(ImmutableOf(*data).logger,
                    "BlobHybrid: reading the properties of the SSTs of column family %s: %s",
                    handle->GetName().c_str(), s.ToString().c_str());
    settings_->counters->job_errors++;
  }
  return s;
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
