// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/subcompaction.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

struct Output {
  uint32_t family = 0;
  int level = -1;
};

thread_local Output output;

}  // namespace

void ForgetOutputLevel() { output = Output(); }

void SetOutputLevel(uint32_t family, int level) {
  output.family = family;
  output.level = level;
}

int OutputLevel(uint32_t family) { return output.family == family ? output.level : -1; }

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
