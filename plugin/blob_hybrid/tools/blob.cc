// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier blob: the sub-command of blob_hybrid.

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "tools/command.h"
#include "tools/output.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using blob_hybrid::BlobHybridSpace;

constexpr char kHelp[] =
    "Looks at the space that the column families of a database take, blob files apart.\n"
    "\n"
    "Usage: rocktier blob stats DB [--json]\n"
    "\n"
    "  DB       the database's directory; it is opened for reading, and may be in use\n"
    "\n"
    "  stats    files, live values, known and hidden garbage of each family. What is hidden is an\n"
    "           upper estimate: the entries above the last level, each of which may overwrite a "
    "value\n"
    "\n"
    "  --json   one JSON object\n"
    "\n"
    "Exit status: 0, or 2 for wrong usage and for what could not be read.\n";

void Print(const std::map<std::string, BlobHybridSpace>& families, bool json) {
  const char* separator = "{";
  for (const auto& [name, space] : families) {
    if (json) {
      printf("%s%s:%s", separator, Quote(name).c_str(), space.ToJson().c_str());
      separator = ",";
    } else {
      printf("[%s]\n%s", name.c_str(), space.ToString().c_str());
    }
  }
  if (json) {
    printf("}\n");
  }
}

}  // namespace

int BlobCommand(int argc, char** argv) {
  std::string path;
  bool json = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(kHelp, stdout);
      return kExitOk;
    }
  }
  const std::string action = argc > 1 ? argv[1] : "";
  if (action != "stats") {
    return UsageError("blob", action.empty() ? "stats?" : "not stats: " + action);
  }
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0) {
      json = true;
    } else if (argv[i][0] == '-') {
      return UsageError("blob stats", std::string("unknown option ") + argv[i]);
    } else if (!path.empty()) {
      return UsageError("blob stats", "one database, please");
    } else {
      path = argv[i];
    }
  }
  if (path.empty()) {
    return UsageError("blob stats", "one database, please");
  }
  std::map<std::string, BlobHybridSpace> families;
  const Status s = blob_hybrid::InspectBlobHybrid(path, &families);
  if (s.ok()) {
    Print(families, json);
  }
  return Report("blob stats", s);
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
