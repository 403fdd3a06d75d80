// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/collector.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "file/filename.h"
#include "logging/logging.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/family.h"
#include "plugin/blob_hybrid/paths.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr uint64_t kLater = 100 * 1000;  // unless a flush or a compaction ends before
constexpr uint64_t kForeign = 500 * 1000;
// Between rounds of all families: with hundreds of them, those that rest cost something as well.
constexpr uint64_t kAll = 1000 * 1000;
constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kTick = std::chrono::milliseconds(500);
constexpr uint64_t kMinRetry = 1000 * 1000;
constexpr uint64_t kMaxRetry = 64 * kMinRetry;

std::shared_ptr<const Settings> SettingsOf(DBImpl* db, uint32_t family) {
  const auto handle = db->GetColumnFamilyHandleUnlocked(family);
  return handle == nullptr ? nullptr
                           : blob_hybrid::SettingsOf(
                                 ImmutableOf(*DataOf(handle.get())).compaction_filter_factory);
}

bool HasBound(const BlobHybridOptions& options) {
  return options.max_space_amplification > 0 ||
         (options.transient_log_budget > 0 && ClassesOf(options).medium > 0);
}

// What keeps RocksDB's own compactions from being done, so that the job is not done either; null:
// nothing.
const char* HeldBy(DBImpl* db, ColumnFamilyData* family) {
  if (!FamilyInfoOf(db, family).compacts) {
    return "disable_auto_compactions";
  }
  WaitForCompactOptions look;
  look.abort_on_pause = true;
  look.timeout = std::chrono::microseconds(1);  // 0 would wait
  return db->WaitForCompact(look).IsAborted() ? "PauseBackgroundWork()" : nullptr;
}

bool IsAbove(const Space& space, const BlobHybridOptions& options) {
  return options.max_space_amplification > 0 &&
         space.amplification > options.max_space_amplification;
}

bool IsLogAbove(const Space& space, const BlobHybridOptions& options) {
  return options.transient_log_budget > 0 && space.log_share > options.transient_log_budget;
}

// For each file that is collected: what SSTs there were when that began.
void Track(const Survey& survey, const std::set<uint64_t>& victims, Since* since) {
  Since now;
  for (const uint64_t victim : victims) {
    const auto it = since->find(victim);
    now[victim] = it == since->end() ? survey.max_sst_number() : it->second;
  }
  *since = std::move(now);
}

// Of SSTs, those that refer to the log.
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

bool Collector::Uses(uint32_t number, bool* added) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = families_.find(number);
    if (it != families_.end()) {
      return it->second != nullptr;
    }
  }
  std::unique_ptr<Family> family;
  auto settings = SettingsOf(db_, number);
  if (settings != nullptr) {
    family = std::make_unique<Family>();
    family->settings = std::move(settings);
  }
  const bool uses = family != nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  const bool inserted = families_.emplace(number, std::move(family)).second;
  *added = uses && inserted;
  if (uses && !stop_ && !thread_.joinable()) {
    thread_ = std::thread([this] { Run(); });
  }
  return uses;
}

Collector::Aim Collector::AimOf(uint32_t number, const std::vector<BlobInfo>& blobs) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = families_.find(number);
  if (it == families_.end() || it->second == nullptr) {
    return Aim();
  }
  const Family& family = *it->second;
  const BlobHybridOptions& options = family.settings->options;
  const bool near = family.near;
  std::vector<BlobInfo> known = blobs;
  for (BlobInfo& blob : known) {
    const auto surveyed = family.garbage.find(blob.number);
    if (surveyed != family.garbage.end()) {
      blob.garbage_bytes = std::max(blob.garbage_bytes, surveyed->second);
    }
  }
  return {PickVictims(known, near ? LeastRatio(options) : RestingRatio(options),
                      options.max_space_amplification, family.room, family.collected),
          near};
}

bool Collector::IsCrowdedFamily(uint32_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = families_.find(number);
  return it != families_.end() && it->second != nullptr && it->second->crowded;
}

void Collector::NoteBegin(const CompactionJobInfo& info) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = families_.find(info.cf_id);
  if (it == families_.end() || it->second == nullptr ||
      info.compaction_reason == CompactionReason::kManualCompaction) {
    return;
  }
  std::vector<uint64_t>& inputs = it->second->automatic[info.job_id];
  for (const CompactionFileInfo& input : info.input_file_infos) {
    inputs.push_back(input.file_number);
  }
}

