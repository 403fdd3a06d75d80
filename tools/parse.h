// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>
#include <vector>

#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

// Hands the arguments of a verb, those after its name, to whatever they were declared for, and sets
// `call`. Returns what is wrong with them; empty if nothing is.
std::string Parse(const Verb& verb, const std::vector<std::string>& arguments, Call* call);

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
