// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/advanced_options.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// SlowFiles: which files are on slow storage: the option `slow`. Immutable.
class SlowFiles {
 public:
  // InvalidArgument, with the entry that is not understood.
  static Status Parse(const std::string& text, SlowFiles* result);

  bool IsSlow(const std::string& path, Temperature temperature) const;

  // Whether the answer depends on the temperature of files.
  bool AsksForTemperature() const { return !temperatures_.empty(); }

 private:
  Status Add(const std::string& entry);

  std::vector<std::string> directories_;  // each ends with a slash
  std::vector<Temperature> temperatures_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
