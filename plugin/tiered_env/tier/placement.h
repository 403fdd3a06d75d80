// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Which file belongs to which tier: pure functions, no I/O.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/advanced_options.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Kinds of files that rules tell apart.
enum class Content : uint8_t {
  kTable,  // an SST
  kBlob,   // a blob file
  kWal,    // a write-ahead log
  kMeta,   // MANIFEST and OPTIONS. CURRENT, IDENTITY, LOCK and LOG are always at home.
  kOther,  // always at home
};

// The levels of a column family that have files.
struct LevelRange {
  int base = 1;  // the first level below L0 with files, 1 if there is none
  int last = 1;  // the deepest level with files, at least base
};

// The user keys of an SST, both ends included.
struct KeyRange {
  std::string smallest;
  std::string largest;
};

// What is known of a file.
struct Facts {
  Content content = Content::kOther;
  int level = -1;    // of an SST; -1: not known
  LevelRange shape;  // of its column family
  Temperature temperature = Temperature::kUnknown;
  uint64_t age = 0;                      // seconds since it was written
  std::string family;                    // the column family; empty: not known
  std::shared_ptr<const KeyRange> keys;  // of an SST; null: not known
};

// The option `placement`: rules, the first that fits counts.
//
//   placement = rule {";" rule}
//   rule      = (selector | condition {"/" condition} ["/" selector]) "=" tier
//   condition = "older:" number ("s" | "m" | "h" | "d") | "cf:" pattern
//             | "range:" [key] ".." [key]        one end at least; the second one is not included
//   key       = text | "0x" hexadecimal digits
//   selector  = levels | "hot" | "warm" | "cold" | ... | "blob" | "wal" | "meta"
//   levels    = point | point ".." [point]    both ends included; without an end: to the last level
//   point     = number | "base" ["+" number] | "last" ["-" number]
//
// A rule of a temperature fits an SST that RocksDB gave it (last_level_temperature,
// default_write_temperature). Temperatures: all of RocksDB's, by their names without "k", in small
// letters. A rule of levels fits no file whose level is not known. The file counts as one of its
// column family's: at a level above the base it makes that the base, at one below the last it makes
// that the last. Only a number, or a range that begins with one, stands for L0: last-1 does not,
// where last is 1. A rule with conditions fits SSTs and blob files that were written so long ago,
// and are of a column family whose name matches the pattern (fnmatch); with a selector, those that
// it fits. A rule of families fits no file whose family is not known. A rule of a range fits SSTs
// all of whose keys are in it, by the order of their bytes; none whose keys are not known.
class Placement {
 public:
  // `tiers`: names, in their order. InvalidArgument names the rule.
  static Status Parse(const std::string& text, const std::vector<std::string>& tiers,
                      Placement* result);

  // Index of the file's tier; `home` if no rule fits.
  int TierOf(const Facts& facts, int home) const;

  // Returns whether a rule has files of this kind in the tier.
  bool HasIn(int tier, Content content) const;

  // Returns whether a rule has SSTs with some keys in the tier.
  bool HasRangeIn(int tier) const;

  // Returns whether a rule is of column families.
  bool HasFamilies() const;

  // The least age in seconds from which a rule fits; 0: no rule is of an age.
  uint64_t LeastAge() const;

 private:
  struct Point {
    enum class From : uint8_t { kZero, kBase, kLast };
    From from = From::kZero;
    int distance = 0;

    bool Parse(const std::string& text);
    int LevelIn(const LevelRange& shape) const;
  };
  struct Rule {
    Content content = Content::kTable;
    bool any = false;  // conditions and no selector: SSTs and blob files
    bool by_level = false;
    uint64_t age = 0;    // seconds; 0: any
    std::string family;  // a pattern; empty: any
    bool by_range = false;
    std::string from;  // the first key of the range
    std::string to;    // the first one after it; empty: there is none
    Point first;
    Point last;
    Temperature temperature = Temperature::kUnknown;
    int tier = 0;

    bool Parse(const std::string& text);
    bool ParseCondition(const std::string& text);
    bool ParseRange(const std::string& text);
    bool ParseSelector(const std::string& text);
    bool ParseLevels(const std::string& text);
    bool IsOf(Content kind) const;
    bool IsInRange(const KeyRange* keys) const;
    bool Fits(const Facts& facts) const;
  };

  std::vector<Rule> rules_;
};

// The level that a write-lifetime hint stands for, -1 if for none. RocksDB derives the hint from
// the distance to the base level (VersionStorageInfo::CalculateSSTWriteHint), in which L0 is as the
// base level: `flush` tells them apart. What is two levels or more below the base is taken for that
// or, if deeper, the last one. An output of L0 that is no flush is taken for the base. SHORT, which
// only universal compaction of RocksDB 11 gives, stands for none but with `flush`.
int LevelOfHint(int hint, bool flush, const LevelRange& shape);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
