// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier hot: the command of hot_promotion, over the functions for tools in hot_promotion.h.

#include <cstdio>
#include <memory>
#include <string>

#include "plugin/hot_promotion/hot_promotion.h"
#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using hot_promotion::HotStoreInfo;

struct Arguments {
  std::string directory;
  bool force = false;
};

Status Look(const std::string& directory, bool verify, Call* call) {
  HotStoreInfo info;
  const Status s = verify ? hot_promotion::VerifyHotStore(directory, &info, call->progress)
                          : hot_promotion::InspectHotStore(directory, &info);
  if (s.ok()) {
    call->json = Json::parse(info.ToJson());
    call->Facts(info.ToString());
    call->problems = verify && info.different + info.unknown > 0;
  }
  return s;
}

Status Dump(const std::string& directory, Call* call) {
  return hot_promotion::DumpHotStore(
      directory, [call](const std::string& file, const Slice& key, const Slice& value) {
        const std::string hex = key.ToString(/*hex=*/true);
        call->Print(file + " " + hex + " " + std::to_string(value.size()),
                    {{"file", file}, {"key", hex}, {"value_bytes", value.size()}});
        return ferror(stdout) == 0;
      });
}

Status Clear(const std::string& directory, Call* call) {
  const Status s = hot_promotion::ClearHotStore(directory, call->dry_run);
  if (s.ok()) {
    call->json["cleared"] = !call->dry_run;
    call->Line(directory + (call->dry_run ? " would be cleared" : " is cleared"));
  }
  return s;
}

Verb Of(const std::string& name, const std::string& summary, Arguments* arguments) {
  return Verb(name, summary)
      .Positional("DIR", "the option path of the table factory", &arguments->directory);
}

}  // namespace

Command HotCommand() {
  const auto arguments = std::make_shared<Arguments>();
  Command command("hot", "files of hot_promotion");
  command.Help("Looks at the directory of hot_promotion: copies of hot records.");
  command.Help(
      "A directory in use may be looked at; records that are removed meanwhile may then be an "
      "error.");
  command.Add(Of("stats", "Counts records and bytes.", arguments.get())
                  .MayBeOpen("yes")
                  .PrintsBytes()
                  .Run([arguments](Call* call) {
                    return Look(arguments->directory, /*verify=*/false, call);
                  }));
  command.Add(
      Of("verify", "Compares each record with the SST that it is a copy of.", arguments.get())
          .Help("Counts records and bytes, too.")
          .MayBeOpen("yes")
          .PrintsBytes()
          .Problems("if a record differs from its SST or an entry is unknown")
          .Run([arguments](Call* call) {
            return Look(arguments->directory, /*verify=*/true, call);
          }));
  command.Add(Of("dump", "Prints each record: SST, key, bytes of the value.", arguments.get())
                  .MayBeOpen("yes")
                  .PrintsLines("record")
                  .Run([arguments](Call* call) { return Dump(arguments->directory, call); }));
  command.Add(Of("clear", "Removes the copies and what is known of accesses.", arguments.get())
                  .Help("Nothing is lost but time.")
                  .Switch("force", "required, but for --dry-run", &arguments->force)
                  .MayBeOpen("no")
                  .Changes()
                  .Check([arguments](const Call& call) {
                    return arguments->force || call.dry_run
                               ? ""
                               : "--force is required: all copies are deleted";
                  })
                  .Run([arguments](Call* call) { return Clear(arguments->directory, call); }));
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
