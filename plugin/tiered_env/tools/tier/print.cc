// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tools/tier/print.h"

#include <cstdio>
#include <string>

#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/stats.h"
#include "tools/output.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

using tiered_env::TieredDirectoryInfo;
using tiered_env::TieredFileInfo;
using tiered_env::TieredLogInfo;
using tiered_env::TieredTierInfo;

namespace {

std::string LevelOf(const TieredFileInfo& file) {
  return file.level >= 0 ? std::to_string(file.level) : "-";
}

// What there is to say of a file besides its columns.
std::string RemarkOn(const TieredFileInfo& file) {
  if (file.lost) {
    return "  lost: no " + file.path;
  }
  return file.wanted != file.tier ? "  belongs to " + file.wanted : "";
}

// Tiers of kind memory have these together.
std::string MemoryAsJson(const TieredDirectoryInfo& info) {
  std::string json;
  tiered_env::ForEachFigure(
      info.in_memory, [&](const std::string& name, const std::string& value, const std::string&) {
        json += (json.empty() ? "" : ",") + Quote(name) + ":" + value;
      });
  return "{" + json + "}";
}

}  // namespace

void PrintFiles(const TieredDirectoryInfo& info) {
  printf("%-20s %3s %6s %14s  %-12s %s\n", "file", "cf", "level", "size", "tier", "temperature");
  for (const TieredFileInfo& file : info.files) {
    printf("%-20s %3s %6s %14llu  %-12s %s%s\n", file.name.c_str(),
           file.level >= 0 ? std::to_string(file.column_family).c_str() : "-",
           LevelOf(file).c_str(), Wide(file.size), file.tier.c_str(),
           tiered_env::PrintTemperature(file.temperature).c_str(), RemarkOn(file).c_str());
  }
}

void PrintFilesAsJson(const TieredDirectoryInfo& info) {
  std::string separator;
  printf("[");
  for (const TieredFileInfo& file : info.files) {
    printf(
        "%s{\"name\":%s,\"size\":%llu,\"needed\":%s,\"level\":%d,\"column_family\":%u,"
        "\"tier\":%s,\"wanted\":%s,\"path\":%s,\"temperature\":%s,\"lost\":%s}",
        separator.c_str(), Quote(file.name).c_str(), Wide(file.size),
        file.needed ? "true" : "false", file.level, file.column_family, Quote(file.tier).c_str(),
        Quote(file.wanted).c_str(), Quote(file.path).c_str(),
        Quote(tiered_env::PrintTemperature(file.temperature)).c_str(),
        file.lost ? "true" : "false");
    separator = ",";
  }
  printf("]\n");
}

void PrintTiers(const TieredDirectoryInfo& info) {
  printf("%-12s %7s %14s %14s %9s %14s %14s  %s\n", "tier", "files", "bytes", "budget", "stranded",
         "bytes", "free", "path");
  for (const TieredTierInfo& tier : info.tiers) {
    printf("%-12s %7llu %14llu %14s %9llu %14llu %14s  %s\n", tier.name.c_str(),
           Wide(tier.files + tier.other_files), Wide(tier.bytes + tier.other_bytes),
           tier.budget == 0 ? "-" : std::to_string(tier.budget).c_str(), Wide(tier.stranded_files),
           Wide(tier.stranded_bytes),
           tier.there ? std::to_string(tier.free_bytes).c_str() : "not there", tier.path.c_str());
  }
  if (info.has_memory) {
    printf("\nin memory\n");
    tiered_env::ForEachFigure(info.in_memory, [](const std::string& name, const std::string& value,
                                                 const std::string& unit) {
      printf("%-26s %16s %s\n", name.c_str(), value.c_str(), unit.c_str());
    });
  }
}

void PrintTiersAsJson(const TieredDirectoryInfo& info) {
  std::string separator;
  bool told = false;
  printf("[");
  for (const TieredTierInfo& tier : info.tiers) {
    printf(
        "%s{\"name\":%s,\"path\":%s,\"there\":%s,\"budget\":%llu,\"files\":%llu,\"bytes\":%llu,"
        "\"other_files\":%llu,\"other_bytes\":%llu,\"stranded_files\":%llu,"
        "\"stranded_bytes\":%llu,\"free_bytes\":%llu%s}",
        separator.c_str(), Quote(tier.name).c_str(), Quote(tier.path).c_str(),
        tier.there ? "true" : "false", Wide(tier.budget), Wide(tier.files), Wide(tier.bytes),
        Wide(tier.other_files), Wide(tier.other_bytes), Wide(tier.stranded_files),
        Wide(tier.stranded_bytes), Wide(tier.free_bytes),
        tier.is_memory && !told ? (",\"in_memory\":" + MemoryAsJson(info)).c_str() : "");
    told = told || tier.is_memory;
    separator = ",";
  }
  printf("]\n");
}

void PrintLogs(const std::vector<TieredLogInfo>& logs) {
  printf("%8s  %-9s %14s %12s %12s %6s %14s %14s %6s  %s\n", "segment", "kind", "bytes", "entries",
         "live", "share", "entry bytes", "live", "share", "file");
  for (const TieredLogInfo& log : logs) {
    printf("%8llu  %-9s %14llu %12llu %12llu %6.3f %14llu %14llu %6.3f  %s%s\n", Wide(log.id),
           log.kind.c_str(), Wide(log.bytes), Wide(log.entries), Wide(log.live_entries),
           log.live_entry_share(), Wide(log.entry_bytes), Wide(log.live_bytes),
           log.live_byte_share(), log.path.c_str(),
           log.problem.empty() ? "" : ("  " + log.problem).c_str());
  }
}

void PrintLogsAsJson(const std::vector<TieredLogInfo>& logs) {
  std::string separator;
  printf("[");
  for (const TieredLogInfo& log : logs) {
    printf(
        "%s{\"id\":%llu,\"kind\":%s,\"path\":%s,\"bytes\":%llu,\"entries\":%llu,"
        "\"live_entries\":%llu,\"live_entry_share\":%.6f,\"entry_bytes\":%llu,"
        "\"live_bytes\":%llu,\"live_byte_share\":%.6f,\"problem\":%s}",
        separator.c_str(), Wide(log.id), Quote(log.kind).c_str(), Quote(log.path).c_str(),
        Wide(log.bytes), Wide(log.entries), Wide(log.live_entries), log.live_entry_share(),
        Wide(log.entry_bytes), Wide(log.live_bytes), log.live_byte_share(),
        Quote(log.problem).c_str());
    separator = ",";
  }
  printf("]\n");
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
