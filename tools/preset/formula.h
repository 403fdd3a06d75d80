// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

// Evaluates a formula: names, numbers with K, M, G or T behind them, + - * / and parentheses, and
// the functions min, max, up and down. Requires a formula that is well-formed.
double Evaluate(const std::string& formula,
                const std::function<double(const std::string&)>& value_of);

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
