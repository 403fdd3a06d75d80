// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Which presets fit on a machine, and what should be mended first.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "tools/doctor/gain.h"
#include "tools/doctor/machine.h"
#include "tools/doctor/place.h"
#include "tools/preset/presets.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

// The load; what is not given is assumed.
struct Load {
  uint64_t data = 0;  // 0: half of what is free where most of it goes
  uint64_t value = 1024;
  double hot = 5;  // percent
};

struct Advice {
  const preset::Preset* preset = nullptr;
  bool fits = false;
  std::string why;      // or what is missing
  std::string command;  // empty if it does not fit
  Gain gain;
  std::string measure;  // the command that measures what there is no model for
};

// All presets, the best first; those that do not fit are last. `plugins`: those that are built.
std::vector<Advice> Advise(const Machine& machine, const std::vector<Place>& places,
                           const Load& load, const std::set<std::string>& plugins);

// What should be mended, a sentence each.
std::vector<std::string> ToMend(const Machine& machine, const std::vector<Place>& places);

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
