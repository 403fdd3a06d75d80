// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <algorithm>
#include <ctime>

#include "plugin/raw_wal_fs/tools/wal/verbs.h"
#include "tools/output.h"
#include "tools/units.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace wal {

using raw_wal_fs::RawWalDeviceInfo;
using raw_wal_fs::RawWalFrame;
using raw_wal_fs::RawWalLogInfo;

namespace {

// Calls print(info) if the device can be looked at.
template <typename Print>
Status Look(const Arguments& arguments, bool scan, Call* call, const Print& print) {
  RawWalDeviceInfo info;
  const Status s = raw_wal_fs::InspectLogDevice(arguments.options.device, scan, &info,
                                                call->progress, arguments.options.standby);
  return s.ok() ? print(info) : s;
}

std::string Note(bool shown, const std::string& text) { return shown ? "  " + text : ""; }

std::string NotesOn(const RawWalLogInfo& log) {
  const bool renamed = !log.file.empty() && log.file != log.name;
  return Note(renamed, "now " + log.file) + Note(log.missing, "no file") +
         Note(!log.unknown.empty(), "not known: " + log.unknown) +
         Note(!log.problem.empty(), log.problem);
}

// Returns whether the log has nothing but a file in the standby, as far as is known.
bool IsLeft(const RawWalLogInfo& log) {
  return log.in_standby && log.segments == 0 && log.file.empty();
}

// Returns the seconds since the log's file in the standby was written.
uint64_t AgeOf(const RawWalLogInfo& log) {
  const auto now = static_cast<uint64_t>(time(nullptr));
  return now - std::min(now, log.standby_time);
}

// "3 days"
std::string InWords(uint64_t seconds) {
  constexpr uint64_t kDay = 86400;
  constexpr uint64_t kHour = 3600;
  constexpr uint64_t kMinute = 60;
  return seconds >= 2 * kDay      ? std::to_string(seconds / kDay) + " days"
         : seconds >= 2 * kHour   ? std::to_string(seconds / kHour) + " hours"
         : seconds >= 2 * kMinute ? std::to_string(seconds / kMinute) + " minutes"
                                  : std::to_string(seconds) + " seconds";
}

std::string NoteOnStandby(const RawWalLogInfo& log, const Call& call) {
  return Note(log.in_standby, "standby: " + BytesFor(log.standby_bytes, call.human) +
                                  " bytes, written " + InWords(AgeOf(log)) + " ago");
}

// Prints what is left in the standby.
void PrintLeft(const RawWalDeviceInfo& info, Call* call) {
  Json left = Json::array();
  for (const RawWalLogInfo& log : info.logs) {
    if (IsLeft(log)) {
      left.push_back({{"log", log.id},
                      {"name", log.name},
                      {"bytes", log.standby_bytes},
                      {"age", AgeOf(log)},
                      {"missing", log.missing},
                      {"unknown", log.unknown}});
      call->Line("left in the standby: log " + log.id +
                 (log.name.empty() ? "" : ", created as " + log.name) + NoteOnStandby(log, *call) +
                 NotesOn(log));
    }
  }
  call->json["left_in_standby"] = std::move(left);
}

// Prints how much is in the standby.
void PrintStandby(const RawWalDeviceInfo& info, Call* call) {
  uint64_t files = 0;
  uint64_t bytes = 0;
  for (const RawWalLogInfo& log : info.logs) {
    files += log.in_standby ? 1 : 0;
    bytes += log.standby_bytes;
  }
  call->json["standby_files"] = files;
  call->json["standby_bytes"] = bytes;
  call->Facts("standby files " + std::to_string(files) + "\n  bytes       " +
              std::to_string(bytes) + "\n");
  PrintLeft(info, call);
}

// A device may have millions of frames: of these two, one is made.
Json FramesOf(const RawWalLogInfo& log) {
  Json frames = Json::array();
  for (const RawWalFrame& frame : log.frames) {
    frames.push_back({{"position", frame.position},
                      {"offset", frame.offset},
                      {"length", frame.length},
                      {"durable", frame.durable}});
  }
  return frames;
}

void PrintFramesOf(const RawWalLogInfo& log, Call* call) {
  Table table({">position", ">offset", ">length", ">durable"});
  for (const RawWalFrame& frame : log.frames) {
    table.Add({std::to_string(frame.position), std::to_string(frame.offset),
               std::to_string(frame.length), std::to_string(frame.durable)});
  }
  table.PrintTo(call);
}

}  // namespace

