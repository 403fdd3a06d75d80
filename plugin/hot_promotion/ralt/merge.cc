// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/merge.h"

#include <algorithm>
#include <utility>

#include "plugin/hot_promotion/ralt/key.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

constexpr uint64_t kRecordsBetween = 1 << 14;

}  // namespace

Merge::Merge(FileSet* files, const Scoring* scoring, const Runs& inputs, Runs older,
             Verdict verdict)
    : files_(files),
      scoring_(scoring),
      older_(std::move(older)),
      verdict_(verdict),
      merger_(inputs, scoring) {}

const RunFile* Merge::damaged() const {
  return merger_.status().IsCorruption() ? merger_.damaged() : nullptr;
}

Status Merge::Next(uint64_t number, uint64_t bytes, const Between& between,
                   std::shared_ptr<const RunFile>* file) {
  std::unique_ptr<RunFileBuilder> builder;
  const Status s = Fill(number, bytes, between, &builder);
  return files_->Finish(number, std::move(builder), s, file);
}

Status Merge::Fill(uint64_t number, uint64_t bytes, const Between& between,
                   std::unique_ptr<RunFileBuilder>* builder) {
  Status s;
  uint64_t seen = 0;
  for (; s.ok() && merger_.Valid() && (!*builder || (*builder)->raw_bytes() < bytes);
       merger_.Next()) {
    upto_.assign(merger_.key().data(), merger_.key().size());
    const uint64_t hash = HashOf(merger_.key());
    const double rank = verdict_.ByRank() ? scoring_->Rank(merger_.record(), hash) : 0;
    if (Judge(rank)) {
      s = Keep(number, hash, rank, builder);
    }
    if (s.ok() && ++seen % kRecordsBetween == 0 && !between()) {
      s = Status::Aborted("the table is being closed");
    }
  }
  return s.ok() ? merger_.status() : s;
}

bool Merge::Judge(double rank) {
  const Record& record = merger_.record();
  const bool stable = scoring_->Stable(record, verdict_.now);
  if (verdict_.stable_only && !stable) {
    ++tally_.unstable;
    return false;
  }
  if (rank < verdict_.keep_rank) {
    ++tally_.cold;
    return false;
  }
  return true;
}

Status Merge::Keep(uint64_t number, uint64_t hash, double rank,
                   std::unique_ptr<RunFileBuilder>* builder) {
  if (!*builder) {
    const Status s = files_->Begin(number, builder);
    if (!s.ok()) {
      return s;
    }
  }
  const Record& record = merger_.record();
  const uint64_t before = (*builder)->raw_bytes();
  const Status s = (*builder)->Add(merger_.key(), hash, record, rank >= verdict_.hot_rank,
                                   !MayBeHot(older_, merger_.key(), hash));
  if (s.ok() && scoring_->Stable(record, verdict_.now)) {
    tally_.stable.hot_bytes += record.size;
    tally_.stable.table_bytes += (*builder)->raw_bytes() - before;
  }
  return s;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
