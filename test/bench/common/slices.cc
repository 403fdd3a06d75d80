// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/common/slices.h"

#include <cstdio>
#include <iostream>
#include <string>

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::Status;

namespace {

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

}  // namespace

Status ServeSlices(const Slice& slice) {
  Say("ready");
  for (double seconds; std::cin >> seconds;) {
    JsonObject figures;
    const Status s = slice(seconds, &figures);
    if (!s.ok()) return s;
    Say(figures.ToString());
  }
  return std::cin.eof() ? Status::OK() : Status::InvalidArgument("standard input", "no seconds");
}

}  // namespace rocktier_bench
