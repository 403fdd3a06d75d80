// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Databases that earlier versions have written.

#pragma once

#include <string>

namespace rocktier {

// Returns the path of a file or folder of test/mistakes/data.
std::string SamplePath(const std::string& name);

}  // namespace rocktier
