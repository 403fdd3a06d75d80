// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/command.h"

#include <cstdio>
#include <sstream>

#include "tools/output.h"
#include "tools/units.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

std::function<std::string(const std::string&)> Into(std::string* to) {
  return [to](const std::string& value) {
    *to = value;
    return std::string();
  };
}

std::function<std::string(const std::string&)> Onto(std::vector<std::string>* to) {
  return [to](const std::string& value) {
    to->push_back(value);
    return std::string();
  };
}

std::string NoSuchValue(const std::string& value) { return "no such value: " + value; }

Parameter SwitchFor(const std::string& name, const std::string& help, bool* to) {
  Parameter flag;
  flag.name = name;
  flag.help = help;
  flag.set = [to](const std::string&) {
    *to = true;
    return std::string();
  };
  return flag;
}

}  // namespace

void Call::Line(const std::string& line) { text += Printable(line) + "\n"; }

void Call::Facts(const std::string& lines) {
  std::istringstream each(lines);
  for (std::string line; std::getline(each, line);) {
    Line(human ? WithHumanBytes(line) : line);
  }
}

void Call::Print(const std::string& line, const Json& object) const {
  printf("%s\n", (as_json ? Dump(object) : Printable(line)).c_str());
}

std::string Dump(const Json& json) {
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

Verb& Verb::Help(const std::string& paragraph) {
  paragraphs_.push_back(paragraph);
  return *this;
}

Verb& Verb::Positional(const std::string& name, const std::string& help, std::string* to) {
  OptionalPositional(name, help, to);
  positionals_.back().required = true;
  return *this;
}

Verb& Verb::OptionalPositional(const std::string& name, const std::string& help, std::string* to,
                               std::vector<std::string> choices) {
  Parameter parameter;
  parameter.name = name;
  parameter.help = help;
  parameter.choices = std::move(choices);
  parameter.set = Into(to);
  positionals_.push_back(std::move(parameter));
  return *this;
}

Verb& Verb::Positionals(const std::string& name, const std::string& help,
                        std::vector<std::string>* to) {
  OptionalPositional(name, help, nullptr);
  positionals_.back().repeated = true;
  positionals_.back().set = Onto(to);
  return *this;
}

Verb& Verb::Switch(const std::string& name, const std::string& help, bool* to) {
  flags_.push_back(SwitchFor(name, help, to));
  return *this;
}

Verb& Verb::Text(const std::string& name, const std::string& value, const std::string& help,
                 std::string* to) {
  Parameter flag;
  flag.name = name;
  flag.value = value;
  flag.help = help;
  flag.set = Into(to);
  flags_.push_back(std::move(flag));
  return *this;
}

Verb& Verb::Texts(const std::string& name, const std::string& value, const std::string& help,
                  bool required, std::vector<std::string>* to) {
  Text(name, value, help, nullptr);
  flags_.back().required = required;
  flags_.back().repeated = true;
  flags_.back().set = Onto(to);
  return *this;
}

Verb& Verb::Bytes(const std::string& name, const std::string& help, uint64_t* to) {
  Text(name, "BYTES", help, nullptr);
  flags_.back().set = [to](const std::string& text) {
    return ParseBytes(text, to) ? "" : NoSuchValue(text);
  };
  takes_bytes_ = true;
  return *this;
}

Verb& Verb::Number(const std::string& name, const std::string& help, double least, double* to) {
  Text(name, "N", help, nullptr);
  flags_.back().set = [least, to](const std::string& text) {
    return ParseDouble(text, to) && *to >= least ? "" : NoSuchValue(text);
  };
  return *this;
}

Verb& Verb::Percent(const std::string& name, const std::string& help, double* to) {
  Text(name, "PERCENT", help, nullptr);
  flags_.back().set = [to](const std::string& text) {
    return ParsePercent(text, to) ? "" : NoSuchValue(text);
  };
  return *this;
}

Verb& Verb::Rate(const std::string& name, const std::string& help, double* to) {
  Text(name, "RATE", help, nullptr);
  flags_.back().set = [to](const std::string& text) {
    return ParseRate(text, to) ? "" : NoSuchValue(text);
  };
  return *this;
}

Verb& Verb::Required() {
  flags_.back().required = true;
  return *this;
}

Verb& Verb::Changes() {
  changes_ = true;
  return *this;
}

Verb& Verb::PrintsBytes() {
  prints_bytes_ = true;
  return *this;
}

Verb& Verb::MayBeOpen(const std::string& when) {
  may_be_open_ = when;
  return *this;
}

Verb& Verb::PrintsLines(const std::string& what) {
  lines_ = what;
  return *this;
}

Verb& Verb::PrintsList() {
  list_ = true;
  return *this;
}

Verb& Verb::RunsUntilStopped() {
  runs_until_stopped_ = true;
  return *this;
}

Verb& Verb::Problems(const std::string& when) {
  problems_ = when;
  return *this;
}

Verb& Verb::Check(std::function<std::string(const Call&)> check) {
  check_ = std::move(check);
  return *this;
}

Verb& Verb::Run(std::function<Status(Call*)> run) {
  run_ = std::move(run);
  return *this;
}

std::vector<Parameter> Verb::FlagsFor(Call* call) const {
  static Call nobody;
  Call* const to = call != nullptr ? call : &nobody;
  std::vector<Parameter> flags = flags_;
  if (changes_) {
    flags.push_back(
        SwitchFor("dry-run", "change nothing, and say what would be done", &to->dry_run));
  }
  if (prints_bytes_) {
    flags.push_back(SwitchFor("human", "print bytes in larger units, too", &to->human));
  }
  flags.push_back(SwitchFor("json",
                            std::string("print a JSON ") + (list_ ? "list" : "object") +
                                (lines_.empty() ? "" : " for each " + lines_) + ", on one line",
                            &to->as_json));
  return flags;
}

std::string Command::VerbNames() const {
  std::string names;
  for (size_t i = 0; i < verbs.size(); i++) {
    names += (i == 0 ? "" : i + 1 < verbs.size() ? ", " : " or ") + verbs[i].name();
  }
  return names;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
