// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The framework of the tool "rocktier": its commands, their verbs, and what these take and answer.
//
//   rocktier COMMAND VERB ARGUMENTS [--flags]
//
// A plugin adds a command by a file plugin/<plugin>/tools/<name>.cc with a function
//   Command <Name>Command();
// in the namespace ROCKSDB_NAMESPACE::rocktier. Other sources of it may be in
// plugin/<plugin>/tools/<name>/. A command that belongs to no plugin, or to several, is a folder
// tools/<name>/ with a file <name>.cc that has this function, and whatever other sources; one that
// needs plugins asks by `#ifdef ROCKTIER_HAS_<PLUGIN>` (all in capitals) if they are built.
// tools/CMakeLists.txt finds the files, and generates Commands().
//
// Each verb is declared in one place, by the methods of Verb: what parses arguments (parse.h), the
// help (help.h), `rocktier completion`, `rocktier man` and the table in docs/cli.md are all made of
// that. The declaration also brings --json to each verb, --dry-run to those that change something,
// --human to those that print bytes, a progress line on a terminal, and the exit status.
//
//   Command WalCommand() {
//     const auto arguments = std::make_shared<Arguments>();
//     Command command("wal", "log devices of raw_wal_fs");
//     command.Add(Verb("rm", "Frees the space of logs that nobody knows any more.")
//                     .Positional("DEVICE", "a block device or a file", &arguments->device)
//                     .Changes()
//                     .Run([arguments](Call* call) { ... }));
//     return command;
//   }

#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

// Keeps the order of the keys.
using Json = nlohmann::ordered_json;

// Exit statuses; the same for every verb.
enum Exit : int {
  kExitOk = 0,
  kExitProblems = 1,  // what was looked at has problems
  kExitError = 2,     // wrong usage, or it could not be looked at
};

const char* Version();

// Is told how many units are done, of all; from the thread that called, or from others.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

// What a verb is called with besides its own arguments, and its answer.
struct Call {
  bool dry_run = false;  // change nothing, and say what would be done
  bool as_json = false;
  bool human = false;  // bytes in larger units, too
  Progress progress;   // null if nobody looks

  // The answer for people, line by line. What is no text, such as a name that was read from a disk,
  // cannot give orders to the terminal.
  void Line(const std::string& line);
  // Several lines, "name: value" or "name value"; with --human, what is bytes by its name, such as
  // file_bytes or segment_size, is in larger units, too.
  void Facts(const std::string& lines);
  // The answer as text that comes from us, as it is.
  std::string text;
  // The answer for programs. With an error, what had been done before it.
  Json json = Json::object();
  // What was looked at has problems: exit status 1.
  bool problems = false;

  // Prints a line of the answer at once, as text or JSON, for answers that may be long.
  void Print(const std::string& line, const Json& object) const;
};

// A positional or a flag.
struct Parameter {
  std::string name;   // "DEVICE", or without the dashes, "size"
  std::string value;  // what the value of a flag is called, "BYTES"; empty: it takes none
  std::string help;
  bool required = false;
  bool repeated = false;             // may be given several times
  std::vector<std::string> choices;  // its values, for completion; none: files
  // Takes the value. Returns what is wrong with it, empty if nothing is.
  std::function<std::string(const std::string&)> set;
};

class Verb {
 public:
  // `name`: empty if a command is its own verb, as "rocktier man" is. `summary`: a sentence.
  Verb(std::string name, std::string summary)
      : name_(std::move(name)), summary_(std::move(summary)) {}

  // Adds a paragraph to the help.
  Verb& Help(const std::string& paragraph);
  // Positionals, in order. What is optional comes last; its place stays as it was if it is not
  // given.
  Verb& Positional(const std::string& name, const std::string& help, std::string* to);
  Verb& OptionalPositional(const std::string& name, const std::string& help, std::string* to,
                           std::vector<std::string> choices = {});
  // Any number of them, or none; the last of all.
  Verb& Positionals(const std::string& name, const std::string& help, std::vector<std::string>* to);
  // Flags.
  Verb& Switch(const std::string& name, const std::string& help, bool* to);
  Verb& Text(const std::string& name, const std::string& value, const std::string& help,
             std::string* to);
  // May be given several times; must be given at least once if `required`.
  Verb& Texts(const std::string& name, const std::string& value, const std::string& help,
              bool required, std::vector<std::string>* to);
  // Bytes, exactly; see ParseBytes().
  Verb& Bytes(const std::string& name, const std::string& help, uint64_t* to);
  // A number that is not less than `least`.
  Verb& Number(const std::string& name, const std::string& help, double least, double* to);
  // A share of something, and a number of things in a second; see ParsePercent() and ParseRate().
  Verb& Percent(const std::string& name, const std::string& help, double* to);
  Verb& Rate(const std::string& name, const std::string& help, double* to);
  // The flag that was declared last must be given.
  Verb& Required();

