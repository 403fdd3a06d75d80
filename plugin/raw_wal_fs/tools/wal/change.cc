// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/tools/wal/verbs.h"
#include "tools/units.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace wal {

using raw_wal_fs::RawWalAdoption;
using raw_wal_fs::RawWalDeviceInfo;
using raw_wal_fs::RawWalLogInfo;

Status Format(const Arguments& arguments, Call* call) {
  RawWalDeviceInfo made;
  const Status s = raw_wal_fs::FormatLogDevice(arguments.options, call->progress, &made);
  if (s.ok()) {
    call->json = {{"uuid", made.uuid},
                  {"block_size", made.block_size},
                  {"segment_size", made.segment_size},
                  {"segments", made.segments}};
    call->Line(std::to_string(made.segments) + " segments of " +
               BytesFor(made.segment_size, call->human) + " bytes, written in blocks of " +
               std::to_string(made.block_size));
  }
  return s;
}

Status Remove(const Arguments& arguments, Call* call) {
  std::vector<RawWalLogInfo> removed;
  const Status s = raw_wal_fs::RemoveLogs(arguments.options, arguments.logs, &removed);
  call->json["freed"] = Json::array();
  for (const RawWalLogInfo& log : removed) {
    call->json["freed"].push_back({{"id", log.id}, {"name", log.name}, {"segments", log.segments}});
    if (log.in_standby) {
      call->json["freed"].back()["standby_bytes"] = log.standby_bytes;
    }
    call->Line(
        (call->dry_run ? "would free log " : "freed log ") + log.id +
        (log.name.empty() ? "" : ", created as " + log.name) + ": " + std::to_string(log.segments) +
        " segments" +
        (log.in_standby ? ", " + std::to_string(log.standby_bytes) + " bytes in the standby" : ""));
  }
  return s;
}

Status Recover(const Arguments& arguments, Call* call) {
  RawWalDeviceInfo info;
  const Status s = raw_wal_fs::RecoverLogDevice(arguments.options, &info, call->progress);
  if (s.ok()) {
    const bool written = arguments.options.force && !call->dry_run;
    call->json = {{"uuid", info.uuid},
                  {"segment_size", info.segment_size},
                  {"block_size", info.block_size},
                  {"segments", info.segments},
                  {"segments_used", info.segments_used},
                  {"written", written}};
    call->Line("uuid " + info.uuid + ", segment_size " + BytesFor(info.segment_size, call->human) +
               ", block_size " + std::to_string(info.block_size) + ": " +
               std::to_string(info.segments_used) + " of " + std::to_string(info.segments) +
               " segments have a header");
    call->Line(written ? "superblocks written"
                       : "nothing was written; --force writes the superblocks anew");
  }
  return s;
}

Status Adopt(const Arguments& arguments, Call* call) {
  RawWalAdoption adoption;
  const Status s = raw_wal_fs::AdoptLogs(arguments.options, arguments.database, &adoption);
  const struct {
    const char* key;
    const char* what;
    const std::vector<std::string>& names;
  } kFindings[] = {
      {"foreign", "has the log of another directory", adoption.foreign},
      {"losers", "loses its log to this database", adoption.losers},
      {"missing", "has no log on the device", adoption.missing},
      {"unnamed", "stays on the device, as no file of this database names it", adoption.unnamed}};
  for (const auto& finding : kFindings) {
    call->json[finding.key] = finding.names;
    for (const std::string& name : finding.names) {
      call->Line(std::string(finding.what) + ": " + name);
    }
  }
  if (!s.ok()) {
    return s;
  }
  const size_t logs = adoption.foreign.size();
  const bool done = arguments.options.force && !call->dry_run;
  call->json["adopted"] = done ? logs : 0;
  call->problems = !done && logs > 0;
  call->Line(call->problems
                 ? "nothing was changed; --force adopts " + std::to_string(logs) + " logs"
                 : std::to_string(logs) + " logs adopted");
  return s;
}

Status Export(const Arguments& arguments, Call* call) {
  uint64_t logs = 0;
  const Status s =
      raw_wal_fs::ExportLogs(arguments.options, arguments.database, &logs, call->progress);
  if (s.ok()) {
    call->json["logs"] = logs;
    call->Line(std::to_string(logs) +
               (call->dry_run ? " logs would be plain files" : " logs are plain files now"));
  }
  return s;
}

Status Import(const Arguments& arguments, Call* call) {
  uint64_t logs = 0;
  const Status s =
      raw_wal_fs::ImportLogs(arguments.options, arguments.database, &logs, call->progress);
  if (s.ok()) {
    call->json["logs"] = logs;
    call->Line(std::to_string(logs) +
               (call->dry_run ? " logs would be on the device" : " logs are on the device now"));
  }
  return s;
}

}  // namespace wal
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
