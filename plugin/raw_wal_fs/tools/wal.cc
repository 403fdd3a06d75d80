// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier wal: the command of raw_wal_fs, over the functions for tools in raw_wal_fs.h.

#include <cstdint>
#include <memory>
#include <string>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "plugin/raw_wal_fs/tools/wal/verbs.h"
#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using wal::Arguments;

constexpr char kClosed[] = "no";
constexpr char kStandbyHelp[] = "the directory of standby=, if the database has one";
constexpr char kBesideHelp[] = "the directory of standby=, for what is left in it, too";

Verb OfDevice(const std::string& name, const std::string& summary, Arguments* arguments) {
  return Verb(name, summary)
      .Positional("DEVICE", "a block device or a file", &arguments->options.device);
}

Verb OfDatabase(const std::string& name, const std::string& summary, Arguments* arguments) {
  return OfDevice(name, summary, arguments)
      .Positional("DATABASE", "the folder of the database, also if it has a wal_dir",
                  &arguments->database)
      .MayBeOpen(kClosed)
      .Changes();
}

using Function = Status (*)(const Arguments&, Call*);

std::function<Status(Call*)> With(const std::shared_ptr<Arguments>& arguments, Function function) {
  return [arguments, function](Call* call) {
    arguments->options.dry_run = call->dry_run;
    return function(*arguments, call);
  };
}

Verb Format(const std::shared_ptr<Arguments>& arguments) {
  return OfDevice("format", "Makes an empty log device.", arguments.get())
      .Help(
          "Creates a file of --size bytes if DEVICE does not exist. Refuses a device that holds "
          "anything unless --force, which destroys it.")
      .Bytes("size", "bytes of the file that is created", &arguments->options.size)
      .Bytes("segment-size", "bytes of a segment; a power of two from 64K to 1G; 4M by default",
             &arguments->options.segment_size)
      .Bytes("block-size", "bytes of the unit of a write, 512 or 4096; by default the device's",
             &arguments->block_size)
      .Switch("force", "destroy what the device holds", &arguments->options.force)
      .MayBeOpen(kClosed)
      .Changes()
      .PrintsBytes()
      .Check([arguments](const Call&) {
        const bool fits = arguments->block_size <= UINT32_MAX;
        arguments->options.block_size = static_cast<uint32_t>(arguments->block_size);
        return fits ? "" : "no such value: " + std::to_string(arguments->block_size);
      })
      .Run(With(arguments, wal::Format));
}

Verb Remove(const std::shared_ptr<Arguments>& arguments) {
  return OfDevice("rm", "Frees the space of logs that nobody knows any more.", arguments.get())
      .Help(
          "Refuses a log that has a file, or might have, as where its directory is missing, "
          "unless --force: the database loses it then. A database that was moved, or is not "
          "mounted, still needs its logs. With --standby deletes what is there of the logs, too.")
      .Texts("log", "ID", "the log; \"wal ls\" prints the ids", /*required=*/true, &arguments->logs)
      .Text("standby", "DIR", kBesideHelp, &arguments->options.standby)
      .Switch("force", "free logs that have files, too", &arguments->options.force)
      .MayBeOpen(kClosed)
      .Changes()
      .Run(With(arguments, wal::Remove));
}

Verb Recover(const std::shared_ptr<Arguments>& arguments) {
  return OfDevice("recover", "Looks for logs on a device whose first MiB is damaged.",
                  arguments.get())
      .Help("Says what there is. --force writes what was there anew, and nothing else.")
      .Switch("force", "write the superblocks anew", &arguments->options.force)
      .MayBeOpen(kClosed)
      .Changes()
      .PrintsBytes()
      .Run(With(arguments, wal::Recover));
}

Verb Adopt(const std::shared_ptr<Arguments>& arguments) {
  return OfDatabase("adopt", "Makes a database the owner of its logs.", arguments.get())
      .Help(
          "For a database that is not opened because it was copied, moved to another file "
          "system, or put back from a copy. Says what would be lost; --force does it. A newer "
          "copy of the database, wherever it is, loses these logs then.")
      .Text("standby", "DIR", kStandbyHelp, &arguments->options.standby)
      .Switch("force", "make it the owner", &arguments->options.force)
      .Problems("if there is something to adopt")
      .Run(With(arguments, wal::Adopt));
}

Verb Export(const std::shared_ptr<Arguments>& arguments) {
  return OfDatabase("export", "Turns the logs of a database into plain files.", arguments.get())
      .Help(
          "Stock RocksDB reads these. The database must be closed. Can be run again after an "
          "interruption. With --standby, --force and nothing at DEVICE takes what the standby has.")
      .Text("standby", "DIR", kStandbyHelp, &arguments->options.standby)
      .Switch("force", "take logs of which a part is missing, too", &arguments->options.force)
      .Run(With(arguments, wal::Export));
}

}  // namespace

Command WalCommand() {
  const auto arguments = std::make_shared<Arguments>();
  Command command("wal", "files of raw_wal_fs");
  command.Help("Makes and looks at log devices of raw_wal_fs, and moves logs onto them and off.");
  command.Add(Format(arguments));
  command.Add(OfDevice("df", "Prints how much of the device is used.", arguments.get())
                  .Text("standby", "DIR", kBesideHelp, &arguments->options.standby)
                  .MayBeOpen("yes")
                  .PrintsBytes()
                  .Run(With(arguments, wal::PrintUsage)));
  command.Add(OfDevice("ls", "Prints the logs on the device.", arguments.get())
                  .Help("\"no file\" if the directory in which a log was created is there and, "
                        "with its archive, holds no file of it.")
                  .Text("standby", "DIR", kBesideHelp, &arguments->options.standby)
                  .MayBeOpen("yes")
                  .PrintsBytes()
                  .PrintsList()
                  .Run(With(arguments, wal::PrintLogs)));
  command.Add(OfDevice("dump", "Prints the frames of the logs, or of those given.", arguments.get())
                  .Texts("log", "ID", "only this log", /*required=*/false, &arguments->logs)
                  .MayBeOpen("yes")
                  .Run(With(arguments, wal::PrintFrames)));
  command.Add(Remove(arguments));
  command.Add(OfDevice("check", "Reads every log and verifies every frame.", arguments.get())
                  .Text("standby", "DIR", kBesideHelp, &arguments->options.standby)
                  .MayBeOpen("yes")
                  .Problems("if damage was found")
                  .Run(With(arguments, wal::Check)));
  command.Add(Recover(arguments));
  command.Add(Adopt(arguments));
  command.Add(Export(arguments));
  command.Add(
      OfDatabase("import", "Brings the plain logs of a database onto the device.", arguments.get())
          .Run(With(arguments, wal::Import)));
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
