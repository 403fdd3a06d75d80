// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/gc_job.h"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "logging/logging.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/family.h"
#include "plugin/blob_hybrid/gc_compaction.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// Microseconds.
constexpr uint64_t kLater = 100 * 1000;  // unless a flush or a compaction ends before
constexpr uint64_t kForeign = 500 * 1000;
constexpr uint64_t kMinRetry = 1000 * 1000;
constexpr uint64_t kMaxRetry = 64 * kMinRetry;

// Drops SSTs that do not refer to the log any more.
void KeepReferring(const Survey& survey, std::set<uint64_t>* numbers) {
  std::set<uint64_t> kept;
  for (const SstInfo& sst : survey.ssts) {
    if (sst.medium_bytes > 0 && numbers->count(sst.number) > 0) {
      kept.insert(sst.number);
    }
  }
  numbers->swap(kept);
}

}  // namespace

// Tells whether to rest for gc_bytes_per_second: not if somebody waits.
bool GcJob::Rests() const { return !family_->gate().IsAwaited() && SteadyMicros() < rest_until_; }

GcJob::Next GcJob::Step() {
  if (Rests()) {
    later_ = rest_until_;
    return Next::kLater;
  }
  HeldFamily family = family_->Hold();
  if (!family) {
    Rest();
    family_->NoteDropped();
    return Next::kNothing;
  }
  // Counts up with each flush and compaction, and with options: what a look would find does not
  // change without it.
  const uint64_t version = family.data()->GetSuperVersionNumber();
  if (version == rested_at_) {
    return Next::kNothing;
  }
  rested_at_ = 0;
  family_->EndCalm();
  Situation now;
  now.files = family_->FilesVersion();
  GcFamily::Findings found;
  Status s = family_->Look(&found);
  if (!s.ok()) {
    return GiveUp(s);
  }
  family_->UpdateCrowded(found.space);
  const bool ours = family_->IsOurs(found);
  now.space = found.space;
  now.needs = NeedsOf(now.space, ours, options_);
  if (!now.needs.any()) {
    Rest();
    rested_at_ = version;
    family_->BeginCalm(now.files, ours && IsAbove(now.space, options_));
    return Next::kNothing;
  }
  family_->gate().SetSpace(now.space.disk_bytes);
  TEST_SYNC_POINT("GcJob::Step:Looked");
  const char* const by = HeldBy(db_, family.data());
  if (by != nullptr) {
    return Hold(family, by, now.needs.above);
  }
  s = family_->surveyor().Take(db_, family.data(), &now.survey);
  if (!s.ok()) {
    return GiveUp(s);
  }
  held_ = false;
  return Act(now, &family);
}

// Does nothing about what is not known, but looks on if there is more to read. Flushes do not wait
// for that.
GcJob::Next GcJob::GiveUp(const Status& look) {
  Publish(false, false);
  return look.IsIncomplete() ? Next::kAgain : Next::kNothing;
}

// Rests: nothing is needed.
void GcJob::Rest() {
  family_->progress().Rest();
  merged_.clear();
  busy_.clear();
  retry_pause_ = 0;
  pass_since_ = 0;
  foreign_since_ = 0;
  held_ = false;
  Publish(false, false);
}

// Acts: something is needed, and nothing holds the job.
GcJob::Next GcJob::Act(const Situation& now, HeldFamily* family) {
  std::set<uint64_t> foreign = InCompaction(db_, family->data());
  busy_.insert(foreign.begin(), foreign.end());
  bool merge = false;
  const std::vector<Plan> plans = PlanFor(now, &merge);
  if (plans.empty() && !busy_.empty() && AwaitsOthers(now, std::move(foreign))) {
    later_ = SteadyMicros() + kLater;
    return Next::kLater;
  }
  if (plans.empty()) {
    foreign_since_ = 0;
    if (family_->FilesVersion() == now.files) {
      return Stay(now.needs.above);
    }
    // What is needed may have been found with files that have been compacted since.
    Publish(now.needs.above, false);
    return Next::kAgain;
  }
  Publish(now.needs.above, false);
  return CompactAll(plans, now.needs.above, merge, family);
}

