// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier cache: the sub-command of secondary_cache_2q, over InspectCacheFile() and
// VerifyCacheFile().

#include <getopt.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using secondary_cache_2q::CacheFileInfo;
using secondary_cache_2q::InspectCacheFile;
using secondary_cache_2q::VerifyCacheFile;

constexpr char kHelp[] =
    "Looks at a cache file of secondary_cache_2q (storage=file). The file is not changed.\n"
    "\n"
    "Usage: rocktier cache info FILE [--json]\n"
    "       rocktier cache verify FILE [--json]\n"
    "\n"
    "  info     what the file says of itself: its size and the blocks that its index names\n"
    "  verify   the same, and reads every block and checks it against the index\n";

constexpr char kInfoHelp[] =
    "Prints what a cache file says of itself.\n"
    "\n"
    "Usage: rocktier cache info FILE [--json]\n"
    "\n"
    "  --json   print one JSON object\n"
    "\n"
    "Sizes are in bytes. blocks: those that the index names; bad_slots: entries of the index that\n"
    "fail their checksum, cannot be read or name no block. The contents of blocks are not read.\n"
    "A cache in use may be looked at; the counts are then approximate.\n"
    "\n"
    "Exit status: 0, or 2 for wrong usage and for a file that is not a readable cache file.\n";

constexpr char kVerifyHelp[] =
    "Reads every block of a cache file and checks it against the index.\n"
    "\n"
    "Usage: rocktier cache verify FILE [--json]\n"
    "\n"
    "  --json   print one JSON object\n"
    "\n"
    "verified: intact blocks; corrupt: blocks that do not match the index or cannot be read;\n"
    "bad_slots: entries of the index that fail their checksum, cannot be read or name no block.\n"
    "The cache answers what is not intact as a miss: nothing "
    "needs\n"
    "to be repaired. In a cache in use blocks change while they are read, and may be counted as\n"
    "corrupt; verify it after it was closed.\n"
    "\n"
    "Exit status: 0 if all is intact, 1 if a block is corrupt or a slot is bad, 2 for wrong usage "
    "and\n"
    "for a file that is not a readable cache file.\n";

struct Arguments {
  std::string file;
  bool json = false;
  bool help = false;
};

// False after telling what is wrong. argv[0] is the name of the action.
bool Parse(const std::string& command, int argc, char** argv, Arguments* result) {
  static const option kOptions[] = {
      {"help", no_argument, nullptr, 'h'}, {"json", no_argument, nullptr, 'j'}, {}};
  opterr = 0;
  for (int c = 0; (c = getopt_long(argc, argv, ":h", kOptions, nullptr)) != -1;) {
    switch (c) {
      case 'h':
        result->help = true;
        return true;
      case 'j':
        result->json = true;
        break;
      default:
        UsageError(command, std::string("unknown option ") + argv[optind - 1]);
        return false;
    }
  }
  if (argc - optind != 1) {
    UsageError(command, argc == optind ? "no cache file given"
                                       : std::string("one cache file at a time: ") + argv[optind] +
                                             ", " + argv[optind + 1]);
    return false;
  }
  result->file = argv[optind];
  return true;
}

int Look(const char* action, bool verify, int argc, char** argv) {
  const std::string command = std::string("cache ") + action;
  Arguments arguments;
  if (!Parse(command, argc, argv, &arguments)) {
    return kExitError;
  }
  if (arguments.help) {
    fputs(verify ? kVerifyHelp : kInfoHelp, stdout);
    return kExitOk;
  }
  CacheFileInfo info;
  const Status s =
      verify ? VerifyCacheFile(arguments.file, &info) : InspectCacheFile(arguments.file, &info);
  if (!s.ok()) {
    fprintf(stderr, "rocktier %s: %s\n", command.c_str(), s.ToString().c_str());
    return kExitError;
  }
  if (arguments.json) {
    printf("%s\n", info.ToJson().c_str());
  } else {
    fputs(info.ToString().c_str(), stdout);
  }
  return verify && info.corrupt + info.bad_slots > 0 ? kExitProblems : kExitOk;
}

}  // namespace

int CacheCommand(int argc, char** argv) {
  const char* action = argc > 1 ? argv[1] : "";
  if (strcmp(action, "--help") == 0 || strcmp(action, "-h") == 0) {
    fputs(kHelp, stdout);
    return kExitOk;
  }
  const bool verify = strcmp(action, "verify") == 0;
  if (verify || strcmp(action, "info") == 0) {
    return Look(action, verify, argc - 1, argv + 1);
  }
  return UsageError("cache", *action == '\0' ? "info or verify?"
                                             : std::string("neither info nor verify: ") + action);
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
