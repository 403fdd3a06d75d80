// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier completion: scripts for shells, made of the declarations of commands. What is no word of
// ours is the name of a file.

#include <string>
#include <vector>

#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

// In single quotes, for fish.
std::string Quote(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    result += std::string(c == '\'' || c == '\\' ? "\\" : "") + c;
  }
  return result + "'";
}

// The words that a positional may be; none: it is a file. COMMAND is one of our commands.
std::vector<std::string> ChoicesOf(const Parameter& positional) {
  std::vector<std::string> choices = positional.choices;
  if (positional.name == "COMMAND") {
    for (const Command& command : Commands()) {
      choices.push_back(command.name);
    }
  }
  return choices;
}

// What may stand in the place of a verb's arguments. "--size=" waits for its value.
std::string WordsOf(const Verb& verb) {
  std::string words;
  for (const Parameter& positional : verb.positionals()) {
    for (const std::string& choice : ChoicesOf(positional)) {
      words += choice + " ";
    }
  }
  for (const Parameter& flag : verb.FlagsFor(nullptr)) {
    words += "--" + flag.name + (flag.value.empty() ? " " : "= ");
  }
  return words + "--help";
}

std::string Case(const std::string& place, const std::string& words) {
  return "  " + place + ") echo '" + words + "' ;;\n";
}

// A function for bash and zsh that prints the words that may follow: "" is the beginning, "wal" is
// after the command, "wal:ls" after the verb.
std::string WordsFunction() {
  std::string names;
  std::string cases;
  for (const Command& command : Commands()) {
    names += command.name + " ";
    if (command.IsVerb()) {
      cases += Case(command.name + " | " + command.name + ":*", WordsOf(command.verbs.front()));
      continue;
    }
    std::string verbs;
    for (const Verb& verb : command.verbs) {
      verbs += verb.name() + " ";
      cases += Case(command.name + ":" + verb.name(), WordsOf(verb));
    }
    cases += Case(command.name, verbs + "--help");
  }
  return "_rocktier_words() {\n  case $1 in\n" + Case("''", names + "--help --version") + cases +
         "  esac\n}\n\n";
}

std::string Bash() {
  return "# Completion of rocktier: source <(rocktier completion bash)\n\n" + WordsFunction() +
         R"(_rocktier() {
  local current=${COMP_WORDS[COMP_CWORD]} place= word
  case $COMP_CWORD in
  1) ;;
  2) place=${COMP_WORDS[1]} ;;
  *) place=${COMP_WORDS[1]}:${COMP_WORDS[2]} ;;
  esac
  COMPREPLY=()
  for word in $(_rocktier_words "$place"); do
    # Flags are for whoever begins one.
    if [[ $word == "$current"* && ($word != -* || $current == -*) ]]; then
      COMPREPLY+=("$word")
    fi
  done
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -o default -F _rocktier rocktier
)";
}

std::string Zsh() {
  return "#compdef rocktier\n"
         "# Completion of rocktier: a file _rocktier in a folder of $fpath.\n\n" +
         WordsFunction() + R"(_rocktier() {
  local place
  local -a list
  case $CURRENT in
  2) place= ;;
  3) place=$words[2] ;;
  *) place=$words[2]:$words[3] ;;
  esac
  list=(${=$(_rocktier_words "$place")})
  if [[ $words[CURRENT] == -* ]]; then
    compadd -S '' -- ${(M)list:#-*=}
    compadd -- ${${(M)list:#-*}:#*=}
  elif (( ${#${list:#-*}} > 0 )); then
    compadd -- ${list:#-*}
  else
    _files
  fi
}

_rocktier "$@"
)";
}

// A line of fish: `where`: what stands before, "wal ls"; `function` asks for it.
std::string Complete(const std::string& function, const std::string& where, const std::string& what,
                     const std::string& help) {
  return "complete -c rocktier -n '" + function + (where.empty() ? "" : " " + where) + "' " + what +
         " -d " + Quote(help) + "\n";
}

std::string FishFor(const Command& command, const Verb& verb) {
  const std::string name = FullName(command, verb);
  std::string result;
  if (!command.IsVerb()) {
    result += Complete("__rocktier_after", command.name, "-f -a " + verb.name(), verb.summary());
  }
  for (const Parameter& positional : verb.positionals()) {
    for (const std::string& choice : ChoicesOf(positional)) {
      result += Complete("__rocktier_after", name, "-f -a " + choice, positional.help);
    }
  }
  for (const Parameter& flag : verb.FlagsFor(nullptr)) {
    result += Complete("__rocktier_in", name, "-l " + flag.name + (flag.value.empty() ? "" : " -r"),
                       flag.help);
  }
  return result;
}

std::string Fish() {
  std::string result =
      R"(# Completion of rocktier: a file rocktier.fish in ~/.config/fish/completions.

# Whether the words after rocktier are just these.
function __rocktier_after
    set -l words (commandline -opc)
    set -e words[1]
    test "$words" = "$argv"
end

# Whether they begin with these.
function __rocktier_in
    set -l words (commandline -opc)
    set -e words[1]
    for word in $argv
        test "$words[1]" = "$word"; or return 1
        set -e words[1]
    end
end

complete -c rocktier -l help -d 'print help'
)";
  for (const Command& command : Commands()) {
    result += Complete("__rocktier_after", "", "-f -a " + command.name, command.subject);
    for (const Verb& verb : command.verbs) {
      result += FishFor(command, verb);
    }
  }
  return result;
}

Verb For(const std::string& shell, const std::string& help, std::string (*script)()) {
  return Verb(shell, "Prints a script that completes words in " + shell + ".")
      .Help(help)
      .Run([script](Call* call) {
        call->text = script();
        call->json["script"] = call->text;
        return Status::OK();
      });
}

}  // namespace

Command CompletionCommand() {
  Command command("completion", "scripts that complete words in shells");
  command.Add(For("bash", "\"source <(rocktier completion bash)\" turns it on.", Bash));
  command.Add(For("zsh", "It belongs into a file _rocktier in a folder of $fpath.", Zsh));
  command.Add(For("fish", "It belongs into ~/.config/fish/completions/rocktier.fish.", Fish));
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
