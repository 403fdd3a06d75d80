// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/survey.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "db/blob/blob_file_meta.h"
#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "db/version_set.h"
#include "plugin/blob_hybrid/family.h"
#include "plugin/blob_hybrid/gc_monitor.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr size_t kMostTouched = 65536;  // with so many, all blob files are gone through

bool IsSame(const std::weak_ptr<BlobFileMetaData>& a, const std::shared_ptr<BlobFileMetaData>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

size_t SampleSize(const SketchPtr& sketch) {
  return sketch == nullptr ? 0 : sketch->entries.size();
}

}  // namespace

Status Surveyor::Sum(DBImpl* db, ColumnFamilyData* family, Totals* totals) {
  const Turn turn(&turns_);
  const Status s = Update(db, family);
  *totals = totals_;
  return s;
}

Status Surveyor::Take(DBImpl* db, ColumnFamilyData* family, Survey* survey) {
  const Turn turn(&turns_);
  *survey = Survey();
  const Status s = Update(db, family);
  if (!s.ok()) {
    return s;
  }
  survey->ssts.reserve(known_.size());
  for (const auto& places : levels_) {
    for (const Place& place : places) {
      survey->ssts.push_back(place.sst->info);
    }
  }
  survey->blobs.reserve(blobs_.size());
  for (const Blob& blob : blobs_) {
    survey->blobs.push_back(blob.info);
  }
  survey->last_level = totals_.last_level;
  survey->base_level = base_level_;
  survey->comparator = comparator_;
  return s;
}

void Surveyor::Close() {
  const Turn turn(&turns_);
  closed_ = true;
  levels_ = {};
  known_ = {};
  blobs_ = {};
  totals_ = {};
  said_ = {};
  unsaid_ = {};
  corrected_ = {};
  unread_ = {};
}

std::vector<Surveyor::Unread> Surveyor::TakeUnread() {
  const Turn turn(&turns_);
  return std::exchange(errors_, {});
}

std::map<uint64_t, uint64_t> Surveyor::corrected() {
  const Turn turn(&turns_);
  return corrected_;
}

uint64_t Surveyor::TEST_looked_at() {
  const Turn turn(&turns_);
  return looked_at_;
}

Status Surveyor::Update(DBImpl* db, ColumnFamilyData* family) {
  if (closed_) {
    return Status::ColumnFamilyDropped();
  }
  const HeldVersion version(db, family);
  TEST_SYNC_POINT("Surveyor::Update:Held");
  const uint64_t number = version->GetVersionNumber();
  if (version_ == number && SteadyMicros() < unread_.next()) {
    return Status::OK();
  }
  BeginPiece();
  const Status s = UpdateTo(family, version.get());
  version_ = s.ok() ? std::make_optional(number) : std::nullopt;
  return s;
}

Status Surveyor::UpdateTo(ColumnFamilyData* family, Version* version) {
  const VersionStorageInfo& storage = *version->storage_info();
  levels_.resize(static_cast<size_t>(storage.num_levels()));
  Changes changes = Compare(storage);
  const Status s = Learn(family, version, changes);
  if (!s.ok()) {
    return s;
  }
  totals_.last_level = std::max(storage.num_non_empty_levels() - 1, 0);
  base_level_ = std::max(storage.base_level(), 1);
  comparator_ = family->user_comparator();
  UpdateSsts(std::move(changes));
  if (ReadAgain(family, version)) {
    Sample();
  }
  UpdateBlobs(storage);
  CorrectGarbage();
  return s;
}

Surveyor::Changes Surveyor::Compare(const VersionStorageInfo& storage) const {
  Changes changes;
  changes.levels.resize(levels_.size());
  for (int level = 0; level < storage.num_levels(); level++) {
    CompareLevel(
        level,
        level < storage.num_non_empty_levels() ? storage.LevelFilesBrief(level) : LevelFilesBrief(),
        &changes);
  }
  return changes;
}