void Collector::NoteEnd(const CompactionJobInfo& info) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = families_.find(info.cf_id);
  if (it != families_.end() && it->second != nullptr) {
    it->second->automatic.erase(info.job_id);
  }
}

void Collector::Wake(uint32_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  woken_.insert(number);
  wanted_++;
  changed_.notify_all();
}

void Collector::WakeAll() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [number, family] : families_) {
    woken_.insert(number);
  }
  wanted_++;
  changed_.notify_all();
}

Status Collector::Look(uint32_t number, Family* family, bool* has_blobs, Space* space) {
  const auto handle = db_->GetColumnFamilyHandleUnlocked(number);
  if (handle == nullptr) {
    return Status::ColumnFamilyDropped();
  }
  ColumnFamilyData* const data = DataOf(handle.get());
  const FamilyInfo info = FamilyInfoOf(db_, data);
  family->memtable_bytes = info.memtable_bytes;
  *has_blobs = info.goes_by_levels && info.has_blobs;
  if (!info.goes_by_levels || (!family->crowded && !info.has_blobs)) {
    return Status::OK();  // nothing to do, so nothing to count
  }
  Totals totals;
  const Status s = family->surveyor.Sum(db_, data, &totals);
  if (s.ok()) {
    *space = Estimate(totals, family->settings->options.space_floor);
    auto garbage = family->surveyor.corrected();
    std::lock_guard<std::mutex> lock(mutex_);
    family->room = RoomFor(*space, family->settings->options.max_space_amplification);
    family->garbage = std::move(garbage);
  } else {
    ROCKS_LOG_ERROR(ImmutableOf(*data).logger, "BlobHybrid: reading the properties of SSTs: %s",
                    s.ToString().c_str());
    family->settings->counters->job_errors++;
  }
  return s;
}

void Collector::WaitForRoom(uint32_t number) {
  Family* family = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = families_.find(number);
    if (it == families_.end() || it->second == nullptr) {
      return;
    }
    family = it->second.get();
  }
  // Flushes look for themselves where the job has not: it may be busy, or late.
  const BlobHybridOptions& options = family->settings->options;
  Counters& counters = *family->settings->counters;
  if (family->calm_at != 0 && FilesOf(number) == family->calm_at) {
    counters.bound_missed += family->calm_above ? 1 : 0;
    return;  // the job has looked at the same files
  }
  bool has_blobs = false;
  Space space;
  if (!HasBound(options) || !Look(number, family, &has_blobs, &space).ok()) {
    return;
  }
  const bool ours = IsOurs(*family, has_blobs);
  const Needs needs = NeedsOf(space, ours, options);
  if (!needs.above) {
    // What takes the space is no garbage that the job could do something about: versions that
    // snapshots see, for example.
    counters.bound_missed += ours && !needs.any() && IsAbove(space, options) ? 1 : 0;
    return;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t memtables = family->memtable_bytes;
  if (family->freed < family->worth) {
    counters.bound_missed++;  // the last wait was in vain
    return;
  }
  const uint64_t begin = Now();
  const uint64_t mine = ++wanted_;
  const uint64_t enough = space.disk_bytes - std::min(space.disk_bytes, memtables);
  family->disk_bytes = space.disk_bytes;
  family->waiting++;
  woken_.insert(number);
  changed_.notify_all();
  const bool in_vain = !AwaitRoom(mine, enough, family, &lock);
  family->waiting--;
  family->worth = in_vain ? family->freed + std::max<uint64_t>(memtables, 1) : 0;
  counters.flush_waits++;
  counters.flush_wait_micros += Now() - begin;
  counters.bound_missed += in_vain || family->missed ? 1 : 0;
}

bool Collector::AwaitRoom(uint64_t wake, uint64_t enough, Family* family,
                          std::unique_lock<std::mutex>* lock) {
  uint64_t least = family->disk_bytes;
  const auto is_over = [&] {
    const bool goes_on = !family->above || family->disk_bytes < enough;
    return stop_ || closing_ || (looked_ >= wake && goes_on);
  };
  const auto falls = [&] { return family->disk_bytes < least; };
  while (changed_.wait_for(*lock, kPatience, [&] { return is_over() || falls(); })) {
    if (is_over()) {
      return true;
    }
    least = family->disk_bytes;
  }
  return false;
}

void Collector::Settle() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!thread_.joinable()) {
    return;
  }
  const uint64_t mine = ++wanted_;
  settling_++;
  settles_++;
  changed_.notify_all();
  changed_.wait(lock, [&] { return stop_ || closing_ || done_ >= mine; });
  settling_--;
}

