// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#include "plugin/tiered_env/tools/tier/print.h"
#include "plugin/tiered_env/tools/tier/verbs.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace tier {

using tiered_env::TieredCheck;
using tiered_env::TieredDirectoryInfo;
using tiered_env::TieredLogInfo;
using tiered_env::TieredProblem;

namespace {

const char* StateOf(const TieredProblem& problem) {
  return problem.repaired ? "repaired" : problem.harmless ? "harmless" : "problem";
}

Status Inspect(FileSystem* fs, const Arguments& arguments, Call* call,
               void (*print)(const TieredDirectoryInfo& info, Call* call)) {
  TieredDirectoryInfo info;
  const Status s = InspectTiers(fs, arguments.directory, &info);
  if (s.ok()) {
    print(info, call);
  }
  return s;
}

}  // namespace

Status ListFiles(FileSystem* fs, const Arguments& arguments, Call* call) {
  return Inspect(fs, arguments, call, PrintFiles);
}

Status ListTiers(FileSystem* fs, const Arguments& arguments, Call* call) {
  return Inspect(fs, arguments, call, PrintTiers);
}

Status ListMoves(FileSystem* fs, const Arguments& arguments, Call* call) {
  return Inspect(fs, arguments, call, PrintMoves);
}

Status ListLogs(FileSystem* fs, const Arguments& arguments, Call* call) {
  std::vector<TieredLogInfo> logs;
  const Status s = tiered_env::InspectLogs(fs, arguments.directory, &logs);
  if (s.ok()) {
    PrintLogs(logs, call);
  }
  return s;
}

Status Check(FileSystem* fs, const Arguments& arguments, Call* call) {
  TieredCheck check;
  const bool repair = arguments.repair && !call->dry_run;
  const Status s = CheckTiers(fs, arguments.directory, repair, &check, arguments.rebuild);
  if (!s.ok()) {
    return s;
  }
  uint64_t left = 0;
  Json list = Json::array();
  for (const TieredProblem& problem : check.problems) {
    left += problem.repaired || problem.harmless ? 0 : 1;
    const bool would_be = arguments.repair && call->dry_run && problem.repairable;
    call->Line(std::string(StateOf(problem)) + ": " + problem.path + " " + problem.what +
               (would_be ? "; --repair would try to mend it" : ""));
    list.push_back({{"state", StateOf(problem)},
                    {"path", problem.path},
                    {"what", problem.what},
                    {"repairable", problem.repairable}});
  }
  call->problems = left > 0;
  call->json = {{"files", check.files},
                {"bytes", check.bytes},
                {"rebuilt", check.rebuilt},
                {"open_elsewhere", check.open_elsewhere},
                {"problems", left}};
  call->json["list"] = std::move(list);
  if (arguments.rebuild) {
    call->Line(std::to_string(check.rebuilt) + " SSTs rebuilt on trial");
  }
  call->Line(std::to_string(check.files) + " files, " + std::to_string(check.bytes) + " bytes, " +
             std::to_string(left) + " problems" +
             (check.open_elsewhere
                  ? "; the database is open, so what is left over was not looked for"
                  : ""));
  return s;
}

}  // namespace tier
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
