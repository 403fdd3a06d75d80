// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/help.h"

#include <algorithm>

#include "tools/output.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

// "  NAME   text", with the text in a column of its own.
struct Entry {
  std::string name;
  std::string text;
};

std::string List(const std::string& title, const std::vector<Entry>& entries) {
  if (entries.empty()) {
    return "";
  }
  size_t width = 0;
  for (const Entry& entry : entries) {
    width = std::max(width, entry.name.size());
  }
  std::string result = "\n" + title + ":\n";
  const std::string indent(width + 4, ' ');
  for (const Entry& entry : entries) {
    const std::string blanks(width - entry.name.size() + 2, ' ');
    result += Wrap(entry.text, "  " + entry.name + blanks, indent);
  }
  return result;
}

// "Usage: rocktier wal ls DEVICE [--json]"; what does not fit goes below the first argument.
std::string Usage(const std::string& begin, const Command& command, const Verb& verb) {
  const std::string first = begin + "rocktier " + FullName(command, verb) + " ";
  const std::string indent(first.size(), ' ');
  std::string result;
  std::string line = first;
  for (const std::string& word : UsageWords(verb)) {
    if (line.size() > indent.size() && line.size() + 1 + word.size() > 80) {
      result += line + "\n";
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + word;
  }
  return result + line + "\n";
}

std::string Paragraphs(const std::vector<std::string>& paragraphs) {
  std::string result;
  for (const std::string& paragraph : paragraphs) {
    result += "\n" + Wrap(paragraph, "", "");
  }
  return result;
}

Json AsJson(const Parameter& parameter, bool is_flag) {
  Json json;
  json["name"] = parameter.name;
  if (is_flag) {
    json["value"] = parameter.value;
  }
  json["repeated"] = parameter.repeated;
  json["required"] = parameter.required;
  json["choices"] = parameter.choices;
  json["help"] = parameter.help;
  return json;
}

}  // namespace

std::string ToolSubject() {
  return "looks at the files that the rocktier plugins of RocksDB write, repairs and moves them";
}

std::string SubjectOf(const Command& command) {
  return command.subject + (command.verbs.empty() ? " (not built)" : "");
}

std::string FlagText(const Parameter& flag) {
  return "--" + flag.name + (flag.value.empty() ? "" : "=" + flag.value);
}

std::vector<std::string> UsageWords(const Verb& verb) {
  std::vector<std::string> words;
  for (const Parameter& positional : verb.positionals()) {
    const std::string name = positional.name + (positional.repeated ? "..." : "");
    words.push_back(positional.required ? name : "[" + name + "]");
  }
  for (const Parameter& flag : verb.FlagsFor(nullptr)) {
    const std::string text = flag.required ? FlagText(flag) : "[" + FlagText(flag) + "]";
    words.push_back(text + (flag.repeated ? "..." : ""));
  }
  return words;
}

std::string ExitStatusOf(const Verb& verb) {
  return "0" + (verb.problems().empty() ? "" : "; 1 " + verb.problems()) +
         "; 2 for wrong usage and errors.";
}

std::string ExitStatusOfAll() {
  return "0 if all is well; 1 if problems were found; 2 for wrong usage and errors.";
}

std::vector<std::string> ParagraphsOf(const Verb& verb) {
  std::vector<std::string> paragraphs = verb.paragraphs();
  if (verb.takes_bytes()) {
    paragraphs.push_back(
        "BYTES may end in K, M, G, T, KiB, MiB, GiB or TiB, which are powers of 1024.");
  }
  return paragraphs;
}

std::string VerbHelp(const Command& command, const Verb& verb) {
  std::vector<Entry> positionals;
  for (const Parameter& positional : verb.positionals()) {
    positionals.push_back({positional.name, positional.help});
  }
  std::vector<Entry> flags;
  for (const Parameter& flag : verb.FlagsFor(nullptr)) {
    flags.push_back({FlagText(flag), flag.help});
  }
  return Usage("Usage: ", command, verb) + "\n" + Wrap(verb.summary(), "", "") +
         Paragraphs(ParagraphsOf(verb)) + List("Arguments", positionals) + List("Flags", flags) +
         "\n" + Wrap(ExitStatusOf(verb), "Exit status: ", "");
}

std::string CommandHelp(const Command& command) {
  if (command.IsVerb()) {
    return VerbHelp(command, command.verbs.front());
  }
  std::string usage;
  std::vector<Entry> verbs;
  for (const Verb& verb : command.verbs) {
    usage += Usage(usage.empty() ? "Usage: " : "       ", command, verb);
    verbs.push_back({verb.name(), verb.summary()});
  }
  return usage + Paragraphs(command.paragraphs) + List("Verbs", verbs) + "\n" +
         Wrap("rocktier " + command.name + " VERB --help says more of a verb.", "", "") + "\n" +
         Wrap(ExitStatusOfAll(), "Exit status: ", "");
}

std::string ToolHelp() {
  std::string subject = ToolSubject();
  subject[0] = static_cast<char>(subject[0] - 'a' + 'A');
  std::vector<Entry> commands;
  for (const Command& command : Commands()) {
    commands.push_back({command.name, SubjectOf(command)});
  }
  return Wrap(subject + ".", "", "") +
         "\n"
         "Usage: rocktier COMMAND VERB ARGUMENTS [--flags]\n"
         "       rocktier COMMAND [VERB] --help\n"
         "       rocktier --help | --version\n" +
         List("Commands", commands) + "\n" +
         Wrap(
             "With --json the answer is one line of JSON on stdout, also if it is an error: "
             "{\"error\": ...}. With --dry-run, which whatever changes something has, nothing is "
             "changed.",
             "", "") +
         "\n" + Wrap(ExitStatusOfAll(), "Exit status: ", "");
}

Json VerbAsJson(const Command& command, const Verb& verb) {
  Json json;
  json["name"] = FullName(command, verb);
  json["summary"] = verb.summary();
  std::string usage;
  for (const std::string& word : UsageWords(verb)) {
    usage += (usage.empty() ? "" : " ") + word;
  }
  json["usage"] = usage;
  json["changes"] = verb.changes();
  json["may_be_open"] = verb.may_be_open();
  json["json"] = verb.JsonForm();
  json["exit_status"] = ExitStatusOf(verb);
  json["positionals"] = Json::array();
  for (const Parameter& positional : verb.positionals()) {
    json["positionals"].push_back(AsJson(positional, /*is_flag=*/false));
  }
  json["flags"] = Json::array();
  for (const Parameter& flag : verb.FlagsFor(nullptr)) {
    json["flags"].push_back(AsJson(flag, /*is_flag=*/true));
  }
  return json;
}

Json CommandAsJson(const Command& command) {
  Json json;
  json["name"] = command.name;
  json["subject"] = command.subject;
  json["plugin"] = command.plugin;
  json["built"] = !command.verbs.empty();
  json["verbs"] = Json::array();
  for (const Verb& verb : command.verbs) {
    json["verbs"].push_back(VerbAsJson(command, verb));
  }
  return json;
}

Json ToolAsJson() {
  Json json;
  json["version"] = Version();
  json["commands"] = Json::array();
  for (const Command& command : Commands()) {
    json["commands"].push_back(CommandAsJson(command));
  }
  return json;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
