// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/status.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Parses the option `tiers`, in the order given, and adds home at the end if it is not there.
//
//   tiers    = tier {";" tier}
//   tier     = name "=" "{" [setting {";" setting}] "}"
//   setting  = "kind" "=" ("path" | "pmem" | "memory") | "path" "=" directory {"," directory}
//            | "budget" "=" size | "cf:" pattern "=" size
//            | "temperature" "=" ("hot" | "warm" | "cold" | ...)
//            | "emulate" "=" "{" [limit {";" limit}] "}"
//   limit    = ("read_latency_us" | "iops") "=" number | "bandwidth" "=" size
//            | "slowdown" "=" factor
//
// Sizes may end in K, M, G or T, a factor is a decimal fraction from 1 on. Paths lose doubled and
// trailing slashes. A comma before a slash separates directories; each is one of the result, next
// to each other. A pattern is one of fnmatch(3), without "/". InvalidArgument names the tier and
// the setting: a name, a setting or a pattern twice, no path, a relative path, one with "..", ";"
// or braces, two tiers with one path, a path or a kind for home, several directories in memory.
Status ParseTiers(const std::string& text, std::vector<TierOptions>* result);

// A text that ParseTiers() turns into these again.
std::string PrintTiers(const std::vector<TierOptions>& tiers);

// Index of the tier with this name, -1 if there is none.
int FindTier(const std::vector<TierOptions>& tiers, const std::string& name);

// Finds what a column family may have of a tier: by the first pattern that fits its name. Null: no
// pattern does, or the name is empty, which is not known.
const FamilyBudget* FindFamilyBudget(const TierOptions& tier, const std::string& family);
// The same in bytes; 0: no limit.
uint64_t FamilyBudgetOf(const TierOptions& tier, const std::string& family);

// Names of temperatures: "hot", "warm", ...; "unknown". False if there is no such.
bool ParseTemperature(const std::string& name, Temperature* result);
std::string PrintTemperature(Temperature temperature);

// Type of an option that holds such a text, a std::string. RocksDB's own for strings writes it
// without the braces that are needed to read it again.
OptionTypeInfo NestedText(int offset);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
