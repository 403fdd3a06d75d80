// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/setup.h"

#include <algorithm>
#include <map>
#include <utility>

#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/pmem/file_system.h"
#include "plugin/tiered_env/tier/slow_device.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#include "rocksdb/convenience.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint64_t kMostMetricsInterval = 24 * 60 * 60;  // seconds
constexpr char kMetricsEnd[] = ".prom";

Status MakeTier(const TierOptions& options, int index, int first,
                const std::shared_ptr<FileSystem>& target, std::shared_ptr<Tier>* result) {
  std::shared_ptr<FileSystem> fs = target;
  Status s;
  if (target != nullptr && options.kind == TierKind::kPmem) {
    s = NewPmemFileSystem(target, options.path, &fs);
  }
  if (s.ok() && target != nullptr && !options.emulate.none()) {
    fs = NewEmulatedFileSystem(fs, options.emulate);
  }
  if (s.ok()) {
    *result = std::make_shared<Tier>(options, index, first, std::move(fs));
  }
  return s;
}

Status Refuse(const std::string& option, const std::string& value, const std::string& rule) {
  return Status::InvalidArgument("TieredFileSystem: " + option + "=" + value, rule);
}

Status CheckRecoveryOptions(const TieredOptions& options, RecoveryOptions* result) {
  const std::map<std::string, CompressionType> codecs = {
      {"none", kNoCompression}, {"lz4", kLZ4Compression}, {"zstd", kZSTD}};
  const auto codec = codecs.find(options.wal_compression);
  if (codec == codecs.end()) {
    return Refuse("wal_compression", options.wal_compression, "must be none, lz4 or zstd");
  }
  const std::vector<CompressionType> supported = GetSupportedCompressions();
  if (std::find(supported.begin(), supported.end(), codec->second) == supported.end()) {
    return Refuse("wal_compression", options.wal_compression, "is not in this build of RocksDB");
  }
  if (options.on_close != "keep" && options.on_close != "persist") {
    return Refuse("on_close", options.on_close, "must be keep or persist");
  }
  if (options.checkpoints != "plain" && options.checkpoints != "linked") {
    return Refuse("checkpoints", options.checkpoints, "must be plain or linked");
  }
  if (!(options.wal_amplification_low >= 1)) {
    return Refuse("wal_amplification_low", std::to_string(options.wal_amplification_low),
                  "must be at least 1");
  }
  if (!(options.wal_amplification_high >= options.wal_amplification_low)) {
    return Refuse("wal_amplification_high", std::to_string(options.wal_amplification_high),
                  "must be at least wal_amplification_low");
  }
  if (options.wal_budget != 0 && !options.mover) {
    return Refuse("wal_budget", std::to_string(options.wal_budget),
                  "needs the mover, which brings SSTs from memory to other tiers, and mover=false");
  }
  result->high = options.wal_amplification_high;
  result->low = options.wal_amplification_low;
  result->compression = codec->second;
  result->wal_budget = options.wal_budget;
  result->persist_on_close = options.on_close == "persist";
  result->recovery_threads = options.recovery_threads;
  return Status::OK();
}

Status CheckMetrics(const TieredOptions& options) {
  const std::string& path = options.metrics_file;
  if (options.metrics_interval > kMostMetricsInterval) {
    return Refuse("metrics_interval", std::to_string(options.metrics_interval),
                  "must be at most 86400 seconds");
  }
  if (!path.empty() && (path[0] != '/' || !EndsWith(path, kMetricsEnd))) {
    return Refuse("metrics_file", path, "must be absolute, and end in .prom");
  }
  return Status::OK();
}

Status CheckMover(const TieredOptions& options) {
  if (options.mover_limiter != "own" && options.mover_limiter != "database") {
    return Refuse("mover_limiter", options.mover_limiter, "must be own or database");
  }
  int start = 0;
  int end = 0;
  if (!options.mover_hours.empty() &&
      (!TryParseTimeRangeString(options.mover_hours, start, end) || start == end)) {
    return Refuse("mover_hours", options.mover_hours, "must be HH:mm-HH:mm, in UTC");
  }
  return Status::OK();
}

