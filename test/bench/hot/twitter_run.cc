// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/hot/twitter_run.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Status;
using Kind = TwitterStream::Kind;

namespace {

constexpr uint64_t kFewReads = 10000;  // chance alone is 0.02 off with fewer

double Share(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<uint64_t>(1, whole));
}

}  // namespace

TwitterRun::TwitterRun(const TwitterCluster& cluster, uint64_t records, uint64_t seed)
    : cluster_(cluster), stream_(cluster, records, seed), records_(cluster, records) {}

TwitterStream::Operation TwitterRun::Next() {
  std::lock_guard<std::mutex> lock(mutex_);
  return stream_.Next();
}

Status TwitterRun::Do(DB* db, const TwitterStream::Operation& operation) {
  switch (operation.kind) {
    case Kind::kGet:
      return records_.Get(db, operation.record);
    case Kind::kPut:
      return records_.Put(db, operation.record);
    case Kind::kDelete:
      break;
  }
  return records_.Delete(db, operation.record);
}

void TwitterRun::AddTo(JsonObject* json) {
  std::lock_guard<std::mutex> lock(mutex_);
  const TwitterStream::Counts& counts = stream_.counts();
  const double puts = Share(counts.puts, counts.operations);
  const double deletes = Share(counts.deletes, counts.operations);
  json->Add("put_share", puts);
  json->Add("delete_share", deletes);
  json->Add("absent_share", Share(counts.absent, counts.operations));
  json->Add("insert_share", Share(counts.inserts, counts.puts));
  if (counts.finds < kFewReads) return;
  const double sunk = Share(counts.sunk, counts.finds);
  const double hot = Share(counts.hot, counts.finds);
  json->Add("sunk_share", sunk);
  json->Add("hot_share", hot);
  json->Add("shares_off",
            std::max({std::abs(puts - cluster_.puts), std::abs(deletes - cluster_.deletes),
                      std::abs(sunk - cluster_.sunk), std::abs(hot - cluster_.hot)}));
}

Status PrintTwitterOperations(const TwitterCluster& cluster, uint64_t records, uint64_t operations,
                              uint64_t seed, std::FILE* file) {
  std::string key;
  const auto print = [&](Kind kind, uint32_t record) {
    MakeTwitterKey(cluster, record, &key);
    if (kind == Kind::kPut) {
      std::fprintf(file, "INSERT %s %zu\n", key.c_str(), TwitterValueSize(cluster, record));
    } else {
      std::fprintf(file, "%s %s\n", kind == Kind::kGet ? "READ" : "DELETE", key.c_str());
    }
  };
  for (uint32_t record = 0; record < records; record++) print(Kind::kPut, record);
  TwitterStream stream(cluster, records, seed);
  for (uint64_t i = 0; i < operations; i++) {
    const TwitterStream::Operation operation = stream.Next();
    print(operation.kind, operation.record);
  }
  return std::ferror(file) == 0 ? Status::OK() : Status::IOError("operations cannot be written");
}

}  // namespace rocktier_bench
