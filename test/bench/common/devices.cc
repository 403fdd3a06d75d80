// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/common/devices.h"

#include <fstream>
#include <sstream>

namespace rocktier_bench {

namespace {

constexpr uint64_t kSectorSize = 512;

}  // namespace

std::vector<std::pair<std::string, std::string>> ParsePairs(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> result;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    const size_t equals = part.find('=');
    result.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return result;
}

DeviceCounts CountsOf(const std::string& device) {
  std::ifstream in("/proc/diskstats");
  DeviceCounts counts;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    uint64_t number[8];
    std::string name;
    fields >> number[0] >> number[1] >> name;
    for (int i = 0; i < 8; i++) fields >> number[i];  // reads, merged, sectors, ms, writes, ...
    if (name == device) {
      counts.reads = number[0];
      counts.read_bytes = number[2] * kSectorSize;
      counts.written_bytes = number[6] * kSectorSize;
    }
  }
  return counts;
}

}  // namespace rocktier_bench