Status PrintUsage(const Arguments& arguments, Call* call) {
  return Look(arguments, /*scan=*/false, call, [&](const RawWalDeviceInfo& info) {
    const size_t damaged = info.segments_damaged.size();
    const auto logs = std::count_if(info.logs.begin(), info.logs.end(),
                                    [](const RawWalLogInfo& log) { return log.segments > 0; });
    call->json = {{"uuid", info.uuid},
                  {"block_size", info.block_size},
                  {"segment_size", info.segment_size},
                  {"segments", info.segments},
                  {"segments_used", info.segments_used},
                  {"segments_free", info.segments_free},
                  {"segments_damaged", damaged},
                  {"epoch", info.epoch},
                  {"logs", logs}};
    call->Facts(
        "uuid          " + info.uuid + "\nblock_size    " + std::to_string(info.block_size) +
        "\nsegment_size  " + std::to_string(info.segment_size) + "\nsegments      " +
        std::to_string(info.segments) + "\n  used        " + std::to_string(info.segments_used) +
        "\n  free        " + std::to_string(info.segments_free) + "\n  damaged     " +
        std::to_string(damaged) + "\nlogs          " + std::to_string(logs) + "\nopened        " +
        std::to_string(info.epoch) + " times for writing\n");
    if (!arguments.options.standby.empty()) {
      PrintStandby(info, call);
    }
    return Status::OK();
  });
}

Status PrintLogs(const Arguments& arguments, Call* call) {
  return Look(arguments, /*scan=*/true, call, [call](const RawWalDeviceInfo& info) {
    call->json = Json::array();
    Table table({"id", ">segments", ">bytes", ">durable", "created as"});
    for (const RawWalLogInfo& log : info.logs) {
      call->json.push_back({{"id", log.id},
                            {"segments", log.segments},
                            {"bytes", log.bytes},
                            {"durable", log.durable},
                            {"name", log.name},
                            {"file", log.file},
                            {"missing", log.missing},
                            {"unknown", log.unknown},
                            {"problem", log.problem}});
      if (log.in_standby) {
        call->json.back()["standby_bytes"] = log.standby_bytes;
        call->json.back()["standby_age"] = AgeOf(log);
      }
      table.Add({log.id, std::to_string(log.segments), BytesFor(log.bytes, call->human),
                 BytesFor(log.durable, call->human),
                 (log.name.empty() ? "-" : log.name) + NoteOnStandby(log, *call) + NotesOn(log)});
    }
    table.PrintTo(call);
    return Status::OK();
  });
}

Status PrintFrames(const Arguments& arguments, Call* call) {
  return Look(arguments, /*scan=*/true, call, [&](const RawWalDeviceInfo& info) {
    const std::vector<std::string>& only = arguments.logs;
    for (const std::string& id : only) {
      if (std::none_of(info.logs.begin(), info.logs.end(),
                       [&id](const RawWalLogInfo& log) { return log.id == id; })) {
        return Status::NotFound("device=" + arguments.options.device,
                                "has no log " + id + "; 'rocktier wal ls' has them");
      }
    }
    call->json["logs"] = Json::array();
    for (const RawWalLogInfo& log : info.logs) {
      if (!only.empty() && std::find(only.begin(), only.end(), log.id) == only.end()) {
        continue;
      }
      if (call->as_json) {
        call->json["logs"].push_back(
            {{"id", log.id}, {"name", log.name}, {"frames", FramesOf(log)}});
      } else {
        call->Line("log " + log.id + ", created as " + log.name);
        PrintFramesOf(log, call);
      }
    }
    return Status::OK();
  });
}

Status Check(const Arguments& arguments, Call* call) {
  return Look(arguments, /*scan=*/true, call, [&](const RawWalDeviceInfo& info) {
    uint64_t frames = 0;
    Json list = Json::array();
    for (const RawWalLogInfo& log : info.logs) {
      frames += log.frames.size();
      if (!log.problem.empty()) {
        list.push_back({{"log", log.id}, {"name", log.name}, {"problem", log.problem}});
        call->Line("log " + log.id + (log.name.empty() ? "" : " (" + log.name + ")") + ": " +
                   log.problem);
      }
    }
    for (const uint64_t segment : info.segments_damaged) {
      list.push_back({{"segment", segment}, {"problem", "its header is damaged"}});
      call->Line("segment " + std::to_string(segment) + ": its header is damaged");
    }
    call->json = {{"logs", info.logs.size()}, {"frames", frames}, {"problems", list.size()}};
    if (!arguments.options.standby.empty()) {
      PrintLeft(info, call);
    }
    call->Line(std::to_string(info.logs.size()) + " logs, " + std::to_string(frames) + " frames, " +
               std::to_string(list.size()) + " problems");
    call->problems = !list.empty();
    call->json["list"] = std::move(list);
    return Status::OK();
  });
}

}  // namespace wal
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
