// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The one file that knows CLI11.

#include "tools/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tools/help.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

// Declares a positional or a flag for CLI11. `name`: as CLI11 has it.
void Declare(const Parameter& parameter, const std::string& name, bool is_switch, CLI::App* app) {
  const auto take = [name, set = parameter.set](const CLI::results_t& values) {
    for (const std::string& value : values) {
      const std::string wrong = set(value);
      if (!wrong.empty()) {
        throw CLI::ValidationError(name, wrong);
      }
    }
    return true;
  };
  if (is_switch) {
    app->add_flag_callback(name, [set = parameter.set] { set(""); })->disable_flag_override();
    return;
  }
  CLI::Option* const option = app->add_option(name, take)->required(parameter.required);
  if (parameter.repeated) {
    // A flag takes one each time; a positional, all words that are left.
    option->take_all()->allow_extra_args(option->get_positional());
  }
}

// What was given and is not known, a flag before all others.
std::string Unknown(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining();
  const auto flag = std::find_if(left.begin(), left.end(),
                                 [](const std::string& word) { return word[0] == '-'; });
  if (flag != left.end()) {
    return "takes no " + flag->substr(0, flag->find('='));
  }
  return left.empty() ? "" : "one argument too many: " + left.front();
}

// The first required parameter that nothing was given for.
std::string Missing(const Verb& verb, const CLI::App& app) {
  for (const Parameter& parameter : verb.positionals()) {
    if (parameter.required && app.count(parameter.name) == 0) {
      return parameter.name + " is missing";
    }
  }
  for (const Parameter& flag : verb.FlagsFor(nullptr)) {
    if (flag.required && app.count("--" + flag.name) == 0) {
      return FlagText(flag) + " is missing";
    }
  }
  return "";
}

constexpr char kOneValue[] = ": exactly one value is needed";

// Returns the first flag without its value, or "". CLI11 would take the next word for it, such as
// --dry-run.
std::string WithoutValue(const std::vector<Parameter>& flags,
                         const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin(); word != end; ++word) {
    for (const Parameter& flag : flags) {
      const bool is_bare = *word == "--" + flag.name;
      const bool is_last = word + 1 == end;
      if (!flag.value.empty() && (*word == "--" + flag.name + "=" ||
                                  (is_bare && (is_last || word[1].empty() || word[1][0] == '-')))) {
        return "--" + flag.name;
      }
    }
  }
  return "";
}

// Says in our words how many values a flag takes. `what`: in CLI11's, which begin with its name.
std::string Mismatch(const std::string& what) {
  const std::string name = what.substr(0, what.find_first_of(": "));
  return name[0] == '-' ? name + kOneValue : name + ": takes no value";
}

}  // namespace

std::string Parse(const Verb& verb, const std::vector<std::string>& arguments, Call* call) {
  CLI::App app;
  app.set_help_flag();
  for (const Parameter& positional : verb.positionals()) {
    Declare(positional, positional.name, /*is_switch=*/false, &app);
  }
  for (const Parameter& flag : verb.FlagsFor(call)) {
    Declare(flag, "--" + flag.name, flag.value.empty(), &app);
  }
  const std::string empty = WithoutValue(verb.FlagsFor(nullptr), arguments);
  if (!empty.empty()) {
    return empty + kOneValue;
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // from the end
  } catch (const CLI::RequiredError&) {
    const std::string unknown = Unknown(app);
    return unknown.empty() ? Missing(verb, app) : unknown;
  } catch (const CLI::ExtrasError&) {
    return Unknown(app);
  } catch (const CLI::ArgumentMismatch& error) {
    return Mismatch(error.what());
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return verb.check() ? verb.check()(*call) : "";
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