void Collector::Stop() {
  std::thread thread;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    thread = std::move(thread_);
    changed_.notify_all();
  }
  if (thread.joinable()) {
    thread.join();
  }
}

std::vector<std::pair<uint32_t, Collector::Family*>> Collector::TakeWoken(bool all) {
  std::vector<std::pair<uint32_t, Family*>> families;
  if (all) {
    for (const auto& [number, family] : families_) {
      woken_.insert(number);
    }
  }
  for (const uint32_t number : woken_) {
    const auto it = families_.find(number);
    if (it != families_.end() && it->second != nullptr) {
      families.emplace_back(number, it->second.get());
    }
  }
  woken_.clear();
  return families;
}

void Collector::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t all_at = 0;
  while (!stop_ && !closing_) {
    const uint64_t wanted = wanted_;
    const bool all = settling_ > 0 || Now() >= all_at;
    all_at = all ? Now() + kAll : all_at;
    const auto families = TakeWoken(all);
    lock.unlock();
    bool again = false;
    bool retry = false;
    uint64_t later = 0;  // when to look again; 0: it is not known
    std::set<uint32_t> restless;
    for (const auto& [number, family] : families) {
      const Next next = Step(number, family);
      if (next != Next::kNothing || family->retry_pause > 0) {
        restless.insert(number);
      }
      again = again || next == Next::kAgain;
      retry = retry || family->retry_pause > 0;
      if (next == Next::kLater) {
        later = later == 0 ? family->later : std::min(later, family->later);
      }
    }
    lock.lock();
    woken_.merge(restless);
    looked_ = wanted;
    changed_.notify_all();
    if (again) {
      continue;
    }
    if (later > 0) {
      const uint64_t pause = later - std::min(later, Now());
      changed_.wait_for(lock, std::chrono::microseconds(pause),
                        [&] { return stop_ || wanted_ != wanted; });
      continue;
    }
    if (all) {
      done_ = wanted;
      changed_.notify_all();
    }
    const auto wake = [&] { return stop_ || wanted_ != wanted; };
    if (retry || !all) {
      changed_.wait_for(lock, kTick, wake);
    } else {
      changed_.wait(lock, wake);
    }
  }
}

// Whether the bound is to be kept: without blob files the plugin leaves a family alone, unless that
// is its own doing.
bool Collector::IsOurs(const Family& family, bool has_blobs) { return has_blobs || family.crowded; }

// For gc_bytes_per_second, if nobody waits.
bool Collector::Rests(const Family& family) {
  std::lock_guard<std::mutex> lock(mutex_);
  return family.waiting == 0 && settling_ == 0 && Now() < family.rest_until;
}

Collector::Next Collector::Step(uint32_t number, Family* family) {
  const BlobHybridOptions& options = family->settings->options;
  if (Rests(*family)) {
    family->later = family->rest_until;
    return Next::kLater;
  }
  const uint64_t version = VersionOf(number);
  if (version != 0 && version == family->rested_at) {
    return Next::kNothing;
  }
  family->rested_at = 0;
  family->calm_at = 0;
  const uint64_t files = FilesOf(number);
  bool has_blobs = false;
  Space space;
  if (!HasBound(options) || !Look(number, family, &has_blobs, &space).ok()) {
    Publish(family, false, false);
    return Next::kNothing;
  }
  family->crowded = ClassesOf(options).medium > 0 &&
                    IsCrowded(space, options.max_space_amplification, family->crowded);
  const bool ours = IsOurs(*family, has_blobs);
  const Needs needs = NeedsOf(space, ours, options);
  if (!needs.any()) {
    Rest(family);
    family->rested_at = version;
    family->calm_above = ours && IsAbove(space, options);
    family->calm_at = files;
    return Next::kNothing;
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    family->freed += family->disk_bytes - std::min(family->disk_bytes, space.disk_bytes);
    family->disk_bytes = space.disk_bytes;
  }
  const auto handle = db_->GetColumnFamilyHandleUnlocked(number);
  const char* const by = handle == nullptr ? nullptr : HeldBy(db_, DataOf(handle.get()));
  if (by != nullptr) {
    return Hold(by, needs.above, family);
  }
  Survey survey;
  if (handle == nullptr || !family->surveyor.Take(db_, DataOf(handle.get()), &survey).ok()) {
    Publish(family, false, false);
    return Next::kNothing;
  }
  family->held = false;
  std::set<uint64_t> foreign = InCompaction(db_, DataOf(handle.get()));
  family->busy.insert(foreign.begin(), foreign.end());
  bool merge = false;
  const std::vector<Plan> plans = PlanFor(number, survey, space, needs, family, &merge);
  if (plans.empty() && !family->busy.empty()) {
    // Compactions are under way, and may help. Flushes wait for RocksDB's own; how long a user's
    // take nobody knows.
    const bool rocksdbs = LeaveForeign(&foreign, family);
    family->busy.swap(foreign);
    const bool waits = rocksdbs && !PlanFor(number, survey, space, needs, family, &merge).empty();
    family->busy.clear();
    if (waits || !PlanFor(number, survey, space, needs, family, &merge).empty()) {
      // RocksDB tells of its own a moment after they have begun.
      family->foreign_since = waits                        ? 0
                              : family->foreign_since == 0 ? Now()
                                                           : family->foreign_since;
      if (!waits && Now() - family->foreign_since > kForeign) {
        Publish(family, false, IsAbove(space, options) || IsLogAbove(space, options));
      }
      family->later = Now() + kLater;
      return Next::kLater;
    }
  }
  family->foreign_since = 0;
  if (plans.empty()) {
    return Stay(needs.above, family);
  }
  Publish(family, needs.above, false);
  return CompactAll(number, plans, needs.above, merge, family);
}

