// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/hot/trace.h"

#include <fstream>
#include <sstream>

#include "test/bench/common/workload.h"
#include "util/hash.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::GetSliceNPHash64;
using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr double kTheta = 0.99;
constexpr double kWrites = 0.1;
constexpr uint64_t kMoved = 5;  // one of so many keys changes places
constexpr uint64_t kOperationsPerSecond = 10000;

}  // namespace

Status Trace::Read(const std::string& file, uint64_t records) {
  std::ifstream in(file);
  if (!in) return Status::IOError("cannot be read", file);
  uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    number++;
    std::istringstream fields(line);
    std::string time, key, key_size, value_size, client, operation;
    std::getline(fields, time, ',');
    std::getline(fields, key, ',');
    std::getline(fields, key_size, ',');
    std::getline(fields, value_size, ',');
    std::getline(fields, client, ',');
    std::getline(fields, operation, ',');
    if (key.empty() || operation.empty()) {
      return Status::Corruption(file + ":" + std::to_string(number), "is no line of a trace");
    }
    if (operation == "delete") continue;
    const uint64_t record = GetSliceNPHash64(key) % records;
    operations_.push_back(record << 1 | (operation == "get" || operation == "gets" ? 1 : 0));
  }
  return operations_.empty() ? Status::Corruption(file, "has no operations") : Status::OK();
}

Status WriteTrace(const std::string& file, uint64_t operations, uint64_t keys, uint64_t value_size,
                  uint64_t seed) {
  std::ofstream out(file);
  Random random(seed);
  const Zipf zipf(keys, kTheta);
  for (uint64_t i = 0; i < operations; i++) {
    const uint64_t rank = zipf.Next(&random);
    // Keys of these ranks are others from some time on, and at different times.
    const bool moves = rank % kMoved == 0;
    const uint64_t moves_at = rank / kMoved * 7919 % operations;
    const uint64_t key = moves && i >= moves_at ? keys + rank : rank;
    const bool writes = random.NextDouble() < kWrites;
    out << i / kOperationsPerSecond << ",k" << key << ',' << 1 + std::to_string(key).size() << ','
        << value_size << ",1," << (writes ? "set" : "get") << ",0\n";
  }
  out.close();
  return out ? Status::OK() : Status::IOError("cannot be written", file);
}

}  // namespace rocktier_bench