// Tells whether compactions that are under way may help; `foreign`: their inputs. Flushes wait for
// RocksDB's own; how long a user's take nobody knows.
bool GcJob::AwaitsOthers(const Situation& now, std::set<uint64_t> foreign) {
  bool merge = false;
  const bool automatic = family_->RemoveAutomatic(&foreign);
  busy_ = std::move(foreign);
  const bool waits = automatic && !PlanFor(now, &merge).empty();
  busy_.clear();
  if (!waits && PlanFor(now, &merge).empty()) {
    return false;
  }
  // RocksDB tells of its own a moment after they have begun.
  const uint64_t time = SteadyMicros();
  if (waits) {
    foreign_since_ = 0;
  } else if (foreign_since_ == 0) {
    foreign_since_ = time;
  }
  if (!waits && time - foreign_since_ > kForeign) {
    Publish(false, IsAbove(now.space, options_) || IsLogAbove(now.space, options_));
  } else {
    Publish(now.needs.above, false);
  }
  return true;
}

// The SSTs that cannot be read, or that a compaction has failed with a while ago.
std::set<uint64_t> GcJob::Bad(const Survey& survey) {
  std::set<uint64_t> bad;
  std::set<uint64_t> there;
  for (const SstInfo& sst : survey.ssts) {
    there.insert(there.end(), sst.number);
    if (sst.unread) {
      bad.insert(sst.number);
    }
  }
  failed_.Keep(there);
  bad.merge(failed_.Resting(SteadyMicros()));
  return bad;
}

std::vector<Plan> GcJob::PlanFor(const Situation& now, bool* merge) {
  std::vector<Plan> plans;
  const std::set<uint64_t> bad = Bad(now.survey);
  std::set<uint64_t> left = busy_;
  left.insert(bad.begin(), bad.end());
  if (!now.needs.log) {
    merged_.clear();
  } else {
    KeepReferring(now.survey, &merged_);
    const Plan plan = PickMerge(now.survey, options_.merge_level, merged_, left);
    *merge = !plan.inputs.empty();
    if (*merge) {
      plans.push_back(plan);
    }
  }
  if (!now.needs.space) {
    family_->progress().Rest();
    return plans;
  }
  const Since since = family_->progress().Track(now.survey, bad);
  if (plans.empty()) {
    plans = PickCompactions(now.survey, now.space, since, left, options_);
  }
  return plans;
}

// Runs a batch, as far as nothing else comes up.
GcJob::Next GcJob::CompactAll(const std::vector<Plan>& plans, bool above, bool merge,
                              HeldFamily* family) {
  Next next = Next::kAgain;
  for (const Plan& plan : plans) {
    if (family->data()->IsDropped() || (!above && Rests()) ||
        HeldBy(db_, family->data()) != nullptr) {
      break;  // the next look tells
    }
    next = Compact(plan, above, merge, family);
    std::lock_guard<std::mutex> lock(monitor_->mutex);
    if (next != Next::kAgain || monitor_->ends()) {
      break;
    }
  }
  return next;
}

GcJob::Next GcJob::Compact(const Plan& plan, bool above, bool merge, HeldFamily* family) {
  CompactionJobInfo info;
  const Status s = RunCompaction(db_, family, plan, &info);
  if (s.ok()) {
    foreign_since_ = 0;
    Count(info, above, merge);
    return Next::kAgain;
  }
  if (s.IsAborted()) {
    for (const SstInfo& sst : plan.inputs) {
      busy_.insert(sst.number);
    }
    return Next::kAgain;
  }
  if (s.IsShutdownInProgress()) {
    std::lock_guard<std::mutex> lock(monitor_->mutex);
    monitor_->closing = true;
    monitor_->changed.notify_all();
    return Next::kNothing;
  }
  const bool failed = !s.IsColumnFamilyDropped() && !s.IsIncomplete();
  const Next next = failed ? Fail(s, plan, info, *family) : Next::kNothing;
  if (next == Next::kNothing) {
    Publish(false, above);
  }
  return next;
}