// Of SSTs that are being compacted: those that RocksDB has not begun by itself. False if it
// compacts none.
bool Collector::LeaveForeign(std::set<uint64_t>* ssts, Family* family) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [job, inputs] : family->automatic) {
    for (const uint64_t input : inputs) {
      ssts->erase(input);
    }
  }
  return !family->automatic.empty();
}

// Of what a look would find: it changes with each flush and compaction, and with options. 0: there
// is no such family.
uint64_t Collector::VersionOf(uint32_t number) {
  const auto handle = db_->GetColumnFamilyHandleUnlocked(number);
  return handle == nullptr ? 0 : DataOf(handle.get())->GetSuperVersionNumber();
}

// FilesVersionOf(). 0: there is no such family.
uint64_t Collector::FilesOf(uint32_t number) {
  const auto handle = db_->GetColumnFamilyHandleUnlocked(number);
  return handle == nullptr ? 0 : FilesVersionOf(db_, DataOf(handle.get()));
}

void Collector::Rest(Family* family) {
  family->near = false;
  family->since.clear();
  SetCollected({}, family);
  family->merged.clear();
  family->busy.clear();
  family->retry_pause = 0;
  family->held = false;
  Publish(family, false, false);
}

std::vector<Plan> Collector::PlanFor(uint32_t number, const Survey& survey, const Space& space,
                                     const Needs& needs, Family* family, bool* merge) {
  const BlobHybridOptions& options = family->settings->options;
  std::vector<Plan> plans;
  if (!needs.log) {
    family->merged.clear();
  } else {
    KeepReferring(survey, &family->merged);
    const Plan plan = PickMerge(survey, options.merge_level, family->merged, family->busy);
    *merge = !plan.inputs.empty();
    if (*merge) {
      plans.push_back(plan);
    }
  }
  family->near = needs.space;
  if (!needs.space) {
    family->since.clear();
    SetCollected({}, family);
    return plans;
  }
  SetCollected(FindCollected(survey, family->since), family);
  Track(survey, AimOf(number, survey.blobs).victims, &family->since);
  SetCollected(FindCollected(survey, family->since), family);
  if (plans.empty()) {
    plans = PickCompactions(survey, space, family->since, family->busy);
  }
  return plans;
}

Collector::Next Collector::CompactAll(uint32_t number, const std::vector<Plan>& plans, bool above,
                                      bool merge, Family* family) {
  Next next = Next::kAgain;
  for (const Plan& plan : plans) {
    const auto handle = db_->GetColumnFamilyHandleUnlocked(number);
    if (handle == nullptr || (!above && Rests(*family)) ||
        HeldBy(db_, DataOf(handle.get())) != nullptr) {
      break;  // the next look tells
    }
    next = Compact(number, plan, above, merge, family);
    std::lock_guard<std::mutex> lock(mutex_);
    if (next != Next::kAgain || stop_ || closing_) {
      break;
    }
  }
  return next;
}

