// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/mistakes/samples.h"

namespace rocktier {

std::string SamplePath(const std::string& name) {
  return std::string(ROCKTIER_SAMPLES) + "/" + name;
}

}  // namespace rocktier
