// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Decides where all files of a database shall be, within the budgets of the tiers: a pure function,
// no I/O. Database::FindMisplaced() asks it, and the mover acts. After "WAL-assisted tiering",
// section 3.1: there memory has the levels down to a given one; here levels get room in their
// order, so that no tier has more than its budget.

#pragma once

#include <cstdint>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A file for Plan().
struct PlannedFile {
  uint64_t number = 0;
  uint64_t size = 0;  // bytes
  int level = 0;      // what is at a lower one has the better claim to room
  int tier = 0;       // where it is
  int wanted = 0;     // where it belongs: Placement::TierOf()
  int family = -1;    // its column family, in PlannedTier::families; -1: it has no budgets
};

// What a column family may have of a tier, for Plan().
struct PlannedFamily {
  uint64_t budget = 0;    // bytes; 0: no limit
  uint64_t reserved = 0;  // bytes of it that are not of these files
};

// A tier for Plan().
struct PlannedTier {
  uint64_t budget = 0;    // bytes; 0: no limit
  uint64_t reserved = 0;  // bytes of it that are not of these files
  bool usable = true;     // false: nothing may be put there, and what is there shall leave
  bool closed = false;    // nothing may be put there, and what is there stays
  std::vector<PlannedFamily> families;  // those of the files
};

// Returns where each file shall be, in the order of `files`: where it belongs or, where that has no
// room, in the next tier that has, or, if none after it has, in the nearest before it that has. Of
// the files that want a tier, the lowest levels are first, then those that are there already, then
// the newest. A file that has room nowhere stays where it is, and is not counted there. What is
// beyond the budget of its column family in a tier has no room there. Planning again after the
// moves changes nothing.
std::vector<int> Plan(const std::vector<PlannedFile>& files, const std::vector<PlannedTier>& tiers);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
