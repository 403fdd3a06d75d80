// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/tree.h"

#include <algorithm>
#include <utility>

#include "logging/logging.h"
#include "plugin/hot_promotion/ralt/pick.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

// The tablets of a version, in any order.
std::vector<std::shared_ptr<const Tablet>> TabletsOf(const Version& version) {
  std::vector<std::shared_ptr<const Tablet>> tablets;
  for (const RunPtr& run : version.runs) {
    for (const Part& part : run->parts()) {
      tablets.push_back(part.tablet);
    }
  }
  std::sort(tablets.begin(), tablets.end());
  return tablets;
}

std::vector<Catalog::Part> Named(const Run& run) {
  std::vector<Catalog::Part> parts;
  for (const Part& part : run.parts()) {
    parts.push_back({part.tablet->number(), part.tablet->file_size(), part.begin});
  }
  return parts;
}

}  // namespace

Tree::Tree(const RaltOptions& options)
    : parameters_(options),
      scoring_(parameters_.NewScoring()),
      shelf_(options.env == nullptr ? Env::Default() : options.env, options.path, options.logger),
      limits_(InitialLimits(parameters_)) {}

Status Tree::Open() {
  Status s = shelf_.Open();
  if (!s.ok()) {
    return s;
  }
  Catalog catalog;
  if (shelf_.ReadCatalog(&catalog)) {
    Load(catalog);
  } else {
    Publish(std::make_shared<const Version>());
  }
  return s;
}

void Tree::Load(const Catalog& catalog) {
  clock_ = catalog.clock;
  next_file_ = catalog.next_file;
  stable_ = catalog.stable;
  limits_.hot = std::clamp(catalog.limits.hot, parameters_.hot_min, parameters_.hot_max);
  limits_.table = std::min(catalog.limits.table, parameters_.max_bytes);
  // Ranks of another alpha are in another order.
  hot_rank_ = catalog.alpha == parameters_.alpha ? catalog.hot_rank : Verdict::kAll;
  auto version = std::make_shared<Version>();
  version->forgotten = catalog.forgotten;
  for (const std::vector<Catalog::Part>& run : catalog.runs) {
    std::vector<Part> parts;
    for (const Catalog::Part& part : run) {
      if (auto tablet = shelf_.OpenTablet(part)) {
        parts.push_back({std::move(tablet), part.begin});
      } else {
        Count(&RaltStats::damaged, 1);
      }
    }
    if (!parts.empty()) {
      version->runs.push_back(std::make_shared<Run>(next_run_++, std::move(parts)));
    }
  }
  Publish(std::move(version));
}

void Tree::Publish(Current::Pointer version) {
  current_.Set(std::move(version));
  MutexLock lock(&stats_mutex_);
  stats_.tick = clock_.tick;
  stats_.hot_limit = limits_.hot;
  stats_.table_limit = limits_.table;
  stats_.stable_bytes = stable_.hot_bytes;
}

Catalog Tree::NewCatalog(const Version& version) const {
  Catalog catalog;
  catalog.clock = clock_;
  catalog.next_file = next_file_;
  catalog.limits = limits_;
  catalog.stable = stable_;
  catalog.alpha = parameters_.alpha;
  catalog.hot_rank = hot_rank_;
  catalog.forgotten = version.forgotten;
  for (const RunPtr& run : version.runs) {
    catalog.runs.push_back(Named(*run));
  }
  return catalog;
}

Status Tree::Install(Version next) {
  const Status s = shelf_.WriteCatalog(NewCatalog(next));
  if (!s.ok()) {
    return s;
  }
  std::vector<std::shared_ptr<const Tablet>> before = TabletsOf(*current_.Get());
  const std::vector<std::shared_ptr<const Tablet>> after = TabletsOf(next);
  Publish(std::make_shared<const Version>(std::move(next)));
  for (std::shared_ptr<const Tablet>& tablet : before) {
    if (!std::binary_search(after.begin(), after.end(), tablet)) {
      shelf_.Discard(std::move(tablet));
    }
  }
  shelf_.Sweep();
  return s;
}

Status Tree::Add(const std::vector<Chunk>& chunks) {
  const Batch batch = MakeBatch(chunks, scoring_, parameters_.tick_bytes, &clock_);
  const Status s = AddRun(batch);
  Count(&RaltStats::flushes, s.ok() ? 1 : 0);
  Count(&RaltStats::dropped, s.ok() ? 0 : batch.accesses);
  Tell("write a buffer", s);
  return s;
}

