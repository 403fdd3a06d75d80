// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The presets, each in a file of its own.

#pragma once

#include <vector>

#include "tools/command.h"
#include "tools/preset/plan.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

struct Preset {
  const char* name;
  const char* plugins;
  const char* summary;  // a sentence
  const char* page;     // in docs/
  std::vector<const char*> required;
  std::vector<const char*> optional;
  Status (*make)(const Request& request, Plan* plan);
};

const std::vector<Preset>& Presets();

Status MakeNvmeHdd(const Request& request, Plan* plan);
Status MakeNetworkVolume(const Request& request, Plan* plan);
Status MakeRamSsd(const Request& request, Plan* plan);
Status MakeLargeValues(const Request& request, Plan* plan);
Status MakePmem(const Request& request, Plan* plan);
Status MakeCacheOnly(const Request& request, Plan* plan);
Status MakeWalOnly(const Request& request, Plan* plan);

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
