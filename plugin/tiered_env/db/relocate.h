// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/files/namespace.h"
#include "rocksdb/rate_limiter.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// MoveHooks: what whoever has files open does about moves.
struct MoveHooks {
  // Called when a file is missing: whether what a tier in memory has lost of an open database is
  // there again.
  std::function<bool(const std::string& path, const Place& place)> bring_back;
  // Called when a name stands for another place, and before the old file is deleted.
  std::function<void(const std::string& path)> moved;
};

// Puts files into other tiers: for the mover, for what must leave memory, and for tools.
// Thread-safe.
class Relocator {
 public:
  Relocator(Namespace* names, MoveHooks hooks) : names_(names), hooks_(std::move(hooks)) {}

  Namespace* names() const { return names_; }

  // Puts a file into another tier. Aborted if it is not where it was, any more, NoSpace if there is
  // no room. A crash leaves it in one of the two, whole. `limiter` may be null. `anyway`: whatever
  // the budget.
  IOStatus Move(Database* database, const Database::Misplaced& file, RateLimiter* limiter,
                bool anyway = false);
  // Puts an SST from a volatile tier into a durable one, for it must not stay, whatever the
  // budgets: into file->to, if that is not null, or if that fails into the first in the order of
  // spilling that takes it. Leaves in file->to which one has it, or should have been the first to.
  // The first error.
  IOStatus BringAway(Database* database, Database::Misplaced* file, RateLimiter* limiter);
  // Takes the bytes of a file from the budgets of where it shall be, as Move() does first.
  static IOStatus TakeRoom(Database* database, const Database::Misplaced& file, bool anyway);
  // Tells in the LOG and the statistics how a move has ended.
  void Report(const std::string& path, const Database::Misplaced& file,
              const IOStatus& result) const;

 private:
  IOStatus MoveInto(Database* database, const Database::Misplaced& file, RateLimiter* limiter,
                    bool* swapped);
  // Finds the file, which must be where the move shall begin, and whole.
  IOStatus FindSource(const std::string& path, const Database::Misplaced& file, Place* from) const;
  IOStatus CheckRoom(const Place& place, uint64_t bytes) const;
  // Makes the copy, and its name in the tier, durable.
  IOStatus CopyOver(Database* database, const std::string& path, const Place& from, const Place& to,
                    uint64_t size, RateLimiter* limiter);
  // Gives the name to the copy; `swapped`: it may have it.
  IOStatus Swap(const std::string& path, const Place& from, const Place& to, bool* swapped);

  Namespace* const names_;
  const MoveHooks hooks_;
  std::atomic<uint64_t> copies_home_{0};  // that were begun: each has a name of its own
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
