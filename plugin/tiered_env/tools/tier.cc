// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier tier: the sub-command of tiered_env, over the functions for tools in tiered_env.h.

#include <getopt.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/tools/tier/print.h"
#include "rocksdb/convenience.h"
#include "tools/output.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using tiered_env::AdoptTiers;
using tiered_env::DrainTier;
using tiered_env::EvacuateTiers;
using tiered_env::InspectLogs;
using tiered_env::MoveToTier;
using tiered_env::PurgeTiers;
using tiered_env::RecoverTiers;
using tiered_env::SalvageTiers;
using tiered_env::TieredAdoption;
using tiered_env::TieredCheck;
using tiered_env::TieredDirectoryInfo;
using tiered_env::TieredLogInfo;
using tiered_env::TieredProblem;

constexpr char kHelp[] =
    "Looks at databases whose files are in tiers of tiered_env, repairs them, and moves their "
    "files.\n"
    "\n"
    "Usage: rocktier tier ls URI DIRECTORY [--json]\n"
    "       rocktier tier df URI DIRECTORY [--json]\n"
    "       rocktier tier logs URI DIRECTORY [--json]\n"
    "       rocktier tier check URI DIRECTORY [--repair] [--rebuild] [--json]\n"
    "       rocktier tier mv URI DIRECTORY FILE TIER\n"
    "       rocktier tier drain URI DIRECTORY TIER\n"
    "       rocktier tier evacuate URI DIRECTORY\n"
    "       rocktier tier recover URI DIRECTORY [--salvage]\n"
    "       rocktier tier purge URI DIRECTORY [--folder=NAME]...\n"
    "       rocktier tier adopt URI DIRECTORY [--force]\n"
    "\n"
    "URI is the FileSystem as the database has it, in quotes:\n"
    "  'id=TieredFileSystem;tiers={fast={path=/mnt/fast;budget=8G}};placement={0..base=fast}'\n"
    "DIRECTORY is the database's. ls, df, logs and check without --repair change nothing and may "
    "be used\n"
    "while it is open; the others refuse then, and can be run again after an interruption.\n"
    "\n"
    "  ls        prints the SSTs and blob files, and what else is in tiers: level, size, tier,\n"
    "            temperature; and the tier where a file belongs, if that is another one\n"
    "  df        prints how much the database has in each tier; \"stranded\" belongs elsewhere; "
    "and, if "
    "there\n"
    "            are tiers of kind memory, their figures, of which those that are counted are of "
    "the\n"
    "            process that has the database open, or had it last\n"
    "  logs      prints the write-ahead logs that SSTs in memory need, and all that are retained, "
    "with\n"
    "            the number, the bytes and the shares of their live entries. Reads them all.\n"
    "  check     verifies that each file that the MANIFEST needs is there with its size, that "
    "stubs and\n"
    "            owners of folders are sound, and tells what nothing names. Does not read the "
    "files\n"
    "            (that is \"sst_dump --command=verify\"). --repair brings back stubs\n"
    "            that were lost, and puts\n"
    "            aside what nothing names, in lost/ of the folder in the tier. --rebuild also "
    "rebuilds each SST of tiers of kind memory from "
    "its\n"
    "            recipe, on trial: it needs as much memory as recovery would, and the database "
    "closed.\n"
    "  mv        puts a file into another tier, and says if it will not stay there\n"
    "  drain     empties a tier: its files go where placement and budgets would have them without "
    "it.\n"
    "            Take the tier out of tiers= and placement= before the database is opened again.\n"
    "  evacuate  brings all files home and removes what the plugin has made: DIRECTORY is then one "
    "of\n"
    "            RocksDB without the plugin.\n"
    "  recover   rebuilds the SSTs that tiers of kind memory have lost, as opening the database "
    "for "
    "writing\n"
    "            does. Read-only and secondary instances need that before. --salvage, if that is "
    "not\n"
    "            possible: brings all to other tiers that is there or can be rebuilt, and gives up "
    "the\n"
    "            rest, which it lists, so that RocksDB can repair or destroy the database.\n"
    "  purge     deletes what was put aside because nothing names it, in lost/ of the folders in "
    "the "
    "tiers,\n"
    "            unless anything of the database is missing; and folders in the tiers whose "
    "directories are gone,\n"
    "            as check tells them, by name\n"
    "  adopt     makes DIRECTORY the owner of its folders in the tiers, if it is not opened "
    "because "
    "it is a copy,\n"
    "            an older state, or because a tier's device was replaced. If anything would be "
    "lost "
    "by that, it is\n"
    "            listed, and nothing is changed without --force\n"
    "\n"
    "Exit status: 0; 1 if check found problems that it has not repaired; 2 for wrong usage and "
    "errors.\n";

struct Arguments {
  std::vector<std::string> words;  // URI, DIRECTORY, ...
  bool json = false;
  bool repair = false;
  bool rebuild = false;
  bool salvage = false;
  bool force = false;
  std::vector<std::string> folders;

  const std::string& uri() const { return words[0]; }
  const std::string& directory() const { return words[1]; }
};

