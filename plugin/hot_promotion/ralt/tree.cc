// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/tree.h"

#include <algorithm>
#include <utility>

#include "logging/logging.h"
#include "plugin/hot_promotion/ralt/key.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

// Bytes of the chunks that become one run. To sort them takes several times as much memory.
constexpr size_t kMostInRun = 16 << 20;

// The run files of a version, in any order.
std::vector<std::shared_ptr<const RunFile>> FilesOf(const Version& version) {
  std::vector<std::shared_ptr<const RunFile>> files;
  for (const RunPtr& run : version.runs) {
    for (const Part& part : run->parts()) {
      files.push_back(part.file);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Catalog::Part> Named(const Run& run) {
  std::vector<Catalog::Part> parts;
  for (const Part& part : run.parts()) {
    parts.push_back({part.file->number(), part.file->file_size(), part.begin});
  }
  return parts;
}

}  // namespace

Tree::Tree(const RaltOptions& options)
    : parameters_(options),
      scoring_(parameters_.NewScoring()),
      files_(options.env == nullptr ? Env::Default() : options.env, options.path, options.logger),
      limits_(InitialLimits(parameters_)) {}

Status Tree::Open() {
  Status s = files_.Open();
  if (!s.ok()) {
    return s;
  }
  Catalog catalog;
  bool found = false;
  s = files_.ReadCatalog(&catalog, &found);
  if (s.ok() && found) {
    return Load(catalog);
  }
  Publish(std::make_shared<const Version>());
  return s;
}

Status Tree::Load(const Catalog& catalog) {
  clock_ = catalog.clock;
  next_file_ = catalog.next_file;
  stable_ = catalog.stable;
  limits_.hot = std::clamp(catalog.limits.hot, parameters_.hot_min, parameters_.hot_max);
  limits_.table = std::min(catalog.limits.table, parameters_.max_bytes);
  // Ranks of another alpha are in another order.
  hot_rank_ = catalog.alpha == parameters_.alpha ? catalog.hot_rank : Verdict::kAll;
  auto version = std::make_shared<Version>();
  for (const std::vector<Catalog::Part>& run : catalog.runs) {
    std::vector<Part> parts;
    for (const Catalog::Part& part : run) {
      std::shared_ptr<const RunFile> file;
      const Status s = files_.OpenFile(part, &file);
      if (!s.ok()) {
        return s;
      }
      if (file != nullptr) {
        parts.push_back({std::move(file), part.begin});
      } else {
        Count(&RaltStats::damaged, 1);
      }
    }
    if (!parts.empty()) {
      version->runs.push_back(std::make_shared<Run>(next_run_++, std::move(parts)));
    }
  }
  Publish(version);
  return Status::OK();
}

void Tree::Publish(const Current::Pointer& version) {
  current_.Set(version);
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
  for (const RunPtr& run : version.runs) {
    catalog.runs.push_back(Named(*run));
  }
  return catalog;
}

Status Tree::Install(Version next) {
  const Status s = files_.WriteCatalog(NewCatalog(next));
  if (!s.ok()) {
    return s;
  }
  std::vector<std::shared_ptr<const RunFile>> before = FilesOf(*current_.Get());
  const std::vector<std::shared_ptr<const RunFile>> after = FilesOf(next);
  Publish(std::make_shared<const Version>(std::move(next)));
  for (std::shared_ptr<const RunFile>& file : before) {
    if (!std::binary_search(after.begin(), after.end(), file)) {
      files_.Discard(std::move(file));
    }
  }
  files_.Sweep();
  return s;
}

Status Tree::Add(const std::vector<Chunk>& chunks) {
  Status first;
  for (auto begin = chunks.begin(); begin != chunks.end();) {
    auto end = begin;
    for (size_t bytes = 0; end != chunks.end() && bytes < kMostInRun; ++end) {
      bytes += end->used;
    }
    const Batch batch = MakeBatch(begin, end, scoring_, parameters_.tick_bytes, &clock_);
    const Status s = AddRun(batch);
    Count(&RaltStats::flushes, s.ok() ? 1 : 0);
    Count(&RaltStats::dropped, s.ok() ? 0 : batch.accesses);
    Tell("write a buffer", s);
    first = first.ok() ? s : first;
    begin = end;
  }
  return first;
}

Status Tree::AddRun(const Batch& batch) {
  Version next = *current_.Get();
  std::shared_ptr<const RunFile> file;
  Status s = WriteRun(batch, next, &file);
  if (!s.ok() || !file) {
    return s;
  }
  due_ = true;
  std::vector<Part> parts = {{file, file->first()}};
  next.runs.insert(next.runs.begin(), std::make_shared<Run>(next_run_++, std::move(parts)));
  s = Install(std::move(next));
  if (s.ok()) {
    Count(&RaltStats::written_bytes, file->file_size());
  } else {
    files_.Discard(std::move(file));
  }
  return s;
}

// A disk that stays full is told once.
void Tree::Tell(const char* operation, const Status& s) {
  if (!s.ok()) {
    Count(&RaltStats::errors, 1);
  }
  if (!s.ok() && !failing_) {
    ROCKS_LOG_WARN(files_.logger(), "[ralt] %s: %s", operation, s.ToString().c_str());
  }
  failing_ = !s.ok();
}

Status Tree::WriteRun(const Batch& batch, const Version& version,
                      std::shared_ptr<const RunFile>* file) {
  const uint64_t number = next_file_++;
  std::unique_ptr<RunFileBuilder> builder;
  Status s;
  for (const Batch::Entry& entry : batch.entries) {
    if (!builder) {
      s = files_.Begin(number, &builder);
    }
    const uint64_t hash = HashOf(entry.key);
    if (s.ok()) {
      s = builder->Add(entry.key, hash, entry.record,
                       scoring_.Rank(entry.record, hash) >= hot_rank_,
                       !MayBeHot(version.runs, entry.key, hash));
    }
    if (!s.ok()) {
      break;
    }
  }
  return files_.Finish(number, std::move(builder), s, file);
}

bool Tree::IsHot(Space space, const Slice& key) const {
  const Current::Pointer version = current_.Get();
  if (version->runs.empty()) {
    return false;
  }
  const Key whole(space, key);
  return MayBeHot(version->runs, whole.slice(), HashOf(whole.slice()));
}

void Tree::Count(uint64_t RaltStats::*counter, uint64_t amount) {
  MutexLock lock(&stats_mutex_);
  stats_.*counter += amount;
}

std::unique_ptr<Merger> Tree::TEST_NewMerger() const {
  return std::make_unique<Merger>(current_.Get()->runs, &scoring_);
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
