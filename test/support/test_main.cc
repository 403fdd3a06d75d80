// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// main() of the tests. A crash prints its stack.

#include "gtest/gtest.h"
#include "port/stack_trace.h"

int main(int argc, char** argv) {
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
