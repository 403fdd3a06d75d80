// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/model.h"

#include <algorithm>
#include <cmath>

#include "db/blob/blob_log_format.h"
#include "plugin/blob_hybrid/blob_hybrid.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// Bytes: a BlobIndex, and what an entry has besides key and value.
constexpr double kReference = 20;
constexpr double kBlobHeader = BlobLogRecord::kHeaderSize;
constexpr double kLeastGrowth = 2;  // a tree that does not grow has no number of levels

// Bytes of all records of the classes.
struct Placed {
  double small = 0;        // keys and values
  double medium = 0;       // keys and values
  double large = 0;        // keys and values
  double medium_refs = 0;  // keys and references
  double large_refs = 0;
  double medium_log = 0;  // keys and values with their headers
  double large_log = 0;

  double all() const { return small + medium + large; }
};

Placed Place(const std::vector<SizeClass>& records, const Thresholds& thresholds) {
  Placed placed;
  for (const SizeClass& each : records) {
    const double bytes = each.key_bytes + each.value_bytes;
    const double references = each.key_bytes + each.count * kReference;
    const double log = bytes + each.count * kBlobHeader;
    const double value = each.count == 0 ? 0 : each.value_bytes / each.count;
    if (value >= thresholds.large) {
      placed.large += bytes;
      placed.large_refs += references;
      placed.large_log += log;
    } else if (value >= thresholds.medium) {
      placed.medium += bytes;
      placed.medium_refs += references;
      placed.medium_log += log;
    } else {
      placed.small += bytes;
    }
  }
  return placed;
}

}  // namespace

int Levels(const Tree& tree, double bytes) {
  const double growth = std::max(tree.growth, kLeastGrowth);
  int levels = 1;
  for (double size = tree.memory_bytes * growth; size < bytes; size *= growth) {
    levels++;
  }
  return levels;
}

double IoAmplification(const Tree& tree, int levels) { return levels * (tree.growth + 1) - 1; }

double WriteAmplification(const Tree& tree, int levels) { return levels * (tree.growth + 1) / 2; }

double ShareAbove(const Tree& tree, int below) { return std::pow(tree.growth, -below); }

double BenefitOfSeparation(const Tree& tree, int levels, double p) {
  const double in_place = IoAmplification(tree, levels);
  return (1 + p) * in_place / (p * in_place + 1 + p);
}

Thresholds PaperThresholds(double key_bytes) {
  const BlobHybridOptions paper;
  return {key_bytes / paper.t_sm - key_bytes, key_bytes / paper.t_ml - key_bytes};
}

Cost Predict(const Tree& tree, const std::vector<SizeClass>& records, const Thresholds& thresholds,
             double overwrites, double garbage_ratio) {
  const Placed placed = Place(records, thresholds);
  Cost cost;
  if (placed.all() == 0) {
    return cost;
  }
  const int levels = Levels(tree, placed.small + placed.medium + placed.large_refs);
  const double each = WriteAmplification(tree, 1);
  const double relocation = overwrites * (1 - garbage_ratio) / garbage_ratio;
  double written = placed.all();  // the write-ahead log
  written += (placed.small + placed.large_refs) * each * levels;
  written += placed.medium_refs * each * (levels - 1) + placed.medium * each + placed.medium_log;
  written += placed.large_log * (1 + relocation);
  cost.write_amplification = written / placed.all();

  // Above the last level there are references of medium values: level sizes count these, so that it
  // is more values.
  const double above = ShareAbove(tree, 1);
  const double entries = placed.medium_refs == 0 ? 0 : above * placed.medium / placed.medium_refs;
  double space = (placed.small + placed.medium + placed.large_refs) * (1 + overwrites * above);
  space += placed.medium_log * std::min(1.0, entries);
  space += placed.large_log * (1 + overwrites * above +
                               (overwrites > 0 ? garbage_ratio / 2 / (1 - garbage_ratio / 2) : 0));
  cost.space_amplification = space / placed.all();
  return cost;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