// Leaves the SSTs alone that a compaction has failed with. If it is not their bytes that are wrong
// others would fail as well: they are not tried at once.
GcJob::Next GcJob::Fail(const Status& why, const Plan& plan, const CompactionJobInfo& info,
                        const HeldFamily& family) {
  const uint64_t now = SteadyMicros();
  uint64_t pause = 0;
  for (const uint64_t sst : BlamedFor(why, plan, info)) {
    pause = std::max(pause, failed_.Fail(sst, now));
  }
  family_->settings().counters->job_errors++;
  ROCKS_LOG_ERROR(
      ImmutableOf(*family.data()).logger,
      "BlobHybrid: compaction for space of column family %s: the SSTs at fault are left "
      "alone for %" PRIu64 " s: %s",
      family.name(), pause / Backoff::kFirst, why.ToString().c_str());
  if (retry_pause_ == 0) {  // nobody tells when it is over
    retry_pause_ = kMinRetry;
    retry_at_ = now + retry_pause_;
  }
  return why.IsCorruption() ? Next::kAgain : Next::kNothing;
}

// Counts a compaction that has been done.
void GcJob::Count(const CompactionJobInfo& info, bool above, bool merge) {
  const uint64_t bytes = info.stats.total_output_bytes + info.stats.total_output_bytes_blob;
  Counters& counters = *family_->settings().counters;
  counters.jobs++;
  counters.log_jobs += merge ? 1 : 0;
  counters.job_bytes += bytes;
  if (merge) {
    for (const CompactionFileInfo& output : info.output_file_infos) {
      merged_.insert(output.file_number);
    }
  }
  if (options_.gc_bytes_per_second > 0 && !above) {
    rest_until_ =
        SteadyMicros() + static_cast<uint64_t>(static_cast<double>(bytes) * 1e6 /
                                               static_cast<double>(options_.gc_bytes_per_second));
  }
}

// Holds the job: somebody wants nothing to be compacted now.
GcJob::Next GcJob::Hold(const HeldFamily& family, const char* by, bool above) {
  if (!held_) {
    ROCKS_LOG_INFO(db_->immutable_db_options().logger,
                   "BlobHybrid: too much space is taken by column family %s, and %s holds the job",
                   family.name(), by);
  }
  held_ = true;
  foreign_since_ = 0;
  retry_pause_ = kMinRetry;  // nobody tells when it ends
  retry_at_ = SteadyMicros();
  Publish(false, above);
  return Next::kNothing;
}

// Tells whether files that stayed should be tried again at once: once for each call of
// SettleBlobHybrid().
bool GcJob::IsAskedToSettle() {
  std::lock_guard<std::mutex> lock(monitor_->mutex);
  const bool asked = monitor_->settling > 0 && settles_ != monitor_->settles;
  settles_ = monitor_->settles;
  return asked;
}

// Leaves things as they are: nothing is left to compact, and still there is too much. Tries again
// after a while: snapshots may have gone, and compactions that began before the files were tracked.
// That may rewrite all SSTs in vain. So the pause counts from the end of it, and is as long at
// least as it has taken.
GcJob::Next GcJob::Stay(bool above) {
  const uint64_t now = SteadyMicros();
  const bool asked = IsAskedToSettle();
  bool tries = asked;
  if (pass_since_ > 0) {
    retry_at_ = now + std::max(retry_pause_, now - pass_since_);
    pass_since_ = 0;
  } else if (retry_pause_ > 0 && now >= retry_at_) {
    retry_pause_ = std::min(2 * retry_pause_, kMaxRetry);
    retry_at_ = now + retry_pause_;
    tries = true;
  }
  if (retry_pause_ == 0) {
    retry_pause_ = kMinRetry;
    retry_at_ = now + retry_pause_;
  }
  if (tries && Restart(asked)) {
    TEST_SYNC_POINT("GcJob::Stay:Try");
    pass_since_ = now;
    return Next::kAgain;
  }
  Publish(false, above);
  return Next::kNothing;
}

// Begins anew with what is thought to be done. `asked`: by SettleBlobHybrid(), so that what failed
// is tried again as well. False if there is nothing.
bool GcJob::Restart(bool asked) {
  const bool tracked = family_->progress().Restart();
  const bool merged = !merged_.empty();
  merged_.clear();
  const bool failed = asked && !failed_.empty();
  failed_ = failed ? Backoff() : failed_;
  return tracked || merged || failed;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