Status Tree::AddRun(const Batch& batch) {
  Version next = *current_.Get();
  std::shared_ptr<const Tablet> tablet;
  Status s = WriteRun(batch, next, &tablet);
  if (!s.ok() || !tablet) {
    return s;
  }
  due_ = true;
  std::vector<Part> parts = {{tablet, tablet->first()}};
  next.runs.insert(next.runs.begin(), std::make_shared<Run>(next_run_++, std::move(parts)));
  s = Install(std::move(next));
  if (s.ok()) {
    Count(&RaltStats::written_bytes, tablet->file_size());
  } else {
    shelf_.Discard(std::move(tablet));
  }
  return s;
}

// A disk that stays full is told once.
void Tree::Tell(const char* operation, const Status& s) {
  if (!s.ok()) {
    Count(&RaltStats::errors, 1);
  }
  if (!s.ok() && !failing_) {
    ROCKS_LOG_WARN(shelf_.logger(), "[ralt] %s: %s", operation, s.ToString().c_str());
  }
  failing_ = !s.ok();
}

Status Tree::WriteRun(const Batch& batch, const Version& version,
                      std::shared_ptr<const Tablet>* tablet) {
  Status s;
  const uint64_t number = next_file_++;
  std::unique_ptr<Builder> builder;
  for (const Batch::Entry& entry : batch.entries) {
    if (version.Forgotten(SpaceOf(entry.key))) {
      continue;
    }
    if (!builder) {
      builder = std::make_unique<Builder>(shelf_.env());
      s = builder->Open(shelf_.NameOf(number));
    }
    if (s.ok()) {
      const uint64_t hash = HashOf(entry.key);
      s = builder->Add(entry.key, hash, entry.record,
                       scoring_.Rank(entry.record, hash) >= hot_rank_,
                       !MayBeHot(version.runs, entry.key, hash));
    }
    if (!s.ok()) {
      break;
    }
  }
  if (s.ok() && builder) {
    s = builder->Finish();
  }
  if (s.ok() && builder) {
    s = shelf_.OpenTablet(number, tablet);
  }
  if (!s.ok()) {
    builder.reset();
    shelf_.RemoveFile(number);
  }
  return s;
}

Status Tree::Forget(Space space) {
  Version next = *current_.Get();
  if (next.Forgotten(space)) {
    return Status::OK();
  }
  next.forgotten.push_back(space);
  due_ = true;
  const Status s = Install(std::move(next));
  Tell("forget a space", s);
  return s;
}

Status Tree::Maintain(const Between& between) {
  if (!due_) {
    return Status::OK();
  }
  Status s;
  while (due_ && s.ok()) {
    due_ = false;
    s = MaintainOnce(between);
    due_ |= !s.ok();
    s = s.IsTryAgain() ? Status::OK() : s;
  }
  shelf_.Sweep();
  if (!s.IsAborted()) {
    Tell("merge", s);
  }
  return s;
}

// No version is held while a merge is under way: its files could not be removed.
Status Tree::MaintainOnce(const Between& between) {
  if (!current_.Get()->forgotten.empty()) {
    return Purge(between);
  }
  if (Over(*current_.Get())) {
    return Evict(between);
  }
  const size_t count = Unshapely();
  if (count == 0) {
    return Status::OK();
  }
  Verdict verdict;
  verdict.hot_rank = hot_rank_;
  Tally tally;
  const Status s = MergeNewest(count, verdict, between, &tally);
  Count(&RaltStats::merges, s.ok() ? 1 : 0);
  return s;
}

size_t Tree::Unshapely() const {
  const Current::Pointer version = current_.Get();
  std::vector<uint64_t> sizes;
  for (const RunPtr& run : version->runs) {
    sizes.push_back(run->total().raw_bytes);
  }
  return PickMerge(sizes);
}

bool Tree::Job::Input(const Run& run) const {
  return std::find(inputs.begin(), inputs.end(), run.id()) != inputs.end();
}

std::unique_ptr<Merge> Tree::NewMerge(size_t count, const Verdict& verdict, Job* job) {
  const Current::Pointer version = current_.Get();
  const auto split = version->runs.begin() + static_cast<std::ptrdiff_t>(count);
  const Runs inputs(version->runs.begin(), split);
  const Runs older(split, version->runs.end());
  for (const RunPtr& run : inputs) {
    job->inputs.push_back(run->id());
    Count(&RaltStats::read_bytes, run->file_bytes());
  }
  job->output = next_run_++;
  job->older = older.size();
  return std::make_unique<Merge>(&shelf_, &scoring_, inputs, older, verdict);
}

