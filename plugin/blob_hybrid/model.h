// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What placements of values cost: the model of Parallax, section 2 (Equations 1 to 4, Figure 4).
// Pure functions.

#pragma once

#include <cstdint>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// A tree of levels, each `growth` times as large as the one above it.
struct Tree {
  double growth = 10;
  // Level 0 of the paper: what is merged into the first level at once.
  double memory_bytes = 64 << 20;
};

// Merges until data of so many bytes have reached the last level; at least 1.
int Levels(const Tree& tree, double bytes);

// Equation 2: bytes that are read and written for each byte until it is in the last one of some
// levels, N (f + 1) - 1: with each of N merges a byte is read and written, but not read for the
// first one, and f - 1 bytes of the lower level are read or written for it on average.
double IoAmplification(const Tree& tree, int levels);
// The bytes of these that are written.
double WriteAmplification(const Tree& tree, int levels);

// Figure 4(b): share of the data that is above the last `below` levels of a tree that has many.
double ShareAbove(const Tree& tree, int below);

// Equation 4: I/O in place for each byte of I/O with values in a log, where `p` is the size of keys
// by that of values.
double BenefitOfSeparation(const Tree& tree, int levels, double p);

// Records of about the same size.
struct SizeClass {
  double count = 0;
  double key_bytes = 0;    // of all of them
  double value_bytes = 0;  // of all of them
};

struct Thresholds {
  double medium = 0;  // bytes of a value: from here on it is medium
  double large = 0;   // from here on it is large
};

// Computes the thresholds for keys of this size: a key is 20% of a small record at least, and 2% of
// a large one at most (T_SM and T_ML of section 2.2).
Thresholds PaperThresholds(double key_bytes);

struct Cost {
  // Bytes written for each byte of records, the write-ahead log included.
  double write_amplification = 0;
  double space_amplification = 0;  // bytes of files for each live byte
};

// `overwrites`: share of the writes that replace a record. Medium values are in a log until they
// come to the last level. Large ones are collected from files with more garbage than
// `garbage_ratio`: for each byte of garbage (1 - g) / g bytes are written again. The paper has no
// model of garbage and of updates; what is said of them here is ours:
// - an overwritten record is garbage that is known in the last level only: above it there is
//   ShareAbove();
// - files have half as much garbage as they are collected with;
// - of the log of medium values as much is garbage as is not.
Cost Predict(const Tree& tree, const std::vector<SizeClass>& records, const Thresholds& thresholds,
             double overwrites, double garbage_ratio);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
