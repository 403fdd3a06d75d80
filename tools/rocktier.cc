// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier COMMAND ...: hands over to the sub-command of a plugin.

#include <cstdio>
#include <cstring>

#include "rocksdb/version.h"
#include "tools/command.h"

namespace {

using ROCKSDB_NAMESPACE::rocktier::Command;
using ROCKSDB_NAMESPACE::rocktier::Commands;
using ROCKSDB_NAMESPACE::rocktier::kExitError;
using ROCKSDB_NAMESPACE::rocktier::kExitOk;
using ROCKSDB_NAMESPACE::rocktier::Version;

void PrintHelp(FILE* out) {
  fprintf(out,
          "Looks at the files that the rocktier plugins of RocksDB write.\n"
          "\n"
          "Usage: rocktier COMMAND ...\n"
          "       rocktier COMMAND --help\n"
          "       rocktier --help | --version\n"
          "\n"
          "Commands:\n");
  for (const Command& command : Commands()) {
    fprintf(out, "  %-10s files of %s%s\n", command.name, command.plugin,
            command.run != nullptr ? "" : " (not built)");
  }
  fprintf(
      out,
      "\n"
      "Exit status: 0 if all is well, 1 if problems were found, 2 for wrong usage and for what\n"
      "could not be read.\n");
}

int PrintVersion() {
  printf("rocktier %s for RocksDB %d.%d.%d", Version(), ROCKSDB_MAJOR, ROCKSDB_MINOR,
         ROCKSDB_PATCH);
  const char* separator = ", with ";
  for (const Command& command : Commands()) {
    if (command.run != nullptr) {
      printf("%s%s", separator, command.plugin);
      separator = ", ";
    }
  }
  printf("\n");
  return kExitOk;
}

int Run(const char* name, int argc, char** argv) {
  for (const Command& command : Commands()) {
    if (strcmp(command.name, name) != 0) {
      continue;
    }
    if (command.run == nullptr) {
      fprintf(stderr, "rocktier %s: this rocktier was built without the plugin %s\n", name,
              command.plugin);
      return kExitError;
    }
    return command.run(argc, argv);
  }
  fprintf(stderr, "rocktier: no such command: %s\nTry: rocktier --help\n", name);
  return kExitError;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    PrintHelp(stderr);
    return kExitError;
  }
  const char* first = argv[1];
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
    PrintHelp(stdout);
    return kExitOk;
  }
  if (strcmp(first, "--version") == 0) {
    return PrintVersion();
  }
  return Run(first, argc - 1, argv + 1);
}