void Surveyor::CompareLevel(int level, const LevelFilesBrief& files, Changes* changes) const {
  const std::vector<Place>& before = levels_[static_cast<size_t>(level)];
  std::vector<Place>& after = changes->levels[static_cast<size_t>(level)];
  after.reserve(files.num_files);
  size_t next = 0;  // of `before`; the order of those that stay does not change
  for (size_t i = 0; i < files.num_files; i++) {
    const uint64_t number = files.files[i].fd.GetNumber();
    const bool was_here =
        (next < before.size() && before[next].number == number) || IsCounted(number, level);
    while (was_here && next < before.size() && before[next].number != number) {
      changes->gone.push_back(before[next++].sst);
    }
    if (was_here && next < before.size()) {
      after.push_back(before[next++]);
    } else {
      after.push_back({number, nullptr});
      changes->come.emplace_back(level, files.files[i].file_metadata);
    }
  }
  for (; next < before.size(); next++) {
    changes->gone.push_back(before[next].sst);
  }
}

bool Surveyor::IsCounted(uint64_t number, int level) const {
  const auto it = known_.find(number);
  return it != known_.end() && it->second.counted && it->second.info.level == level;
}

void Surveyor::UpdateSsts(Changes changes) {
  if (changes.come.empty() && changes.gone.empty()) {
    return;
  }
  for (KnownSst* sst : changes.gone) {
    Count(false, sst);
  }
  for (const auto& [level, file] : changes.come) {
    KnownSst* sst = &known_.at(file->fd.GetNumber());
    sst->info.level = level;
    Count(true, sst);
  }
  levels_ = std::move(changes.levels);
  size_t count = 0;
  for (auto& places : levels_) {
    for (Place& place : places) {
      place.sst = place.sst == nullptr ? &known_.at(place.number) : place.sst;
    }
    count += places.size();
  }
  for (const KnownSst* sst : changes.gone) {
    if (!sst->counted) {  // and not moved
      Forget(sst->info.number);
    }
  }
  if (known_.size() > count) {  // some were read for a version that was not read in full
    std::vector<uint64_t> others;
    for (const auto& [number, sst] : known_) {
      if (!sst.counted) {
        others.push_back(number);
      }
    }
    std::for_each(others.begin(), others.end(), [this](uint64_t number) { Forget(number); });
  }
  Sample();
}

void Surveyor::Count(bool counted, KnownSst* sst) {
  const SstInfo& info = sst->info;
  sst->counted = counted;
  looked_at_++;
  if (counted) {
    totals_.Add(info);
    sketched_ += SampleSize(info.sketch);
  } else {
    totals_.Remove(info);
    sketched_ -= SampleSize(info.sketch);
  }
  if (!sst->says_all && info.oldest_blob != kInvalidBlobFileNumber) {
    if (counted) {
      unsaid_.insert(info.oldest_blob);
    } else {
      unsaid_.erase(unsaid_.find(info.oldest_blob));
    }
  }
  if (info.references == nullptr) {
    return;
  }
  for (const auto& [blob, bytes] : *info.references) {
    uint64_t& said = said_[blob];
    said += counted ? bytes : -bytes;
    if (said == 0) {
      said_.erase(blob);
    }
    Touch(blob);
  }
}

void Surveyor::Forget(uint64_t number) {
  known_.erase(number);
  unread_.Forget(number);
}

void Surveyor::Sample() {
  if (sketched_ > kMostKept) {
    std::vector<SketchPtr*> sketches;
    for (auto& [number, sst] : known_) {
      sketches.push_back(&sst.info.sketch);
    }
    ThinTogether(sketches);
    sketched_ = 0;
    for (const auto& [number, sst] : known_) {
      sketched_ += SampleSize(sst.info.sketch);
    }
  }
  totals_.sampled = Sampled();
  if (totals_.unsampled > 0) {
    return;
  }
  std::vector<const Sketch*> sketches;
  sketches.reserve(known_.size());
  for (const auto& places : levels_) {
    for (const Place& place : places) {
      sketches.push_back(place.sst->info.sketch.get());
    }
  }
  totals_.sampled = Combine(sketches);
}

