// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier COMMAND VERB ...: finds the verb, hands its arguments over, runs it, and prints its
// answer.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "rocksdb/version.h"
#include "tools/command.h"
#include "tools/help.h"
#include "tools/output.h"
#include "tools/parse.h"
#include "tools/progress.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using Words = std::vector<std::string>;

// Whether a flag is among the words; what follows "--" is none.
bool Has(const Words& words, const std::string& flag) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, flag) != end;
}

bool AsksForHelp(const Words& words) { return Has(words, "--help") || Has(words, "-h"); }

void PrintError(const Words& words, const std::string& message) {
  if (Has(words, "--json")) {
    Json json;
    json["error"] = message;
    printf("%s\n", Dump(json).c_str());
  }
}

// Says what is wrong with the words, and where help is. `name`: of the command, and of the verb.
int UsageError(const std::string& name, const Words& words, const std::string& message) {
  PrintError(words, message);
  const std::string tool = "rocktier" + (name.empty() ? "" : " " + name);
  fprintf(stderr, "%s: %s\nTry: %s --help\n", tool.c_str(), Printable(message).c_str(),
          tool.c_str());
  return kExitError;
}

int PrintHelp(const Words& words, const std::string& text, const Json& json) {
  fputs(Has(words, "--json") ? (Dump(json) + "\n").c_str() : text.c_str(), stdout);
  return kExitOk;
}

int PrintVersion() {
  printf("rocktier %s for RocksDB %d.%d.%d", Version(), ROCKSDB_MAJOR, ROCKSDB_MINOR,
         ROCKSDB_PATCH);
  const char* separator = ", with ";
  for (const Command& command : Commands()) {
    if (!command.plugin.empty() && !command.verbs.empty()) {
      printf("%s%s", separator, command.plugin.c_str());
      separator = ", ";
    }
  }
  printf("\n");
  return kExitOk;
}

void PrintAnswer(const Verb& verb, const Status& s, Call* call) {
  if (call->as_json) {
    if (!s.ok()) {
      call->json = call->json.is_object() ? call->json : Json::object();
      call->json["error"] = s.ToString();
    } else if (call->dry_run && call->json.is_object()) {
      call->json["dry_run"] = true;
    }
    if (verb.lines().empty() || !s.ok()) {
      printf("%s\n", Dump(call->json).c_str());
    }
    return;
  }
  if (call->dry_run && s.ok()) {
    call->Line("dry run: nothing was changed");
  }
  fputs(call->text.c_str(), stdout);
}

int RunVerb(const std::string& name, const Verb& verb, Call* call) {
  ProgressLine line("rocktier " + name, !verb.runs_until_stopped() && isatty(STDERR_FILENO) != 0 &&
                                            (verb.lines().empty() || isatty(STDOUT_FILENO) == 0));
  call->progress = line.callback();
  const Status s = verb.run()(call);
  line.Stop();
  PrintAnswer(verb, s, call);
  if (!s.ok()) {
    fprintf(stderr, "rocktier %s: %s\n", name.c_str(), Printable(s.ToString()).c_str());
    return kExitError;
  }
  return call->problems ? kExitProblems : kExitOk;
}

// `words`: those after the verb.
int Execute(const Command& command, const Verb& verb, const Words& words) {
  const std::string name = FullName(command, verb);
  if (AsksForHelp(words)) {
    return PrintHelp(words, VerbHelp(command, verb), VerbAsJson(command, verb));
  }
  Call call;
  const std::string wrong = Parse(verb, words, &call);
  return wrong.empty() ? RunVerb(name, verb, &call) : UsageError(name, words, wrong);
}

// `words`: those after the command.
int Execute(const Command& command, const Words& words) {
  if (command.verbs.empty()) {
    const std::string message = "this rocktier was built without the plugin " + command.plugin;
    PrintError(words, message);
    fprintf(stderr, "rocktier %s: %s\n", command.name.c_str(), message.c_str());
    return kExitError;
  }
  if (command.IsVerb()) {
    return Execute(command, command.verbs.front(), words);
  }
  const auto verb = std::find_if(command.verbs.begin(), command.verbs.end(), [&](const Verb& each) {
    return !words.empty() && each.name() == words[0];
  });
  if (verb != command.verbs.end()) {
    return Execute(command, *verb, {words.begin() + 1, words.end()});
  }
  if (!words.empty() && words[0][0] != '-') {
    return UsageError(command.name, words, "no such verb: " + words[0]);
  }
  return AsksForHelp(words) ? PrintHelp(words, CommandHelp(command), CommandAsJson(command))
                            : UsageError(command.name, words, command.VerbNames() + "?");
}

int Execute(const Words& words) {
  if (words.empty()) {
    fputs(ToolHelp().c_str(), stderr);
    return kExitError;
  }
  for (const Command& command : Commands()) {
    if (command.name == words[0]) {
      return Execute(command, {words.begin() + 1, words.end()});
    }
  }
  if (words[0][0] == '-' && AsksForHelp(words)) {
    return PrintHelp(words, ToolHelp(), ToolAsJson());
  }
  return words[0] == "--version" ? PrintVersion()
                                 : UsageError("", words, "no such command: " + words[0]);
}

// The exit status, once the answer is out: one that is not written to its end is an error.
int Finish(int status) {
  const bool flushed = fflush(stdout) == 0;
  const int error = errno;
  if (status == kExitError || (flushed && ferror(stdout) == 0)) {
    return status;
  }
  fprintf(stderr, "rocktier: stdout: %s\n", flushed ? "not all was written" : strerror(error));
  return kExitError;
}

}  // namespace

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE

int main(int argc, char** argv) {
  namespace rocktier = ROCKSDB_NAMESPACE::rocktier;
  return rocktier::Finish(rocktier::Execute({argv + 1, argv + argc}));
}
