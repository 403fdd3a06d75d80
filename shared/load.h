// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>

namespace rocktier {

// Is called once, after the plugins were registered; `mismatch`: why they were not. librocktier.so
// and the tool have one each. May end the process.
void AfterLoad(const std::string& mismatch);

}  // namespace rocktier
