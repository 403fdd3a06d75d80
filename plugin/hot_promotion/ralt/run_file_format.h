// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/options.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// User properties of the SST: its Digest, and the bits of the Filter of its hot keys.
constexpr char kDigestProperty[] = "rocktier.ralt.digest";
constexpr char kFilterProperty[] = "rocktier.ralt.filter";

// Returns how the SSTs of the table are written and read.
Options RunFileOptions(Env* env);

// Returns "<directory>/000012.sst".
std::string RunFileName(const std::string& directory, uint64_t number);
// Takes the number out of a name without its directory. False: the name is none of such a file.
bool ParseRunFileName(const std::string& name, uint64_t* number);

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
