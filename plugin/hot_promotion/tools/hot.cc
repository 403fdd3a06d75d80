// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier hot: the sub-command of hot_promotion.

#include <getopt.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "plugin/hot_promotion/hot_promotion.h"
#include "tools/command.h"
#include "tools/output.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using namespace hot_promotion;  // NOLINT(google-build-using-namespace)

constexpr char kHelp[] =
    "Looks at the directory of hot_promotion: copies of hot records.\n"
    "\n"
    "Usage: rocktier hot stats DIR [--json]\n"
    "       rocktier hot verify DIR [--json]\n"
    "       rocktier hot dump DIR [--json]\n"
    "       rocktier hot clear DIR --force\n"
    "\n"
    "  DIR      the option path of the table factory\n"
    "\n"
    "  stats    counts records and bytes\n"
    "  verify   the same, and compares each record with the SST that it is a copy of\n"
    "  dump     prints each record: SST, key, bytes of the value\n"
    "  clear    removes the copies and what is known of accesses; nothing is lost but time.\n"
    "           No database that uses the directory may be open\n"
    "\n"
    "  --json   one JSON object; dump: one a line\n"
    "  --force  required to clear\n"
    "\n"
    "stats, verify and dump change nothing. A directory in use may be looked at; records that are\n"
    "removed meanwhile may then be an error.\n"
    "\n"
    "Exit status: 0, or 1 if verify finds a record that differs from its SST or an entry that is\n"
    "unknown, or 2 for wrong usage and for what could not be read.\n";

struct Arguments {
  std::string directory;
  bool json = false;
  bool force = false;
};

// False after telling what is wrong. argv[0] is the name of the action.
bool Parse(const std::string& command, int argc, char** argv, Arguments* result) {
  static const option kOptions[] = {
      {"json", no_argument, nullptr, 'j'}, {"force", no_argument, nullptr, 'f'}, {}};
  opterr = 0;
  for (int c = 0; (c = getopt_long(argc, argv, ":", kOptions, nullptr)) != -1;) {
    if (c != 'j' && c != 'f') {
      UsageError(command, std::string("unknown option ") + argv[optind - 1]);
      return false;
    }
    (c == 'j' ? result->json : result->force) = true;
  }
  if (argc - optind != 1) {
    UsageError(command, "one directory, please");
    return false;
  }
  result->directory = argv[optind];
  return true;
}

int Look(const std::string& command, bool verify, const Arguments& arguments) {
  HotStoreInfo info;
  const Status s = verify ? VerifyHotStore(arguments.directory, &info)
                          : InspectHotStore(arguments.directory, &info);
  if (!s.ok()) {
    return Report(command, s);
  }
  printf("%s%s", (arguments.json ? info.ToJson() : info.ToString()).c_str(),
         arguments.json ? "\n" : "");
  return verify && info.different + info.unknown > 0 ? kExitProblems : kExitOk;
}

int Dump(const std::string& command, const Arguments& arguments) {
  return Report(command,
                DumpHotStore(arguments.directory,
                             [&](const std::string& file, const Slice& key, const Slice& value) {
                               const std::string hex = key.ToString(/*hex=*/true);
                               if (arguments.json) {
                                 printf("{\"file\":%s,\"key\":\"%s\",\"value_bytes\":%zu}\n",
                                        Quote(file).c_str(), hex.c_str(), value.size());
                               } else {
                                 printf("%s %s %zu\n", file.c_str(), hex.c_str(), value.size());
                               }
                               return !ferror(stdout);
                             }));
}

int Clear(const std::string& command, const Arguments& arguments) {
  if (!arguments.force) {
    return UsageError(command, "--force is required: all copies are deleted");
  }
  return Report(command, ClearHotStore(arguments.directory));
}

}  // namespace

int HotCommand(int argc, char** argv) {
  const std::string action = argc > 1 ? argv[1] : "";
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(kHelp, stdout);
      return kExitOk;
    }
  }
  const std::string command = "hot " + action;
  if (action != "stats" && action != "verify" && action != "dump" && action != "clear") {
    return UsageError("hot", action.empty() ? "stats, verify, dump or clear?"
                                            : "neither stats, verify, dump nor clear: " + action);
  }
  Arguments arguments;
  if (!Parse(command, argc - 1, argv + 1, &arguments)) {
    return kExitError;
  }
  if (action == "dump") {
    return Dump(command, arguments);
  }
  return action == "clear" ? Clear(command, arguments)
                           : Look(command, action == "verify", arguments);
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
