// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <string>

#include "plugin/tiered_env/find.h"
#include "plugin/tiered_env/tiered_env.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

std::string TieredStats::ToString() const {
  std::string text;
  for (const TieredTierStats& tier : tiers) {
    text += "  tier " + tier.name + "\n";
#define X(name, unit, description) \
  text += "    " #name " : " + std::to_string(tier.name) + " " unit "\n";
    TIERED_TIER_STATS(X)
#undef X
  }
  if (in_memory.tables > 0 || in_memory.recipes > 0) {
    text += "  in memory\n";
#define X(name, unit, description) \
  text += "    " #name " : " + std::to_string(in_memory.name) + " " unit "\n";
    TIERED_VOLATILE_STATS(X)
#undef X
  }
  return text;
}

std::string TieredStats::ToJson() const {
  std::string json;
  for (const TieredTierStats& tier : tiers) {
    json += (json.empty() ? "{\"" : ",\"") + tier.name + "\":{";
    std::string separator;
#define X(name, unit, description)                                  \
  json += separator + "\"" #name "\":" + std::to_string(tier.name); \
  separator = ",";
    TIERED_TIER_STATS(X)
#undef X
    json += "}";
  }
  json += json.empty() ? "{\"in memory\":{" : ",\"in memory\":{";
  std::string separator;
#define X(name, unit, description)                                       \
  json += separator + "\"" #name "\":" + std::to_string(in_memory.name); \
  separator = ",";
  TIERED_VOLATILE_STATS(X)
#undef X
  return json + "}}";
}

Status GetTieredStats(FileSystem* fs, TieredStats* stats) {
  TieredFileSystem* ours;
  Status s = FindFs(fs, &ours);
  if (s.ok()) {
    *stats = TieredStats();
    ours->AddStats(stats);
  }
  return s;
}

Status WaitForMoves(FileSystem* fs) {
  TieredFileSystem* ours;
  Status s = FindFs(fs, &ours);
  if (s.ok()) {
    ours->WaitForMoves();
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