Collector::Next Collector::Compact(uint32_t number, const Plan& plan, bool above, bool merge,
                                   Family* family) {
  const BlobHybridOptions& options = family->settings->options;
  Counters& counters = *family->settings->counters;
  const auto handle = db_->GetColumnFamilyHandleUnlocked(number);
  if (handle == nullptr) {
    Publish(family, false, false);
    return Next::kNothing;
  }
  ColumnFamilyData* data = DataOf(handle.get());
  CompactionOptions how;
  SuperVersion* version = db_->GetAndRefSuperVersion(data);
  how.output_file_size_limit =
      MaxFileSizeForLevel(version->mutable_cf_options, plan.output_level, kCompactionStyleLevel);
  const ImmutableOptions& constant = ImmutableOf(*data);
  const uint32_t path = PathOf(constant.cf_paths, version->mutable_cf_options,
                               constant.level_compaction_dynamic_level_bytes, plan.output_level);
  db_->ReturnAndCleanupSuperVersion(data, version);
  std::vector<std::string> names;
  for (const SstInfo& sst : plan.inputs) {
    names.push_back(MakeTableFileName("", sst.number));
  }
  // RocksDB lists the folders of the whole database when it refuses.
  const bool free = AreFree(db_, data, plan.inputs, plan.output_level);
  CompactionJobInfo info;
  const Status s = !free ? Status::Aborted()
                         : db_->CompactFiles(how, handle.get(), names, plan.output_level,
                                             static_cast<int>(path), nullptr, &info);
  if (s.ok()) {
    const uint64_t bytes = info.stats.total_output_bytes + info.stats.total_output_bytes_blob;
    counters.jobs++;
    counters.log_jobs += merge ? 1 : 0;
    for (const CompactionFileInfo& output : info.output_file_infos) {
      if (merge) {
        family->merged.insert(output.file_number);
      }
    }
    counters.job_bytes += bytes;
    if (options.gc_bytes_per_second > 0 && !above) {
      family->rest_until =
          Now() + static_cast<uint64_t>(static_cast<double>(bytes) * 1e6 /
                                        static_cast<double>(options.gc_bytes_per_second));
    }
    return Next::kAgain;
  }
  if (s.IsAborted() ||
      (s.IsInvalidArgument() && !AreFree(db_, data, plan.inputs, plan.output_level))) {
    // Others compact them, or have done so.
    for (const SstInfo& sst : plan.inputs) {
      family->busy.insert(sst.number);
    }
    return Next::kAgain;
  }
  if (s.IsShutdownInProgress()) {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
    changed_.notify_all();
    return Next::kNothing;
  }
  if (!s.IsColumnFamilyDropped() && !s.IsIncomplete()) {
    counters.job_errors++;
    ROCKS_LOG_ERROR(ImmutableOf(*data).logger, "BlobHybrid: compaction for space: %s",
                    s.ToString().c_str());
  }
  Publish(family, false, above);
  return Next::kNothing;
}

Collector::Next Collector::Hold(const char* by, bool above, Family* family) {
  if (!family->held) {
    ROCKS_LOG_INFO(db_->immutable_db_options().logger,
                   "BlobHybrid: too much space is taken, and %s holds the job", by);
  }
  family->held = true;
  family->retry_pause = kMinRetry;  // nobody tells when it ends
  family->retry_at = Now();
  Publish(family, false, above);
  return Next::kNothing;
}

bool Collector::IsAskedToSettle(Family* family) {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool asked = settling_ > 0 && family->settles != settles_;
  family->settles = settles_;
  return asked;
}

Collector::Next Collector::Stay(bool above, Family* family) {
  const uint64_t now = Now();
  bool retries = IsAskedToSettle(family);
  if (family->retry_pause == 0) {
    family->retry_pause = kMinRetry;
    family->retry_at = now + family->retry_pause;
  } else if (now >= family->retry_at) {
    family->retry_pause = std::min(2 * family->retry_pause, kMaxRetry);
    family->retry_at = now + family->retry_pause;
    retries = true;
  }
  // Snapshots may have gone, and compactions that began before the files were tracked.
  if (retries && (!family->since.empty() || !family->merged.empty())) {
    family->since.clear();
    family->merged.clear();
    return Next::kAgain;
  }
  Publish(family, false, above);
  return Next::kNothing;
}

void Collector::SetCollected(Collected collected, Family* family) {
  std::lock_guard<std::mutex> lock(mutex_);
  family->collected = std::move(collected);
}

void Collector::Publish(Family* family, bool above, bool missed) {
  std::lock_guard<std::mutex> lock(mutex_);
  family->above = above;
  family->missed = missed;
  changed_.notify_all();
}

uint64_t Collector::Now() const {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
