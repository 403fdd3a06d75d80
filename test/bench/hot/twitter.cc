// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/hot/twitter.h"

#include <cstdlib>
#include <limits>
#include <map>

#include "test/bench/common/devices.h"
#include "test/bench/common/records.h"
#include "test/bench/common/workload.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr double kMostBytes = 1 << 20;  // of a key, and of a value

bool ParseNumber(const std::string& text, double* number) {
  char* end = nullptr;
  *number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

bool IsShare(double share) { return share >= 0 && share <= 1; }

Status Check(const TwitterCluster& cluster) {
  if (cluster.key_size < kKeySize) {
    return Status::InvalidArgument("a key needs bytes", std::to_string(kKeySize));
  }
  if (cluster.value_size < 2 * kMinValueSize) {
    return Status::InvalidArgument("values need bytes", std::to_string(2 * kMinValueSize));
  }
  if (!IsShare(cluster.puts) || !IsShare(cluster.deletes) || !IsShare(cluster.inserts) ||
      !IsShare(cluster.sunk) || !IsShare(cluster.hot)) {
    return Status::InvalidArgument("a share is no share");
  }
  if (cluster.puts + 2 * cluster.deletes > 1) {
    return Status::InvalidArgument("fewer reads than deletes");
  }
  if (cluster.puts * cluster.inserts < cluster.deletes) {
    return Status::InvalidArgument("more deletes than inserts");
  }
  return Status::OK();
}

}  // namespace

Status ParseTwitterCluster(const std::string& text, TwitterCluster* cluster) {
  double key = 0;
  double value = 0;
  const std::map<std::string, double*> members = {
      {"key", &key},
      {"value", &value},
      {"puts", &cluster->puts},
      {"deletes", &cluster->deletes},
      {"inserts", &cluster->inserts},
      {"sunk", &cluster->sunk},
      {"hot", &cluster->hot},
  };
  for (const auto& part : ParsePairs(text)) {
    const auto member = members.find(part.first);
    if (member == members.end() || !ParseNumber(part.second, member->second)) {
      return Status::InvalidArgument("is nothing of a cluster", part.first);
    }
  }
  if (!(key >= 0 && key <= kMostBytes && value >= 0 && value <= kMostBytes)) {
    return Status::InvalidArgument("a size is no size");
  }
  cluster->key_size = static_cast<size_t>(key);
  cluster->value_size = static_cast<size_t>(value);
  return Check(*cluster);
}

void MakeTwitterKey(const TwitterCluster& cluster, uint64_t record, std::string* key) {
  static const char kDigits[] = "0123456789abcdef";
  static const Permutation order(std::numeric_limits<uint32_t>::max(), 1);
  MakeKey(order(record), key);
  Random random(record);
  while (key->size() < cluster.key_size) key->push_back(kDigits[random.Uniform(16)]);
}

size_t TwitterValueSize(const TwitterCluster& cluster, uint64_t record) {
  return cluster.value_size / 2 + Random(record).Uniform(cluster.value_size + 1);
}

}  // namespace rocktier_bench
