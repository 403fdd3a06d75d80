// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier blob: the sub-command of blob_hybrid.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "plugin/blob_hybrid/advice.h"
#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/verify.h"
#include "tools/command.h"
#include "tools/output.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using blob_hybrid::Advice;
using blob_hybrid::BlobCheck;
using blob_hybrid::BlobHybridSpace;

constexpr char kHelp[] =
    "Looks at the blob files of a database, each column family apart. Nothing is changed.\n"
    "\n"
    "Usage: rocktier blob stats DB [--json]\n"
    "       rocktier blob verify DB [--json]\n"
    "       rocktier blob advise DB [--space=1.5] [--json]\n"
    "\n"
    "  DB       the database's directory; it is opened for reading, and may be in use, but for\n"
    "           verify\n"
    "\n"
    "  stats    files, live values, known and hidden garbage. What is hidden is an upper "
    "estimate:\n"
    "           the entries above the last level, each of which may overwrite a value\n"
    "  verify   reads everything: each reference to a value is right, each value has its "
    "checksum,\n"
    "           and there are as many as the MANIFEST says\n"
    "  advise   which values are worth separating, by a sample of SSTs and the model of the "
    "Parallax\n"
    "           paper: sizes from which values are medium and large, settings, and what is "
    "written\n"
    "           and taken for each byte of data. What is overwritten is told by sequence numbers\n"
    "\n"
    "  --space=N  bytes of files for each live byte that advise may lead to; space_kept is 0\n"
    "             if it has to lead to more\n"
    "  --json     one JSON object\n"
    "\n"
    "Exit status: 0, 1 if verify has found problems, or 2 for wrong usage and for what could not "
    "be\n"
    "read.\n";

struct Arguments {
  std::string path;
  double space = 1.5;
  bool json = false;
};

std::string ToString(const BlobHybridSpace& space) { return space.ToString(); }
std::string ToJson(const BlobHybridSpace& space) { return space.ToJson(); }

std::string ToString(const Advice& advice) { return advice.ToString(); }
std::string ToJson(const Advice& advice) { return advice.ToJson(); }

#define BLOB_CHECK_COUNTS(X) \
  X(ssts) X(blob_files) X(values) X(references) X(garbage) X(uncounted) X(problem_count)

std::string ToString(const BlobCheck& check) {
  std::string text;
#define X(name) text += #name ": " + std::to_string(check.name) + "\n";
  BLOB_CHECK_COUNTS(X)
#undef X
  for (const std::string& problem : check.problems) {
    text += "problem: " + problem + "\n";
  }
  return text;
}

std::string ToJson(const BlobCheck& check) {
  std::string text = "{";
#define X(name) text += "\"" #name "\":" + std::to_string(check.name) + ",";
  BLOB_CHECK_COUNTS(X)
#undef X
  text += "\"problems\":[";
  for (const std::string& problem : check.problems) {
    text += (text.back() == '[' ? "" : ",") + Quote(problem);
  }
  return text + "]}";
}

template <typename Family>
void Print(const std::map<std::string, Family>& families, bool json) {
  const char* separator = "{";
  for (const auto& [name, family] : families) {
    if (json) {
      printf("%s%s:%s", separator, Quote(name).c_str(), ToJson(family).c_str());
      separator = ",";
    } else {
      printf("[%s]\n%s", name.c_str(), ToString(family).c_str());
    }
  }
  if (json) {
    printf("}\n");
  }
}

template <typename Family, typename Look>
int PrintAll(const std::string& command, const Arguments& arguments, const Look& look) {
  std::map<std::string, Family> families;
  const Status s = look(&families);
  if (s.ok()) {
    Print(families, arguments.json);
  }
  return Report(command, s);
}

int Verify(const std::string& command, const Arguments& arguments) {
  bool problems = false;
  const int status = PrintAll<BlobCheck>(command, arguments, [&](auto* families) {
    const Status s = blob_hybrid::VerifyBlobs(arguments.path, families);
    for (const auto& [name, check] : *families) {
      problems = problems || check.problem_count > 0;
    }
    return s;
  });
  return status == kExitOk && problems ? kExitProblems : status;
}

// Empty if they are right.
std::string Parse(int argc, char** argv, Arguments* arguments) {
  for (int i = 2; i < argc; i++) {
    const std::string word = argv[i];
    if (word == "--json") {
      arguments->json = true;
    } else if (word.compare(0, 8, "--space=") == 0 && strcmp(argv[1], "advise") == 0) {
      char* end = nullptr;
      arguments->space = strtod(word.c_str() + 8, &end);
      if (*end != '\0' || !(arguments->space >= 1)) {
        return "a number from 1 on, please: " + word;
      }
    } else if (word[0] == '-') {
      return "unknown option " + word;
    } else if (!arguments->path.empty()) {
      return "one database, please";
    } else {
      arguments->path = word;
    }
  }
  return arguments->path.empty() ? "one database, please" : "";
}

}  // namespace

int BlobCommand(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(kHelp, stdout);
      return kExitOk;
    }
  }
  const std::string action = argc > 1 ? argv[1] : "";
  const std::string command = "blob " + action;
  if (action != "stats" && action != "verify" && action != "advise") {
    return UsageError("blob", action.empty() ? "stats, verify or advise?" : "not known: " + action);
  }
  Arguments arguments;
  const std::string wrong = Parse(argc, argv, &arguments);
  if (!wrong.empty()) {
    return UsageError(command, wrong);
  }
  if (action == "stats") {
    return PrintAll<BlobHybridSpace>(command, arguments, [&](auto* families) {
      return blob_hybrid::InspectBlobHybrid(arguments.path, families);
    });
  }
  if (action == "advise") {
    return PrintAll<Advice>(command, arguments, [&](auto* families) {
      return blob_hybrid::AdviseDatabase(arguments.path, arguments.space, families);
    });
  }
  return Verify(command, arguments);
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