  // It changes something, and so has --dry-run.
  Verb& Changes();
  // It prints bytes, and so has --human.
  Verb& PrintsBytes();
  // Whether the database, or whatever it looks at, may be open meanwhile: "yes", "no" or a few
  // words. Default: "-", for what looks at none.
  Verb& MayBeOpen(const std::string& when);
  // It uses Call::Print(), a line for each `what`: with --json each line is an object.
  Verb& PrintsLines(const std::string& what);
  // With --json it prints a list, where others print an object.
  Verb& PrintsList();
  // It goes on until somebody stops it: no progress is shown.
  Verb& RunsUntilStopped();
  // When the exit status is 1: "if damage was found".
  Verb& Problems(const std::string& when);
  // Says what is wrong with the arguments taken together, as text; empty if nothing is.
  Verb& Check(std::function<std::string(const Call&)> check);
  // Does it. An error is printed, and the exit status is 2.
  Verb& Run(std::function<Status(Call*)> run);

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  const std::vector<std::string>& paragraphs() const { return paragraphs_; }
  const std::vector<Parameter>& positionals() const { return positionals_; }
  // All flags, those that verbs have in common included; these set `call`, which may be null if
  // nothing will be set.
  std::vector<Parameter> FlagsFor(Call* call) const;
  bool changes() const { return changes_; }
  bool takes_bytes() const { return takes_bytes_; }
  const std::string& may_be_open() const { return may_be_open_; }
  const std::string& lines() const { return lines_; }  // empty: no such lines
  // What --json prints: "object", "list", or "lines".
  const char* JsonForm() const { return !lines_.empty() ? "lines" : list_ ? "list" : "object"; }
  bool runs_until_stopped() const { return runs_until_stopped_; }
  const std::string& problems() const { return problems_; }
  const std::function<std::string(const Call&)>& check() const { return check_; }
  const std::function<Status(Call*)>& run() const { return run_; }

 private:
  std::string name_;
  std::string summary_;
  std::vector<std::string> paragraphs_;
  std::vector<Parameter> positionals_;
  std::vector<Parameter> flags_;
  bool changes_ = false;
  bool takes_bytes_ = false;
  bool prints_bytes_ = false;
  std::string may_be_open_ = "-";
  std::string lines_;
  bool list_ = false;
  bool runs_until_stopped_ = false;
  std::string problems_;
  std::function<std::string(const Call&)> check_;
  std::function<Status(Call*)> run_;
};

struct Command {
  // `subject`: what it is about, a few words.
  Command(std::string name_of_it, std::string subject_of_it)
      : name(std::move(name_of_it)), subject(std::move(subject_of_it)) {}

  // Adds a paragraph to the help.
  void Help(const std::string& paragraph) { paragraphs.push_back(paragraph); }
  void Add(const Verb& verb) { verbs.push_back(verb); }
  // Whether it is its own verb.
  bool IsVerb() const { return verbs.size() == 1 && verbs.front().name().empty(); }
  // The verbs' names, joined: "a, b or c".
  std::string VerbNames() const;

  std::string name;
  std::string subject;
  std::vector<std::string> paragraphs;
  std::vector<Verb> verbs;  // none: its plugin is not built
  std::string plugin;       // set by Commands(); empty: it belongs to none
};

// All commands: of each plugin/*/tools/*.cc in the source tree, then of each tools/*/.
const std::vector<Command>& Commands();

// "wal format", or "man".
inline std::string FullName(const Command& command, const Verb& verb) {
  return command.name + (verb.name().empty() ? "" : " " + verb.name());
}

// One line of JSON. What is no UTF-8 in names becomes U+FFFD.
std::string Dump(const Json& json);

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
