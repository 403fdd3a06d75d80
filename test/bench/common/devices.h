// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rocktier_bench {

// "name=value;name=value", as the flags of the drivers have it.
std::vector<std::pair<std::string, std::string>> ParsePairs(const std::string& text);

// What a block device has done since the machine was started.
struct DeviceCounts {
  uint64_t reads = 0;
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
};

// `device`: as in /proc/diskstats. All 0 if there is none of that name.
DeviceCounts CountsOf(const std::string& device);

}  // namespace rocktier_bench
