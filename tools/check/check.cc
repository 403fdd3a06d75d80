// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier check: a database's options against its machine. It opens neither the database nor what
// it stands on.

#include <memory>

#include "tools/check/reading.h"
#include "tools/check/report.h"
#include "tools/command.h"
#include "tools/preset/machine.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using check::Report;
using check::Subject;

// How fast SSTs in memory were rebuilt, at least; and bytes of logs for each byte of a tier.
constexpr double kRecovered = 220e6;
constexpr double kLogsOfTier = 1.5;

struct Arguments {
  std::string database;
  std::string options;
  uint64_t memory = 0;
};

Status Read(const Arguments& arguments, std::string* path, Subject* subject, Report* report) {
  std::string newest;
  Status s = check::NewestOptionsFile(arguments.database, &newest);
  // Without a database yet, the options alone are looked at.
  *path = arguments.options.empty() ? newest : arguments.options;
  if (!s.ok() && arguments.options.empty()) {
    return s;
  }
  subject->database = arguments.database;
  s = check::ReadOptionsText(*path, &subject->options);
  if (s.ok()) {
    const bool is_own = arguments.options.empty();
    const std::string file_system = check::ReadAsRocksDB(*path, subject->options, is_own, report);
    subject->stack = check::StackOf(file_system, &report->refused);
  }
  subject->memory = arguments.memory;
  if (s.ok() && arguments.memory == 0) {
    std::string from;
    s = preset::AvailableMemory(/*root=*/"", &subject->memory, &from);
  }
  return s;
}

// Seconds that an opening may take after memory was lost.
uint64_t RecoverySeconds(const check::Stack& stack) {
  double bytes = 0;
  for (const check::Tier& tier : stack.tiers) {
    bytes += tier.in_memory ? static_cast<double>(tier.budget) * kLogsOfTier : 0;
  }
  return static_cast<uint64_t>(bytes / kRecovered);
}

void Answer(const std::string& kind, const std::vector<std::string>& findings, Call* call) {
  for (const std::string& finding : findings) {
    call->Line(kind + ": " + finding);
  }
  call->json[kind] = findings;
}

Status Run(const Arguments& arguments, Call* call) {
  Subject subject;
  std::string path;
  Report report;
  const Status s = Read(arguments, &path, &subject, &report);
  if (!s.ok()) {
    return s;
  }
  CheckRefusals(subject, &report);
  CheckRoom(subject, &report);
  CheckDevices(subject, &report);
  if (arguments.options.empty()) {
    report.notes.push_back(
        "RocksDB keeps neither env nor block_cache nor blob_cache in its own OPTIONS files: give "
        "yours as --options");
  }
  call->Line("options: " + path);
  call->json["options"] = path;
  Answer("refused", report.refused, call);
  Answer("room", report.room, call);
  Answer("note", report.notes, call);
  if (subject.stack.HasMemory()) {
    call->json["recovery_seconds"] = RecoverySeconds(subject.stack);
    call->Line("recovery_seconds: " + std::to_string(RecoverySeconds(subject.stack)));
  }
  call->problems = !report.refused.empty() || !report.room.empty();
  return s;
}

}  // namespace

Command CheckCommand() {
  const auto arguments = std::make_shared<Arguments>();
  Command command("check", "a database's options against its machine");
  command.Add(
      Verb("", "Says what would be refused, and what cannot hold.")
          .Help("It reads an OPTIONS file, and opens neither the database nor what it stands on. "
                "recovery_seconds is the most that an opening takes after memory was lost.")
          .Positional("DB", "directory of the database", &arguments->database)
          .Text("options", "FILE", "OPTIONS file; default: the newest one in DB",
                &arguments->options)
          .Bytes("memory", "for RocksDB; default: what is available, or a cgroup's limit",
                 &arguments->memory)
          .MayBeOpen("yes")
          .Problems("if something would be refused or cannot hold")
          .Run([arguments](Call* call) { return Run(*arguments, call); }));
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
