// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The help on each level, as text of 80 columns or, with --json, as data.

#pragma once

#include <string>
#include <vector>

#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

std::string ToolHelp();
std::string CommandHelp(const Command& command);
std::string VerbHelp(const Command& command, const Verb& verb);

// The declarations.
Json ToolAsJson();
Json CommandAsJson(const Command& command);
Json VerbAsJson(const Command& command, const Verb& verb);

// Parts of the help that manuals have, too.

// What the tool is for.
std::string ToolSubject();
// "files of ..."; says if it is not built.
std::string SubjectOf(const Command& command);
// "DEVICE [--size=BYTES]".
std::vector<std::string> UsageWords(const Verb& verb);
// "--size=BYTES".
std::string FlagText(const Parameter& flag);
// All paragraphs of a verb: its own, and what follows from its declaration.
std::vector<std::string> ParagraphsOf(const Verb& verb);
std::string ExitStatusOf(const Verb& verb);
std::string ExitStatusOfAll();

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
