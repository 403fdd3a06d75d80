// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "plugin/blob_hybrid/backoff.h"
#include "plugin/blob_hybrid/gc_family.h"

namespace ROCKSDB_NAMESPACE {

class DBImpl;

namespace blob_hybrid {

// The background job of a family: compacts SSTs as long as the family takes too much space.
// GcScheduler calls Step() whenever something may be to do. Used by one thread.
class GcJob {
 public:
  enum class Next { kNothing, kAgain, kLater };

  // `db`, `family` and `monitor` must outlive it.
  GcJob(DBImpl* db, GcFamily* family, GcMonitor* monitor)
      : db_(db), family_(family), options_(family->settings().options), monitor_(monitor) {}

  // Runs one batch of compactions at most.
  Next Step();
  // The time to call Step() again after kLater, by SteadyMicros().
  uint64_t later() const { return later_; }
  // Tells whether nobody says when there is something to do: Step() has to look from time to time.
  bool retries() const { return retry_pause_ > 0; }

 private:
  // What there is, and what is needed.
  struct Situation {
    uint64_t files = 0;  // FilesVersion() before the look
    Survey survey;
    Space space;
    Needs needs;
  };

  bool Rests() const;
  void Rest();
  Next GiveUp(const Status& look);
  Next Act(const Situation& now, HeldFamily* family);
  bool AwaitsOthers(const Situation& now, std::set<uint64_t> foreign);
  std::set<uint64_t> Bad(const Survey& survey);
  // `merge`: for the budget of the log.
  std::vector<Plan> PlanFor(const Situation& now, bool* merge);
  Next CompactAll(const std::vector<Plan>& plans, bool above, bool merge, HeldFamily* family);
  Next Compact(const Plan& plan, bool above, bool merge, HeldFamily* family);
  Next Fail(const Status& why, const Plan& plan, const CompactionJobInfo& info,
            const HeldFamily& family);
  void Count(const CompactionJobInfo& info, bool above, bool merge);
  Next Hold(const HeldFamily& family, const char* by, bool above);
  Next Stay(bool above);
  bool Restart(bool asked);
  bool IsAskedToSettle();
  void Publish(bool above, bool missed) { family_->gate().Publish(above, missed); }

  DBImpl* const db_;
  GcFamily* const family_;
  const BlobHybridOptions& options_;
  GcMonitor* const monitor_;
  std::set<uint64_t> merged_;  // SSTs that early merges have made, and that refer to the log still
  std::set<uint64_t> busy_;    // SSTs that others compact
  Backoff failed_;             // SSTs that compactions have failed with
  // Times are by SteadyMicros().
  uint64_t rest_until_ = 0;  // for gc_bytes_per_second
  uint64_t later_ = 0;
  uint64_t rested_at_ = 0;  // the SuperVersion when nothing was needed; 0: something was
  uint64_t retry_at_ = 0;   // for blob files that stayed
  uint64_t retry_pause_ = 0;
  uint64_t pass_since_ = 0;     // when it began to try these again; 0: it does not
  uint64_t settles_ = 0;        // GcMonitor::settles when files that stayed were tried last
  uint64_t foreign_since_ = 0;  // when it began to wait for a user's compactions; 0: it does not
  bool held_ = false;           // HeldBy(), when it was told
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
