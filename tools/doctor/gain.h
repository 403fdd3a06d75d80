// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What a preset would gain, as a range, by a formula over what was measured. The formula that is
// printed is the one that is evaluated.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "tools/doctor/probe.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

// A figure of the formula, for either end of the range.
struct GainFigure {
  std::string name;
  double low = 0;
  double high = 0;
};

struct Gain {
  std::string of;  // "random reads past the caches"; empty: there is no model
  std::string formula;
  std::vector<GainFigure> figures;
  double low = 0;
  double high = 0;

  bool known() const { return !of.empty(); }
};

// Of synchronous writes of one thread whose log goes to a log device.
Gain GainOfWrites(const Latency& sync, const Latency& device_sync);

// Of random reads of which a share goes to the fast device, instead of all to the slow one.
Gain GainOfReads(const Latency& slow, const Latency& fast, double low_share, double high_share);

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
