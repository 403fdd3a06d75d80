// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Where a test may stop the plugin, or make a call fail: RocksDB's SyncPoint, in the build of the
// tests. Nothing elsewhere.

#pragma once

#ifdef ROCKTIER_TEST_HOOKS
#include "test_util/sync_point.h"
#else
#define TEST_SYNC_POINT(name)
#define TEST_SYNC_POINT_CALLBACK(name, argument)
#endif
