// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/metrics_page.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyData;
class DBImpl;

namespace blob_hybrid {

class Surveyor;

// GetBlobHybridStats(), by what a surveyor has seen before. Incomplete: it has not seen all SSTs
// yet.
Status StatsOf(DBImpl* db, ColumnFamilyData* family, Surveyor* surveyor, BlobHybridStats* stats);

// Adds all figures, with these labels.
void AddMetrics(const BlobHybridStats& stats, const MetricsPage::Labels& labels, MetricsPage* page);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
