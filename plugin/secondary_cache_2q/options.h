// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/status.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// For RegisterOptions(): how each option is read and written as a string.
const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes();

// Checks the ranges. InvalidArgument that names the option if one is out of range.
Status Validate(const TwoQSecondaryCacheOptions& options);

// num_shard_bits, or what -1 stands for.
int ShardBits(const TwoQSecondaryCacheOptions& options);

// The type that options.compression names; kDisableCompressionOption if the name is not known.
CompressionType CompressionOf(const TwoQSecondaryCacheOptions& options);

// Whether a cache made with `a` is as good as one made with `b`, their capacities aside.
bool SameButCapacity(const TwoQSecondaryCacheOptions& a, const TwoQSecondaryCacheOptions& b);
// Returns the name of an option other than capacity in which they differ.
std::string FirstChange(const TwoQSecondaryCacheOptions& a, const TwoQSecondaryCacheOptions& b);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
