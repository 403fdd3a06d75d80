// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier tier: the command of tiered_env, over the functions for tools in tiered_env.h.

#include <memory>
#include <string>

#include "plugin/tiered_env/tools/tier/verbs.h"
#include "rocksdb/convenience.h"
#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using tier::Arguments;
using Shared = std::shared_ptr<Arguments>;
using Function = Status (*)(FileSystem*, const Arguments&, Call*);

constexpr char kAgainHelp[] =
    "The database must be closed. Can be run again after an interruption.";

Status OpenFs(const std::string& uri, std::shared_ptr<FileSystem>* fs) {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  return FileSystem::CreateFromString(config, uri, fs);
}

Verb For(const std::string& name, const std::string& summary, const Shared& arguments,
         Function function) {
  return Verb(name, summary)
      .Positional("URI", "the FileSystem as the database has it, in quotes", &arguments->uri)
      .Positional("DIRECTORY", "the database's", &arguments->directory)
      .Run([arguments, function](Call* call) {
        std::shared_ptr<FileSystem> fs;
        const Status s = OpenFs(arguments->uri, &fs);
        return s.ok() ? function(fs.get(), *arguments, call) : s;
      });
}

Verb Look(const std::string& name, const std::string& summary, const Shared& arguments,
          Function function) {
  return For(name, summary, arguments, function).MayBeOpen("yes").PrintsBytes().PrintsList();
}

Verb Change(const std::string& name, const std::string& summary, const Shared& arguments,
            Function function) {
  return For(name, summary, arguments, function).MayBeOpen("no").Changes();
}

Verb Check(const Shared& arguments) {
  return For("check", "Finds what is missing, damaged or left over.", arguments, tier::Check)
      .Help(
          "Verifies that each file that the MANIFEST needs is there with its size, that stubs and "
          "owners of folders are sound, and tells what nothing names. Does not read the files "
          "(that is \"sst_dump --command=verify\"). Changes nothing without --repair.")
      .Help(
          "--repair brings back stubs that were lost, and puts aside what nothing names, in "
          "lost/ of the folder in the tier.")
      .Help(
          "--rebuild also rebuilds each SST of tiers of kind memory from its recipe, on trial: "
          "it needs as much memory as recovery would.")
      .Switch("repair", "mend what can be; the database must be closed", &arguments->repair)
      .Switch("rebuild", "try recipes; the database must be closed", &arguments->rebuild)
      .MayBeOpen("without flags")
      .Problems("if problems were found and are not repaired")
      .Changes();
}

Verb Recover(const Shared& arguments) {
  return Change("recover", "Rebuilds the SSTs that tiers of kind memory have lost.", arguments,
                tier::Recover)
      .Help(
          "Opening the database for writing does that, too. Read-only and secondary instances "
          "need it before.")
      .Help(
          "--salvage, if that is not possible: brings all to other tiers that is there or can be "
          "rebuilt, and gives up the rest, which it lists, so that RocksDB can repair or destroy "
          "the database. Nothing is given up while a log is missing that may be on a disk that is "
          "not mounted; --lost says that there is no such disk any more.")
      .Help("--dry-run rebuilds on trial what is lost: it needs as much memory as recovery.")
      .Help(kAgainHelp)
      .Switch("salvage", "give up what cannot be rebuilt", &arguments->salvage)
      .Texts("lost", "DIRECTORY",
             "with --salvage: the disk of this wal_dir is gone for good, so give up what needs its "
             "logs",
             /*required=*/false, &arguments->lost)
      .Problems("if SSTs are given up");
}

}  // namespace

Command TierCommand() {
  const auto arguments = std::make_shared<Arguments>();
  Command command("tier", "files of tiered_env");
  command.Help(
      "Looks at databases whose files are in tiers of tiered_env, repairs them, and moves their "
      "files.");
  command.Help(
      "URI is the FileSystem as the database has it, in quotes: "
      "'id=TieredFileSystem;tiers={fast={path=/ssd}};placement={0..1=fast}'");
  command.Add(Look("ls", "Prints the SSTs and blob files, and what else is in tiers.", arguments,
                   tier::ListFiles)
                  .Help("Level, size, tier, temperature; and the tier where a file belongs, if "
                        "that is another one."));
  command.Add(
      Look("df", "Prints how much the database has in each tier.", arguments, tier::ListTiers)
          .Help("\"stranded\" belongs elsewhere. Column families that have a budget in a tier "
                "follow, with what they have there.")
          .Help("If there are tiers of kind memory, prints "
                "their figures, too. Those that are counted are of the process that has "
                "the database open, or had it last."));
  command.Add(For("plan", "Prints which files the mover would move, and for how long.", arguments,
                  tier::ListMoves)
                  .MayBeOpen("yes")
                  .PrintsBytes()
                  .Help("Of the database as it is, by the URI that is given: with other budgets or "
                        "another placement it says what these would move. The time is that of "
                        "mover_bytes_per_second; a slow disk takes longer."));
  command.Add(Look("logs", "Prints the write-ahead logs that SSTs in memory need.", arguments,
                   tier::ListLogs)
                  .Help("And all that are retained, with the number, the bytes and the shares of "
                        "their live entries. Reads them all."));
  command.Add(Check(arguments));
  command.Add(Change("mv", "Puts a file into another tier.", arguments, tier::Move)
                  .Help("Says if it will not stay there.")
                  .Help(kAgainHelp)
                  .Positional("FILE", "an SST or blob file", &arguments->file)
                  .Positional("TIER", "its name in the URI", &arguments->tier));
  command.Add(Change("drain", "Empties a tier.", arguments, tier::Drain)
                  .Help("Its files go where placement and budgets would have them without it. Take "
                        "the tier out of tiers= and placement= before the database is opened "
                        "again.")
                  .Help(kAgainHelp)
                  .Positional("TIER", "its name in the URI", &arguments->tier));
  command.Add(Change("evacuate", "Brings all files home.", arguments, tier::Evacuate)
                  .Help("Removes what the plugin has made: DIRECTORY is then one of RocksDB "
                        "without the plugin.")
                  .Help(kAgainHelp));
  command.Add(Recover(arguments));
  command.Add(Change("purge", "Deletes what was put aside because nothing names it.", arguments,
                     tier::Purge)
                  .Help("That is in lost/ of the folders in the tiers; unless anything of the "
                        "database is missing. Also write-ahead logs that a newer state of the "
                        "database has retained, in a wal_dir: then that cannot be put back.")
                  .Help(kAgainHelp)
                  .Texts("folder", "NAME",
                         "also delete this folder in the tiers, whose directory is gone, as check "
                         "tells",
                         /*required=*/false, &arguments->folders));
  command.Add(Change("adopt", "Makes DIRECTORY the owner of its folders in the tiers.", arguments,
                     tier::Adopt)
                  .Help("For one that is not opened because it is a copy, an older state, or "
                        "because a tier's device was replaced. If anything would be lost by that, "
                        "it is listed, and nothing is changed without --force.")
                  .Help(kAgainHelp)
                  .Switch("force", "adopt, whatever is lost", &arguments->force)
                  .Problems("if --force is needed"));
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