Status Tree::MergeNewest(size_t count, const Verdict& verdict, const Between& between,
                         Tally* tally) {
  Job job;
  const std::unique_ptr<Merge> merge = NewMerge(count, verdict, &job);
  Status s;
  do {
    s = Step(merge.get(), job, between);
    if (s.ok() && !merge->Done() && !between()) {
      s = Status::Aborted("the table is being closed");
    }
  } while (s.ok() && !merge->Done());
  *tally = merge->tally();
  if (!s.ok() && merge->damaged() != nullptr) {
    s = Drop(*merge->damaged());
    return s.ok() ? Status::TryAgain() : s;
  }
  return s;
}

Status Tree::MergeAll(const Verdict& verdict, const Between& between, Tally* tally) {
  return MergeNewest(current_.Get()->runs.size(), verdict, between, tally);
}

// Writes a tablet of the new run and takes its records out of the inputs, so that there is little more
// on the disk at any time than before the merge.
Status Tree::Step(Merge* merge, const Job& job, const Between& between) {
  std::shared_ptr<const Tablet> tablet;
  Status s = merge->Next(next_file_++, parameters_.file_bytes, between, &tablet);
  if (s.ok()) {
    s = Install(After(*merge, job, tablet));
  }
  if (s.ok() && tablet) {
    Count(&RaltStats::written_bytes, tablet->file_size());
  } else if (tablet) {
    shelf_.Discard(std::move(tablet));
  }
  return s;
}

Version Tree::After(const Merge& merge, const Job& job,
                    const std::shared_ptr<const Tablet>& tablet) const {
  const Current::Pointer version = current_.Get();
  Version next;
  next.forgotten = version->forgotten;
  std::vector<Part> output;
  for (const RunPtr& run : version->runs) {
    if (run->id() == job.output) {
      output = run->parts();
    } else if (!job.Input(*run)) {
      next.runs.push_back(run);
    } else if (!merge.Done()) {
      std::vector<Part> rest = run->After(merge.upto());
      if (!rest.empty()) {
        next.runs.push_back(std::make_shared<Run>(run->id(), std::move(rest)));
      }
    }
  }
  if (tablet) {
    output.push_back({tablet, tablet->first()});
  }
  if (!output.empty()) {
    next.runs.insert(next.runs.end() - static_cast<std::ptrdiff_t>(job.older),
                     std::make_shared<Run>(job.output, std::move(output)));
  }
  return next;
}

Status Tree::Drop(const Tablet& damaged) {
  ROCKS_LOG_WARN(shelf_.logger(), "[ralt] %s: dropped, for it is damaged",
                 shelf_.NameOf(damaged.number()).c_str());
  Count(&RaltStats::damaged, 1);
  const Current::Pointer version = current_.Get();
  Version next;
  next.forgotten = version->forgotten;
  for (const RunPtr& run : version->runs) {
    std::vector<Part> parts = run->parts();
    parts.erase(std::remove_if(parts.begin(), parts.end(),
                               [&](const Part& part) { return part.tablet.get() == &damaged; }),
                parts.end());
    if (!parts.empty()) {
      next.runs.push_back(std::make_shared<Run>(run->id(), std::move(parts)));
    }
  }
  return Install(std::move(next));
}

bool Tree::IsHot(Space space, const Slice& key) const {
  const Current::Pointer version = current_.Get();
  if (version->runs.empty() || version->Forgotten(space)) {
    return false;
  }
  const Key whole(space, key);
  return MayBeHot(version->runs, whole.slice(), HashOf(whole.slice()));
}

uint64_t Tree::HotBytes(Space space, const Slice& begin, const Slice& end) const {
  const Current::Pointer version = current_.Get();
  const Range range = RangeOf(space, begin, end);
  if (version->Forgotten(space) || range.Empty()) {
    return 0;
  }
  uint64_t bytes = 0;
  for (const RunPtr& run : version->runs) {
    bytes += run->HotBytes(range);
  }
  return bytes;
}

void Tree::Count(uint64_t RaltStats::*counter, uint64_t amount) {
  MutexLock lock(&stats_mutex_);
  stats_.*counter += amount;
}

std::unique_ptr<Merger> Tree::NewMerger() const {
  return std::make_unique<Merger>(current_.Get()->runs, &scoring_);
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
