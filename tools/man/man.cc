// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier man: manuals, made of the declarations of commands.

#include <memory>
#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/help.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

// Text for roff: nothing in it is an order, and hyphens can be copied as they are.
std::string Escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return result.find_first_of(".'") == 0 ? "\\&" + result : result;
}

std::string Line(const std::string& text) { return Escape(text) + "\n"; }

std::string Bold(const std::string& text) { return "\\fB" + Escape(text) + "\\fR"; }

std::string Entry(const std::string& name, const std::string& text) {
  return ".TP\n" + Bold(name) + "\n" + Line(text);
}

std::string Head(const std::string& name, const std::string& subject) {
  std::string title = name;
  for (char& c : title) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return ".TH " + Escape(title) + " 1 \"\" \"rocktier " + Version() + "\" \"rocktier\"\n" +
         ".SH NAME\n" + Escape(name) + " \\- " + Line(subject);
}

std::string Synopsis(const Command& command, const Verb& verb) {
  std::string line = Bold("rocktier " + FullName(command, verb));
  for (const std::string& word : UsageWords(verb)) {
    line += " " + Escape(word);
  }
  return line + "\n";
}

std::string Paragraphs(const std::vector<std::string>& paragraphs) {
  std::string result;
  for (const std::string& paragraph : paragraphs) {
    result += ".PP\n" + Line(paragraph);
  }
  return result;
}

std::string SectionOf(const Command& command, const Verb& verb) {
  std::string result = ".SS \"rocktier " + Escape(FullName(command, verb)) + "\"\n" +
                       Line(verb.summary()) + Paragraphs(ParagraphsOf(verb));
  for (const Parameter& positional : verb.positionals()) {
    result += Entry(positional.name, positional.help);
  }
  for (const Parameter& flag : verb.FlagsFor(nullptr)) {
    result += Entry(FlagText(flag), flag.help);
  }
  return result + ".PP\n" + Line("Exit status: " + ExitStatusOf(verb));
}

std::string ManualOf(const Command& command) {
  std::string result = Head("rocktier-" + command.name, SubjectOf(command)) + ".SH SYNOPSIS\n.nf\n";
  for (const Verb& verb : command.verbs) {
    result += Synopsis(command, verb);
  }
  result += ".fi\n";
  if (!command.paragraphs.empty()) {
    result += ".SH DESCRIPTION\n" + Paragraphs(command.paragraphs);
  }
  result += ".SH " + std::string(command.IsVerb() ? "OPTIONS" : "VERBS") + "\n";
  for (const Verb& verb : command.verbs) {
    result += SectionOf(command, verb);
  }
  return result + ".SH SEE ALSO\n" + Bold("rocktier") + "(1)\n";
}

std::string Manual() {
  std::string result = Head("rocktier", ToolSubject()) + ".SH SYNOPSIS\n" + Bold("rocktier") +
                       " COMMAND VERB ARGUMENTS [" + Escape("--flags") + "]\n.SH COMMANDS\n";
  std::string others;
  for (const Command& command : Commands()) {
    result += Entry("rocktier-" + command.name + "(1)", SubjectOf(command));
    others += (others.empty() ? "" : ",\n") + Bold("rocktier-" + command.name) + "(1)";
  }
  return result + ".SH OPTIONS\n" +
         Entry("--help", "print help, on each level; with --json, the declarations as data") +
         Entry("--version", "print the version, and the plugins of the build") +
         ".SH EXIT STATUS\n" + Line(ExitStatusOfAll()) + ".SH SEE ALSO\n" + others + "\n";
}

Status Print(const std::string& name, Call* call) {
  if (name.empty()) {
    call->text = Manual();
  }
  for (const Command& command : Commands()) {
    if (command.name == name) {
      call->text = ManualOf(command);
    }
  }
  call->json["roff"] = call->text;
  return call->text.empty() ? Status::NotFound("no such command", name) : Status::OK();
}

}  // namespace

Command ManCommand() {
  const auto name = std::make_shared<std::string>();
  Command command("man", "manuals");
  command.Add(Verb("", "Prints the manual of the tool or of a command, in roff.")
                  .Help("\"rocktier man wal | man -l -\" shows one.")
                  .OptionalPositional("COMMAND", "a command; none: the tool itself", name.get())
                  .Run([name](Call* call) { return Print(*name, call); }));
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