// Only SSTs can be rebuilt.
Status CheckPlacement(const Policy& policy) {
  const std::pair<Content, const char*> kinds[] = {
      {Content::kBlob, "blob"}, {Content::kWal, "wal"}, {Content::kMeta, "meta"}};
  for (const auto& [content, name] : kinds) {
    for (const auto& tier : policy.tiers) {
      if (tier->is_volatile() && policy.placement.HasIn(tier->index(), content)) {
        return Refuse("placement", std::string(name) + "=" + tier->name(),
                      "only SSTs can be in a tier of kind memory");
      }
    }
  }
  for (const auto& tier : policy.tiers) {
    if (tier->is_volatile() && policy.placement.HasRangeIn(tier->index())) {
      return Refuse("placement", "range:...=" + tier->name(),
                    "SSTs go to a tier of kind memory when they are begun: their keys are not "
                    "known then");
    }
  }
  return Status::OK();
}

Status MakePolicy(const TieredOptions& options, const std::shared_ptr<FileSystem>& target,
                  Policy* policy) {
  std::vector<TierOptions> tiers;
  std::vector<std::string> names;
  Status s = ParseTiers(options.tiers, &tiers);
  int first = 0;
  for (size_t i = 0; s.ok() && i < tiers.size(); i++) {
    const bool is_first = tiers[i].first.empty();
    first = is_first ? static_cast<int>(i) : first;
    names.push_back(is_first ? tiers[i].name : "");  // rules are of whole tiers
    std::shared_ptr<Tier> tier;
    s = MakeTier(tiers[i], static_cast<int>(i), first, target, &tier);
    policy->tiers.push_back(std::move(tier));
  }
  if (s.ok()) {
    policy->home = FindTier(tiers, "home");
    s = Placement::Parse(options.placement, names, &policy->placement);
  }
  return s;
}

}  // namespace

std::string TextOf(const TieredOptions& options) {
  const std::pair<const char*, std::string> values[] = {
      {"tiers", options.tiers},
      {"placement", options.placement},
      {"mover_bytes_per_second", std::to_string(options.mover_bytes_per_second)},
      {"mover_limiter", options.mover_limiter},
      {"mover_hours", options.mover_hours},
      {"mover", std::to_string(options.mover)},
      {"wal_amplification_high", std::to_string(options.wal_amplification_high)},
      {"wal_amplification_low", std::to_string(options.wal_amplification_low)},
      {"wal_budget", std::to_string(options.wal_budget)},
      {"wal_compression", options.wal_compression},
      {"on_close", options.on_close},
      {"recovery_threads", std::to_string(options.recovery_threads)},
      {"checkpoints", options.checkpoints},
      {"orphan_retention", std::to_string(options.orphan_retention)},
      {"orphan_budget", std::to_string(options.orphan_budget)},
      {"db_paths", options.db_paths},
      {"metrics_interval", std::to_string(options.metrics_interval)},
      {"metrics_file", options.metrics_file}};
  std::string text;
  for (const auto& [name, value] : values) {
    text.append(name).append("=").append(value).append("\n");
  }
  return text;
}

std::string FirstChange(const std::string& before, const std::string& after) {
  const std::vector<std::string> old = StringSplit(before, '\n');
  for (const std::string& line : StringSplit(after, '\n')) {
    if (std::find(old.begin(), old.end(), line) == old.end()) {
      return line;
    }
  }
  return "";
}

Status MakeSetup(const TieredOptions& options, const std::shared_ptr<FileSystem>& target,
                 Setup* result) {
  Status s = MakePolicy(options, target, &result->policy);
  if (s.ok()) {
    s = CheckPlacement(result->policy);
  }
  if (s.ok()) {
    s = CheckRecoveryOptions(options, &result->recovery);
  }
  if (s.ok()) {
    s = CheckMover(options);
  }
  if (s.ok()) {
    s = CheckMetrics(options);
  }
  result->retention.seconds = options.orphan_retention;
  result->retention.budget = options.orphan_budget;
  result->beside = StringSplit(options.db_paths, ':');
  return s;
}

Status CheckTieredOptions(const TieredOptions& options, std::vector<TierOptions>* tiers) {
  Setup setup;
  const Status s = MakeSetup(options, /*target=*/nullptr, &setup);
  tiers->clear();
  for (const auto& tier : setup.policy.tiers) {
    tiers->push_back(tier->options());
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
