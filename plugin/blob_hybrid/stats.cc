// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <algorithm>
#include <utility>
#include <vector>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/databases.h"
#include "plugin/blob_hybrid/family.h"
#include "plugin/blob_hybrid/gc_scheduler.h"
#include "plugin/blob_hybrid/metrics.h"
#include "plugin/blob_hybrid/settings.h"
#include "plugin/blob_hybrid/space.h"
#include "plugin/blob_hybrid/survey.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

using Named = std::vector<std::pair<const char*, uint64_t>>;

Named GaugesOf(const BlobHybridSpace& space) {
  Named all;
#define X(name, unit, description) all.emplace_back(#name, space.name);
  BLOB_HYBRID_GAUGES(X)
#undef X
  return all;
}

Named AllOf(const BlobHybridStats& stats) {
  Named all = GaugesOf(stats);
#define X(name, unit, description) all.emplace_back(#name, stats.name);
  BLOB_HYBRID_COUNTERS(X)
#undef X
  return all;
}

std::string Lines(const Named& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += std::string(name) + ": " + std::to_string(value) + "\n";
  }
  return text;
}

std::string Json(const Named& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += (text.empty() ? "{\"" : ",\"") + std::string(name) + "\":" + std::to_string(value);
  }
  return text + "}";
}

void SetGauges(const Totals& totals, const Space& space, BlobHybridSpace* stats) {
  stats->blob_files = totals.blob_files;
  stats->blob_file_bytes = totals.blob_file_bytes;
  const uint64_t referred = space.value_bytes - std::min(space.value_bytes, space.garbage_bytes);
  stats->medium_bytes = std::min(space.medium_bytes, referred);
  stats->large_bytes = space.value_bytes - stats->medium_bytes;
  stats->large_garbage_bytes = space.garbage_bytes;
  // The estimate is of both classes.
  const uint64_t large = referred - stats->medium_bytes;
  const double share =
      referred == 0 ? 0 : static_cast<double>(large) / static_cast<double>(referred);
  stats->large_hidden_bytes =
      static_cast<uint64_t>(static_cast<double>(space.hidden_bytes) * share);
  stats->large_live_bytes = large - stats->large_hidden_bytes;
  stats->sst_files = totals.sst_files;
  stats->small_bytes = space.disk_bytes - stats->blob_file_bytes;
  stats->space_amplification_percent = static_cast<uint64_t>(space.amplification * 100);
}

}  // namespace

std::string BlobHybridSpace::ToString() const { return Lines(GaugesOf(*this)); }

std::string BlobHybridSpace::ToJson() const { return Json(GaugesOf(*this)); }

std::string BlobHybridStats::ToString() const { return Lines(AllOf(*this)); }

std::string BlobHybridStats::ToJson() const { return Json(AllOf(*this)); }

Status StatsOf(DBImpl* db, ColumnFamilyData* data, Surveyor* surveyor, BlobHybridStats* stats) {
  *stats = BlobHybridStats();
  const auto settings = SettingsOf(ImmutableOf(*data).compaction_filter_factory);
  uint64_t floor = 0;
  if (settings != nullptr) {
    floor = settings->options.space_floor;
#define X(name, unit, description) stats->name = settings->counters->name;
    BLOB_HYBRID_COUNTERS(X)
#undef X
  }
  Totals totals;
  const Status s = surveyor->Sum(db, data, &totals);
  const bool seen_before = s.IsIncomplete() && totals.sst_files > 0;
  if (s.ok() || seen_before) {
    SetGauges(totals, Estimate(totals, floor), stats);
  }
  return seen_before ? Status::OK() : s;
}

Status GetBlobHybridStats(DB* db, ColumnFamilyHandle* family, BlobHybridStats* stats) {
  Surveyor surveyor(Surveyor::Reading::kWhole);
  const Status s = StatsOf(static_cast<DBImpl*>(db->GetRootDB()), DataOf(family), &surveyor, stats);
  const std::vector<Surveyor::Unread> unread = surveyor.TakeUnread();
  return s.ok() && !unread.empty() ? unread.front().why : s;
}

void AddMetrics(const BlobHybridStats& stats, const MetricsPage::Labels& labels,
                MetricsPage* page) {
#define X(name, unit, description) \
  page->Add({#name, "gauge", unit, description}, stats.name, labels);
  BLOB_HYBRID_GAUGES(X)
#undef X
#define X(name, unit, description) \
  page->Add({#name, "counter", unit, description}, stats.name, labels);
  BLOB_HYBRID_COUNTERS(X)
#undef X
}

bool GetBlobHybridProperty(DB* db, ColumnFamilyHandle* family, const std::string& property,
                           std::string* value) {
  BlobHybridStats stats;
  MetricsPage page;
  if (GetBlobHybridStats(db, family, &stats).ok()) {
    AddMetrics(stats, {}, &page);
  }
  return page.Find(property, value);
}

std::string BlobHybridMetricsText(DB* db) {
  const auto scheduler = Databases::Instance()->Find(db->GetRootDB());
  return scheduler == nullptr ? "" : scheduler->MetricsText();
}

Status SettleBlobHybrid(DB* db) {
  const auto scheduler = Databases::Instance()->Find(db->GetRootDB());
  if (scheduler != nullptr) {
    scheduler->Settle();
  }
  return Status::OK();
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