enum Flag : int { kJson = 1, kRepair, kRebuild, kSalvage, kForce, kFolder, kShowHelp };

int Look(const std::string& action, FileSystem* fs, const Arguments& arguments) {
  TieredDirectoryInfo info;
  const Status s = InspectTiers(fs, arguments.directory(), &info);
  if (!s.ok()) {
    return Report("tier " + action, s);
  }
  if (action == "ls") {
    (arguments.json ? PrintFilesAsJson : PrintFiles)(info);
  } else {
    (arguments.json ? PrintTiersAsJson : PrintTiers)(info);
  }
  return kExitOk;
}

const char* StateOf(const TieredProblem& problem) {
  return problem.repaired ? "repaired" : problem.harmless ? "harmless" : "problem";
}

int Check(FileSystem* fs, const Arguments& arguments) {
  TieredCheck check;
  const Status s =
      CheckTiers(fs, arguments.directory(), arguments.repair, &check, arguments.rebuild);
  if (!s.ok()) {
    return Report("tier check", s);
  }
  uint64_t left = 0;
  std::string list;
  for (const TieredProblem& problem : check.problems) {
    left += problem.repaired || problem.harmless ? 0 : 1;
    if (!arguments.json) {
      printf("%s: %s %s\n", StateOf(problem), problem.path.c_str(), problem.what.c_str());
    }
    list += (list.empty() ? "" : ",") + ("{\"state\":" + Quote(StateOf(problem))) +
            ",\"path\":" + Quote(problem.path) + ",\"what\":" + Quote(problem.what) + "}";
  }
  if (arguments.json) {
    printf(
        "{\"files\":%llu,\"bytes\":%llu,\"rebuilt\":%llu,\"open_elsewhere\":%s,\"problems\":%llu,"
        "\"list\":[%s]}\n",
        Wide(check.files), Wide(check.bytes), Wide(check.rebuilt),
        check.open_elsewhere ? "true" : "false", Wide(left), list.c_str());
  } else {
    if (arguments.rebuild) {
      printf("%llu SSTs rebuilt on trial\n", Wide(check.rebuilt));
    }
    printf("%llu files, %llu bytes, %llu problems%s\n", Wide(check.files), Wide(check.bytes),
           Wide(left),
           check.open_elsewhere ? "; the database is open, so what is left over was not looked for"
                                : "");
  }
  return left == 0 ? kExitOk : kExitProblems;
}

int Move(FileSystem* fs, const Arguments& arguments) {
  const std::string& file = arguments.words[2];
  const std::string& tier = arguments.words[3];
  std::string later;
  const Status s = MoveToTier(fs, arguments.directory(), file, tier, &later);
  if (s.ok()) {
    printf("%s is in %s%s\n", file.c_str(), tier.c_str(),
           later.empty() ? ""
                         : ("; when the database is opened, the mover will put it into " + later +
                            ", by placement and budgets")
                               .c_str());
  }
  return Report("tier mv", s);
}

int Empty(const std::string& action, FileSystem* fs, const Arguments& arguments) {
  uint64_t moved = 0;
  Status s;
  {
    ProgressBar bar;
    s = action == "drain"
            ? DrainTier(fs, arguments.directory(), arguments.words[2], &moved, bar.Callback())
            : EvacuateTiers(fs, arguments.directory(), &moved, bar.Callback());
  }
  if (s.ok() && action == "drain") {
    printf("%llu files moved; %s has nothing of %s any more\n", Wide(moved),
           arguments.words[2].c_str(), arguments.directory().c_str());
  } else if (s.ok()) {
    printf("%llu files moved; %s has all its files\n", Wide(moved), arguments.directory().c_str());
  }
  return Report("tier " + action, s);
}

int Salvage(FileSystem* fs, const Arguments& arguments) {
  std::vector<std::string> given_up;
  const Status s = SalvageTiers(fs, arguments.directory(), &given_up);
  for (const std::string& file : given_up) {
    printf("given up: %s\n", file.c_str());
  }
  if (s.ok()) {
    printf("%s has nothing in memory any more; %zu SSTs given up\n", arguments.directory().c_str(),
           given_up.size());
  }
  return s.ok() && !given_up.empty() ? kExitProblems : Report("tier recover", s);
}

int Recover(FileSystem* fs, const Arguments& arguments) {
  if (arguments.salvage) {
    return Salvage(fs, arguments);
  }
  const Status s = RecoverTiers(fs, arguments.directory());
  if (s.ok()) {
    printf("%s has all its SSTs\n", arguments.directory().c_str());
  }
  return Report("tier recover", s);
}

int Purge(FileSystem* fs, const Arguments& arguments) {
  uint64_t files = 0;
  uint64_t bytes = 0;
  const Status s = PurgeTiers(fs, arguments.directory(), &files, &bytes, arguments.folders);
  if (s.ok()) {
    printf("%llu files deleted, %llu bytes\n", Wide(files), Wide(bytes));
    for (const std::string& folder : arguments.folders) {
      printf("folder %s deleted\n", folder.c_str());
    }
  }
  return Report("tier purge", s);
}

