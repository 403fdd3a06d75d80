// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of Surveyor that reads SSTs: in pieces, and again what could not be read.

#include "db/version_set.h"
#include "plugin/blob_hybrid/gc_monitor.h"
#include "plugin/blob_hybrid/ranges.h"
#include "plugin/blob_hybrid/survey.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// See Surveyor::Reading and Hurry().
constexpr size_t kPiece = 16;
constexpr uint64_t kPieceMicros = 50 * 1000;
constexpr size_t kLastPiece = 4;

}  // namespace

void Surveyor::BeginPiece() {
  read_ = 0;
  piece_end_ = SteadyMicros() + kPieceMicros;
}

bool Surveyor::MayRead() {
  const bool may = reading_ == Reading::kWhole ||
                   (hurries_ ? read_ < kLastPiece : read_ < kPiece || SteadyMicros() < piece_end_);
  read_ += may ? 1 : 0;
  return may;
}

Status Surveyor::Learn(ColumnFamilyData* family, Version* version, const Changes& changes) {
  for (const auto& [level, file] : changes.come) {
    if (known_.count(file->fd.GetNumber()) > 0) {
      continue;
    }
    if (!MayRead()) {
      return Status::Incomplete();
    }
    Read(*version, *file);
  }
  // Counts what they cover when all are known.
  for (const auto& [level, file] : changes.come) {
    KnownSst* sst = &known_.at(file->fd.GetNumber());
    if (!sst->covers) {
      continue;
    }
    if (!MayRead()) {
      return Status::Incomplete();
    }
    Cover(family, version, *file, level, sst);
  }
  return Status::OK();
}

void Surveyor::Read(const Version& version, const FileMetaData& file) {
  const uint64_t number = file.fd.GetNumber();
  KnownSst sst;
  const Status s = ReadSst(version, file, &sst);
  if (!s.ok()) {
    sst = UnreadSst(file);
    unread_.Fail(number, SteadyMicros());
    errors_.push_back({number, s});
  }
  known_.emplace(number, std::move(sst));
}

void Surveyor::Cover(ColumnFamilyData* family, Version* version, const FileMetaData& file,
                     int level, KnownSst* sst) {
  const auto entries_of = [this](const FileMetaData& other) {
    return known_.at(other.fd.GetNumber()).info.entries;
  };
  const Status s = CountCovered(family, version, file, level, entries_of, &sst->info.covered);
  sst->covers = false;
  if (!s.ok()) {
    errors_.push_back({sst->info.number, s});
  }
}

bool Surveyor::ReadAgain(ColumnFamilyData* family, Version* version) {
  bool any = false;
  for (const uint64_t number : unread_.Due(SteadyMicros())) {
    const FileMetaData* const file = version->storage_info()->GetFileMetaDataByNumber(number);
    if (file == nullptr) {
      Forget(number);  // it was read for a version that was not read in full
      continue;
    }
    if (!MayRead()) {
      return any;
    }
    KnownSst* const sst = &known_.at(number);
    KnownSst read;
    const Status s = ReadSst(*version, *file, &read);
    if (!s.ok()) {
      unread_.Fail(number, SteadyMicros());
      errors_.push_back({number, s});
      continue;
    }
    unread_.Forget(number);
    read.info.level = sst->info.level;
    if (read.covers) {
      Cover(family, version, *file, read.info.level, &read);
    }
    Count(false, sst);
    *sst = std::move(read);
    Count(true, sst);
    any = true;
  }
  return any;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