void Surveyor::UpdateBlobs(const VersionStorageInfo& storage) {
  std::vector<Blob> come;
  auto old = blobs_.begin();
  for (const auto& meta : storage.GetBlobFiles()) {
    if (old != blobs_.end() && IsSame(old->meta, meta)) {
      ++old;
      continue;
    }
    const uint64_t number = meta->GetBlobFileNumber();
    for (; old != blobs_.end() && old->info.number < number; ++old) {
      Leave(&*old);
    }
    if (old == blobs_.end() || old->info.number != number) {
      come.push_back(Enter(meta));
      continue;
    }
    if (!IsSame(old->meta, meta)) {
      totals_.Remove(old->info);
      *old = Enter(meta);
    }
    ++old;
  }
  for (; old != blobs_.end(); ++old) {
    Leave(&*old);
  }
  blobs_.erase(std::remove_if(blobs_.begin(), blobs_.end(), [](const Blob& b) { return b.gone; }),
               blobs_.end());
  if (!come.empty()) {
    const auto stayed = static_cast<ptrdiff_t>(blobs_.size());
    std::move(come.begin(), come.end(), std::back_inserter(blobs_));
    std::inplace_merge(blobs_.begin(), blobs_.begin() + stayed, blobs_.end(),
                       [](const Blob& a, const Blob& b) { return a.info.number < b.info.number; });
  }
}

Surveyor::Blob Surveyor::Enter(const std::shared_ptr<BlobFileMetaData>& meta) {
  Blob blob;
  blob.info = BlobInfoOf(*meta);
  blob.garbage_bytes = blob.info.garbage_bytes;
  blob.meta = meta;
  totals_.Add(blob.info);
  Touch(blob.info.number);
  looked_at_++;
  return blob;
}

void Surveyor::Leave(Blob* blob) {
  totals_.Remove(blob->info);
  corrected_.erase(blob->info.number);
  blob->gone = true;
  looked_at_++;
}

void Surveyor::Touch(uint64_t blob) {
  if (touched_.size() < kMostTouched) {
    touched_.push_back(blob);
  }
}

void Surveyor::CorrectGarbage() {
  const uint64_t unsaid = unsaid_.empty() ? std::numeric_limits<uint64_t>::max() : *unsaid_.begin();
  const auto from = [this](std::vector<Blob>::iterator begin, uint64_t number) {
    return std::partition_point(begin, blobs_.end(),
                                [number](const Blob& b) { return b.info.number < number; });
  };
  if (touched_.size() == kMostTouched) {  // there may be more
    for (Blob& blob : blobs_) {
      CorrectGarbage(unsaid, &blob);
    }
  } else {
    const uint64_t upper = std::max(unsaid, unsaid_before_);
    for (auto it = from(blobs_.begin(), std::min(unsaid, unsaid_before_));
         it != blobs_.end() && it->info.number < upper; ++it) {
      CorrectGarbage(unsaid, &*it);
    }
    std::sort(touched_.begin(), touched_.end());
    auto it = blobs_.begin();
    for (const uint64_t number : touched_) {
      it = from(it, number);
      if (it != blobs_.end() && it->info.number == number) {
        CorrectGarbage(unsaid, &*it);
      }
    }
  }
  unsaid_before_ = unsaid;
  touched_ = {};
}

void Surveyor::CorrectGarbage(uint64_t unsaid, Blob* blob) {
  BlobInfo& info = blob->info;
  const auto it = said_.find(info.number);
  const uint64_t said = it == said_.end() ? 0 : it->second;
  const uint64_t unreferred = info.bytes - std::min(info.bytes, said);
  totals_.Remove(info);
  info.corrected = info.number < unsaid && blob->garbage_bytes < unreferred;
  info.garbage_bytes = info.corrected ? unreferred : blob->garbage_bytes;
  totals_.Add(info);
  if (info.corrected) {
    corrected_[info.number] = info.garbage_bytes;
  } else {
    corrected_.erase(info.number);
  }
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
