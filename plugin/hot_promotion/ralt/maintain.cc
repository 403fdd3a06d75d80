// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tree: which runs are merged, and how the version changes as a merge goes on.

#include <algorithm>
#include <utility>

#include "logging/logging.h"
#include "plugin/hot_promotion/ralt/pick.h"
#include "plugin/hot_promotion/ralt/tree.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

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
  files_.Sweep();
  if (!s.IsAborted()) {
    Tell("merge", s);
  }
  return s;
}

// No version is held while a merge is under way: its files could not be removed.
Status Tree::MaintainOnce(const Between& between) {
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
  due_ = true;  // of a key that is in two runs the older one's size has counted
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
  return std::make_unique<Merge>(&files_, &scoring_, inputs, older, verdict);
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

// Writes a run file of the new run and takes its records out of the inputs, so that there is little
// more on the disk at any time than before the merge.
Status Tree::Step(Merge* merge, const Job& job, const Between& between) {
  std::shared_ptr<const RunFile> file;
  Status s = merge->Next(next_file_++, parameters_.file_bytes, between, &file);
  if (s.ok()) {
    s = Install(After(*merge, job, file));
  }
  if (s.ok() && file) {
    Count(&RaltStats::written_bytes, file->file_size());
  } else if (file) {
    files_.Discard(std::move(file));
  }
  return s;
}

Version Tree::After(const Merge& merge, const Job& job,
                    const std::shared_ptr<const RunFile>& file) const {
  const Current::Pointer version = current_.Get();
  Version next;
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
  if (file) {
    output.push_back({file, file->first()});
  }
  if (!output.empty()) {
    next.runs.insert(next.runs.end() - static_cast<std::ptrdiff_t>(job.older),
                     std::make_shared<Run>(job.output, std::move(output)));
  }
  return next;
}

Status Tree::Drop(const RunFile& damaged) {
  ROCKS_LOG_WARN(files_.logger(), "[ralt] %s: dropped, for it is damaged",
                 files_.NameOf(damaged.number()).c_str());
  Count(&RaltStats::damaged, 1);
  const Current::Pointer version = current_.Get();
  Version next;
  for (const RunPtr& run : version->runs) {
    std::vector<Part> parts = run->parts();
    parts.erase(std::remove_if(parts.begin(), parts.end(),
                               [&](const Part& part) { return part.file.get() == &damaged; }),
                parts.end());
    if (!parts.empty()) {
      next.runs.push_back(std::make_shared<Run>(run->id(), std::move(parts)));
    }
  }
  return Install(std::move(next));
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
