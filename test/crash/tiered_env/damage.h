// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <random>
#include <string>

namespace rocktier {

// What may become of the directory of a tier in memory while nobody has it open: nothing, or all or some files are
// deleted, cut off, changed, exchanged, or those of an earlier time again. `older`: a directory for a copy of
// it. Returns what it was.
std::string DamageTier(const std::string& directory, const std::string& older,
                       std::mt19937_64* random);

}  // namespace rocktier
