// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/files/clock.h"

#include <ctime>

#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

uint64_t SecondsSince1970() {
  auto now = static_cast<uint64_t>(time(nullptr));
  TEST_SYNC_POINT_CALLBACK("SecondsSince1970", &now);
  return now;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
