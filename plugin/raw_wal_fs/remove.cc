// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Gives the space of logs back whose names are gone.

#include <string>

#include "plugin/raw_wal_fs/open_logs.h"
#include "plugin/raw_wal_fs/open_volumes.h"
#include "plugin/raw_wal_fs/stub_finder.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

struct Known {
  LogId id;
  Volume::Segment header;  // one of its segments'
  RawWalLogInfo info;
};

std::string NameOf(const RawWalLogInfo& log) {
  return "log " + log.id + ", created as " + log.name;
}

// Collects what the segments' headers say of a log. NotFound: they name none of this id.
IOStatus Describe(const Volume& volume, const std::string& id, Known* log) {
  if (!LogId::Parse(id, &log->id)) {
    return IOStatus::InvalidArgument(id, "is no id of a log; 'rocktier wal ls' has them");
  }
  log->info.id = id;
  for (const Volume::Segment& segment : volume.segments()) {
    if (segment.owner == Volume::Owner::kLog && segment.log == log->id) {
      log->info.segments++;
      log->info.name = segment.name;
      log->header = segment;
    }
  }
  return log->info.segments > 0 ? IOStatus::OK()
                                : IOStatus::NotFound("device=" + volume.path(), "has no log " + id);
}

IOStatus CheckUnused(const Volume& volume, const Known& log, bool force, StubFinder* finder) {
  if (FindOpenLog(volume, log.id) != nullptr) {
    return IOStatus::Busy(NameOf(log.info), "is being written: close its database first");
  }
  std::string where;
  const StubFinder::Answer answer = finder->Find(log.id, log.header, &where);
  if (answer == StubFinder::Answer::kMissing || force) {
    return IOStatus::OK();
  }
  return IOStatus::InvalidArgument(
      NameOf(log.info), answer == StubFinder::Answer::kFound
                            ? "is in use: its file is " + where
                            : "may be in use: " + where + ". --force would free it nevertheless");
}

}  // namespace

Status RemoveLogs(const RawWalOptions& options, const std::vector<std::string>& ids,
                  std::vector<RawWalLogInfo>* removed) {
  removed->clear();
  std::shared_ptr<Volume> volume;
  IOStatus s = options.dry_run ? OpenForDryRun(options, &volume) : OpenForWriting(options, &volume);
  if (!s.ok()) {
    return s;
  }
  StubFinder finder(volume->superblock().uuid);
  std::vector<Known> logs(ids.size());
  for (size_t i = 0; s.ok() && i < ids.size(); i++) {
    s = Describe(*volume, ids[i], &logs[i]);
    if (s.ok()) {
      s = CheckUnused(*volume, logs[i], options.force, &finder);
    }
  }
  for (size_t i = 0; s.ok() && i < ids.size(); i++) {
    if (!options.dry_run) {
      s = volume->Delete(logs[i].id);
      s = s.IsAborted() ? IOStatus::Busy(s.ToString()) : s;
    }
    if (s.ok() && !options.dry_run) {
      volume->Release(logs[i].id);
    }
    if (s.ok()) {
      removed->push_back(logs[i].info);
    }
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