int Adopt(FileSystem* fs, const Arguments& arguments) {
  TieredAdoption adoption;
  const Status s = AdoptTiers(fs, arguments.directory(), arguments.force, &adoption);
  for (const std::string& base : adoption.missing) {
    printf("is not there: %s\n", base.c_str());
  }
  for (const std::string& path : adoption.unnamed) {
    printf("is not the database's, and will be put aside: %s\n", path.c_str());
  }
  if (s.ok()) {
    printf("%s\n", adoption.adopted ? "adopted" : "nothing was changed; --force adopts anyway");
  }
  return s.ok() && !adoption.adopted ? kExitProblems : Report("tier adopt", s);
}

int ShowLogs(FileSystem* fs, const Arguments& arguments) {
  std::vector<TieredLogInfo> logs;
  const Status s = InspectLogs(fs, arguments.directory(), &logs);
  if (s.ok()) {
    (arguments.json ? PrintLogsAsJson : PrintLogs)(logs);
  }
  return Report("tier logs", s);
}

struct Action {
  const char* name;
  size_t words;
  const char* usage;
};

constexpr Action kActions[] = {
    {"ls", 2, "a URI and a directory are needed"},
    {"df", 2, "a URI and a directory are needed"},
    {"logs", 2, "a URI and a directory are needed"},
    {"check", 2, "a URI and a directory are needed"},
    {"mv", 4, "a URI, a directory, a file and a tier are needed"},
    {"drain", 3, "a URI, a directory and a tier are needed"},
    {"evacuate", 2, "a URI and a directory are needed"},
    {"recover", 2, "a URI and a directory are needed"},
    {"purge", 2, "a URI and a directory are needed"},
    {"adopt", 2, "a URI and a directory are needed"},
};

const Action* FindAction(const std::string& name) {
  for (const Action& action : kActions) {
    if (name == action.name) {
      return &action;
    }
  }
  return nullptr;
}

// False after telling what is wrong, or showing the help.
bool Parse(const Action& action, int argc, char** argv, Arguments* result, int* status) {
  static const option kOptions[] = {
      {"json", no_argument, nullptr, kJson},       {"repair", no_argument, nullptr, kRepair},
      {"rebuild", no_argument, nullptr, kRebuild}, {"salvage", no_argument, nullptr, kSalvage},
      {"force", no_argument, nullptr, kForce},     {"folder", required_argument, nullptr, kFolder},
      {"help", no_argument, nullptr, kShowHelp},   {}};
  opterr = 0;
  const std::string command = std::string("tier ") + action.name;
  *status = kExitError;
  for (int c = 0; (c = getopt_long(argc, argv, ":", kOptions, nullptr)) != -1;) {
    if (c == kShowHelp) {
      fputs(kHelp, stdout);
      *status = kExitOk;
      return false;
    }
    const std::string name = action.name;
    const bool known =
        (c == kJson && (name == "ls" || name == "df" || name == "logs" || name == "check")) ||
        ((c == kRepair || c == kRebuild) && name == "check") ||
        (c == kSalvage && name == "recover") || (c == kForce && name == "adopt") ||
        (c == kFolder && name == "purge");
    if (!known) {
      UsageError(command, std::string("no such option: ") + argv[optind - 1]);
      return false;
    }
    if (c == kFolder) {
      result->folders.push_back(optarg);
      continue;
    }
    (c == kJson      ? result->json
     : c == kRepair  ? result->repair
     : c == kRebuild ? result->rebuild
     : c == kForce   ? result->force
                     : result->salvage) = true;
  }
  result->words.assign(argv + optind, argv + argc);
  if (result->words.size() != action.words) {
    UsageError(command, action.usage);
    return false;
  }
  return true;
}

Status OpenFs(const std::string& uri, std::shared_ptr<FileSystem>* fs) {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  return FileSystem::CreateFromString(config, uri, fs);
}

}  // namespace

int TierCommand(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h") {
    fputs(kHelp, stdout);
    return kExitOk;
  }
  const Action* action = FindAction(name);
  if (action == nullptr) {
    return UsageError(
        "tier", name.empty() ? "ls, df, logs, check, mv, drain, evacuate, recover, purge or adopt?"
                             : "no such action: " + name);
  }
  Arguments arguments;
  int status;
  if (!Parse(*action, argc - 1, argv + 1, &arguments, &status)) {
    return status;
  }
  std::shared_ptr<FileSystem> fs;
  const Status s = OpenFs(arguments.uri(), &fs);
  if (!s.ok()) {
    return Report("tier " + name, s);
  }
  if (name == "ls" || name == "df") {
    return Look(name, fs.get(), arguments);
  }
  if (name == "logs") {
    return ShowLogs(fs.get(), arguments);
  }
  if (name == "check") {
    return Check(fs.get(), arguments);
  }
  if (name == "recover") {
    return Recover(fs.get(), arguments);
  }
  if (name == "adopt") {
    return Adopt(fs.get(), arguments);
  }
  if (name == "purge") {
    return Purge(fs.get(), arguments);
  }
  return name == "mv" ? Move(fs.get(), arguments) : Empty(name, fs.get(), arguments);
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
