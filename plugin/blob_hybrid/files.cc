// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/files.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

uint64_t Survey::max_sst_number() const {
  uint64_t result = 0;
  for (const SstInfo& sst : ssts) {
    result = std::max(result, sst.number);
  }
  return result;
}

void Totals::Count(const SstInfo& sst, uint64_t times) {
  sst_files += times;
  sst_bytes += times * sst.bytes;
  sst_user_bytes += times * sst.user_bytes;
  medium_bytes += times * sst.medium_bytes;
  unsampled += sst.sketch == nullptr ? times : 0;
  const auto number = static_cast<size_t>(sst.level);
  if (levels.size() <= number) {
    levels.resize(number + 1);
  }
  Level& level = levels[number];
  level.entries += times * sst.entries;
  level.values += times * (sst.entries - std::min(sst.entries, sst.deletions));
  level.covered += times * sst.covered;
}

void Totals::Count(const BlobInfo& blob, uint64_t times) {
  blob_files += times;
  blob_file_bytes += times * blob.file_bytes;
  value_bytes += times * blob.bytes;
  garbage_bytes += times * blob.garbage_bytes;
}

Totals TotalsOf(const Survey& survey) {
  Totals totals;
  std::vector<const Sketch*> sketches;
  for (const SstInfo& sst : survey.ssts) {
    totals.Add(sst);
    sketches.push_back(sst.sketch.get());
  }
  for (const BlobInfo& blob : survey.blobs) {
    totals.Add(blob);
  }
  totals.last_level = survey.last_level;
  if (totals.unsampled == 0) {
    totals.sampled = Combine(sketches);
  }
  return totals;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
