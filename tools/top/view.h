// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>
#include <vector>

#include "tools/top/sample.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace top {

// A sample as lines of at most 80 columns. They cannot give orders to a terminal.
std::vector<std::string> LinesOf(const Sample& sample);

}  // namespace top
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
