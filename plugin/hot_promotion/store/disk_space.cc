// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/store/disk_space.h"

#include <algorithm>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

// Microseconds.
constexpr int kPoll = 1000;
constexpr int kLongest = 1000 * kPoll;

}  // namespace

uint64_t IntProperty(DB* db, const std::string& name) {
  uint64_t value = 0;
  return db->GetIntProperty(name, &value) ? value : 0;
}

uint64_t DiskSpace::Bytes(DB* db) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (IntProperty(db, DB::Properties::kObsoleteSstFilesSize) > 0 &&
      db->DisableFileDeletions().ok()) {
    db->EnableFileDeletions().PermitUncheckedError();  // what it cannot delete is counted
  }
  return IntProperty(db, DB::Properties::kTotalSstFilesSize) +
         IntProperty(db, DB::Properties::kObsoleteSstFilesSize);
}

void DiskSpace::EndIterator::operator()(Iterator* iterator) const {
  std::lock_guard<std::mutex> lock(space->mutex_);
  delete iterator;
}

DiskSpace::ScopedIterator DiskSpace::NewIterator(DB* db) {
  return ScopedIterator(db->NewIterator(ReadOptions()), EndIterator{this});
}

Status DiskSpace::DeleteFiles(DB* db, const std::vector<RangePtr>& ranges) {
  std::lock_guard<std::mutex> lock(mutex_);
  return DeleteFilesInRanges(db, db->DefaultColumnFamily(), ranges.data(), ranges.size());
}

// The compaction holds the version that it was picked from. What has left that since may be held by
// it alone, so that the wait has to end.
void DiskSpace::OnCompactionBegin(DB* db, const CompactionJobInfo& /*info*/) {
  const auto exceeds = [this, db] {
    return Bytes(db) > std::max(capacity_, IntProperty(db, DB::Properties::kLiveSstFilesSize));
  };
  for (int waited = 0; waited < kLongest && !stopped_ && exceeds(); waited += kPoll) {
    db->GetEnv()->SleepForMicroseconds(kPoll);
  }
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
