// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/hot_promotion/ralt/run_file.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Part: a file of a run. A merge that has got so far has taken the records before `begin` out of
// it.
struct Part {
  std::shared_ptr<const RunFile> file;
  std::string begin;  // no less than the file's first key

  Amounts Total() const;
};

// Run: a sorted run, files whose ranges follow on each other. Immutable.
class Run {
 public:
  // `id` names the run as long as the table is open.
  Run(uint64_t id, std::vector<Part> parts);

  bool MayBeHot(const Slice& key, uint64_t hash) const;

  uint64_t id() const { return id_; }
  const std::vector<Part>& parts() const { return parts_; }
  const Amounts& total() const { return total_; }
  uint64_t file_bytes() const { return file_bytes_; }

  // Returns what is left when the records up to `last` have been taken out.
  std::vector<Part> After(const Slice& last) const;

 private:
  // The first part that may have `key` or a later one.
  std::vector<Part>::const_iterator PartOf(const Slice& key) const;

  const uint64_t id_;
  const std::vector<Part> parts_;
  Amounts total_;
  uint64_t file_bytes_ = 0;
};

using RunPtr = std::shared_ptr<const Run>;
using Runs = std::vector<RunPtr>;  // the newest first

bool MayBeHot(const Runs& runs, const Slice& key, uint64_t hash);

// The state of the table at one time. Immutable.
struct Version {
  Runs runs;

  Amounts Total() const;
  uint64_t FileBytes() const;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
