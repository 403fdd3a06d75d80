// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the sub-commands of the tool "rocktier" have in common.
//
// A plugin adds a sub-command by a file plugin/<plugin>/tools/<name>.cc with a function
//   int <Name>Command(int argc, char** argv);
// in the namespace ROCKSDB_NAMESPACE::rocktier: argv[0] is the sub-command's name, and the result
// is the exit status. tools/CMakeLists.txt finds the file and generates Commands(). Other sources
// of the sub-command may be in plugin/<plugin>/tools/<name>/.

#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

// Exit statuses; the same for every sub-command.
enum Exit : int {
  kExitOk = 0,
  kExitProblems = 1,  // what was looked at has problems
  kExitError = 2,     // wrong usage, or it could not be looked at
};

struct Command {
  const char* name;
  const char* plugin;
  // Null if the plugin is not built.
  int (*run)(int argc, char** argv);
};

const char* Version();

// One for each plugin/*/tools/*.cc in the source tree, in alphabetical order.
const std::vector<Command>& Commands();

// Says what is wrong with the arguments of `command` ("cache info") and where help is.
inline int UsageError(const std::string& command, const std::string& message) {
  fprintf(stderr, "rocktier %s: %s\nTry: rocktier %s --help\n", command.c_str(), message.c_str(),
          command.c_str());
  return kExitError;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
