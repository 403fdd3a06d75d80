// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Gives the space of logs back whose names are gone.

#include <memory>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/open_logs.h"
#include "plugin/raw_wal_fs/open_volumes.h"
#include "plugin/raw_wal_fs/standby.h"
#include "plugin/raw_wal_fs/stub_finder.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

struct Known {
  LogId id;
  std::vector<Volume::Segment> headers;  // a segment's, and that of the file in the standby
  RawWalLogInfo info;
};

std::string NameOf(const RawWalLogInfo& log) {
  return "log " + log.id + (log.name.empty() ? "" : ", created as " + log.name);
}

// Collects what the segments' headers say of a log.
void AddSegments(const Volume& volume, Known* log) {
  Volume::Segment header;
  for (const Volume::Segment& segment : volume.segments()) {
    if (segment.owner == Volume::Owner::kLog && segment.log == log->id) {
      log->info.segments++;
      log->info.name = segment.name;
      header = segment;
    }
  }
  if (log->info.segments > 0) {
    log->headers.push_back(header);
  }
}

// Collects what the file in the standby says of a log. NotFound: there is none.
IOStatus AddFile(const Standby& standby, Known* log) {
  Standby::File file;
  IOStatus s = standby.Measure(log->id, &file);
  Volume::Segment header;
  if (s.ok() && DescribeInStandby(&standby, log->id, &header)) {
    log->info.name = log->info.name.empty() ? header.name : log->info.name;
    log->headers.push_back(header);
  }
  log->info.in_standby = s.ok();
  log->info.standby_bytes = file.bytes;
  log->info.standby_time = file.time;
  return s;
}

// Collects what is known of a log. NotFound: it is neither on the device nor in the standby, if
// there is one.
IOStatus Describe(const Volume& volume, const Standby* standby, const std::string& id, Known* log) {
  if (!LogId::Parse(id, &log->id)) {
    return IOStatus::InvalidArgument(id, "is no id of a log; 'rocktier wal ls' has them");
  }
  log->info.id = id;
  AddSegments(volume, log);
  IOStatus s = standby != nullptr ? AddFile(*standby, log) : IOStatus::NotFound();
  if (!s.IsNotFound() || log->info.segments > 0) {
    return s.IsNotFound() ? IOStatus::OK() : s;
  }
  return IOStatus::NotFound("device=" + volume.path(), "has no log " + id);
}

// Checks that no header leads to a stub of the log, nor to a place where one may be.
IOStatus CheckUnused(const Volume& volume, const Known& log, bool force, StubFinder* finder) {
  if (FindOpenLog(volume, log.id) != nullptr) {
    return IOStatus::Busy(NameOf(log.info), "is being written: close its database first");
  }
  std::string where = kSaysNothing;
  StubFinder::Answer answer =
      log.headers.empty() ? StubFinder::Answer::kUnknown : StubFinder::Answer::kMissing;
  for (const Volume::Segment& header : log.headers) {
    if (answer == StubFinder::Answer::kMissing) {
      answer = finder->Find(log.id, header, &where);
    }
  }
  if (answer == StubFinder::Answer::kMissing || force) {
    return IOStatus::OK();
  }
  return IOStatus::InvalidArgument(
      NameOf(log.info), answer == StubFinder::Answer::kFound
                            ? "is in use: its file is " + where
                            : "may be in use: " + where + ". --force would free it nevertheless");
}

// Frees the segments first: without them the file in the standby is found again, and these are not
// found without it.
IOStatus Remove(Volume* volume, const Standby* standby, LogId log) {
  IOStatus s = volume->Delete(log);
  if (!s.ok()) {
    return s.IsAborted() ? IOStatus::Busy(s.ToString()) : s;
  }
  volume->Release(log);
  return standby != nullptr ? standby->Delete(log) : s;
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
  std::shared_ptr<Standby> standby;
  if (!options.standby.empty()) {
    s = Standby::OpenForTool(FileSystem::Default(), options.standby, volume->superblock().uuid,
                             options.dry_run, &standby);
  }
  StubFinder finder(volume->superblock().uuid);
  std::vector<Known> logs(ids.size());
  for (size_t i = 0; s.ok() && i < ids.size(); i++) {
    s = Describe(*volume, standby.get(), ids[i], &logs[i]);
    if (s.ok()) {
      s = CheckUnused(*volume, logs[i], options.force, &finder);
    }
  }
  for (const Known& log : logs) {
    if (s.ok() && !options.dry_run) {
      s = Remove(volume.get(), standby.get(), log.id);
    }
    if (s.ok()) {
      removed->push_back(log.info);
    }
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
