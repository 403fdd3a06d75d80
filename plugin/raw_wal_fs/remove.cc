// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Gives the space of logs back whose names are gone.

#include <string>

#include "plugin/raw_wal_fs/finder.h"
#include "plugin/raw_wal_fs/layout.h"
#include "plugin/raw_wal_fs/log.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

std::string NameOf(const RawWalLogInfo& log) {
  return "log " + std::to_string(log.id >> 32) + ":" + std::to_string(log.id & UINT32_MAX) +
         ", created as " + log.name + ",";
}

// What the segments' headers say of a log. NotFound: they name none of this id.
IOStatus Describe(const Volume& volume, LogId id, RawWalLogInfo* log) {
  log->id = id;
  for (const Volume::Segment& segment : volume.segments()) {
    if (segment.owner == Volume::Owner::kLog && segment.log == id) {
      log->segments++;
      log->name = segment.name;
    }
  }
  return log->segments > 0 ? IOStatus::OK()
                           : IOStatus::NotFound("device=" + volume.path(),
                                                "has no log " + std::to_string(id >> 32) + ":" +
                                                    std::to_string(id & UINT32_MAX));
}

IOStatus CheckUnused(const Volume& volume, const RawWalLogInfo& log, bool force, Finder* finder) {
  if (volume.FindLog(log.id) != nullptr) {
    return IOStatus::Busy(NameOf(log), "is being written");
  }
  std::string where;
  const Finder::Answer answer = finder->Find(log.id, log.name, &where);
  if (answer == Finder::Answer::kMissing || force) {
    return IOStatus::OK();
  }
  return IOStatus::InvalidArgument(
      NameOf(log), answer == Finder::Answer::kFound
                       ? "is in use: its file is " + where
                       : "may be in use: " + where + ". force would delete it nevertheless");
}

}  // namespace

Status RemoveLogs(const RawWalOptions& options, const std::vector<uint64_t>& ids,
                  std::vector<RawWalLogInfo>* removed) {
  removed->clear();
  std::shared_ptr<Volume> volume;
  IOStatus s = OpenForWriting(options, &volume);
  if (!s.ok()) {
    return s;
  }
  Finder finder(volume->superblock().uuid);
  std::vector<RawWalLogInfo> logs(ids.size());
  for (size_t i = 0; s.ok() && i < ids.size(); i++) {
    s = Describe(*volume, ids[i], &logs[i]);
    if (s.ok()) {
      s = CheckUnused(*volume, logs[i], options.force, &finder);
    }
  }
  for (size_t i = 0; s.ok() && i < ids.size(); i++) {
    s = volume->Delete(ids[i]);
    if (s.ok()) {
      volume->Release(ids[i]);
      removed->push_back(logs[i]);
    }
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
