// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tools/tier/print.h"

#include <cstdio>
#include <string>

#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/stats.h"
#include "tools/output.h"
#include "tools/units.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace tier {

using tiered_env::TieredDirectoryInfo;
using tiered_env::TieredFamilyInfo;
using tiered_env::TieredFileInfo;
using tiered_env::TieredLogInfo;
using tiered_env::TieredTierInfo;

namespace {

std::string WhereItBelongs(const TieredFileInfo& file, const std::string& is_in) {
  return file.wanted != is_in ? "  belongs to " + file.wanted : "";
}

// What there is to say of a file besides its columns.
std::string RemarkOn(const TieredFileInfo& file) {
  return file.lost ? "  lost: no " + file.path : WhereItBelongs(file, file.tier);
}

// Tiers of kind memory have these together.
Json MemoryAsJson(const TieredDirectoryInfo& info) {
  Json json;
  tiered_env::ForEachFigure(
      info.in_memory, [&](const std::string& name, const std::string& value, const std::string&) {
        json[name] = Json::parse(value);
      });
  return json;
}

Json FamiliesAsJson(const TieredTierInfo& tier) {
  Json json = Json::array();
  for (const TieredFamilyInfo& family : tier.families) {
    json.push_back({{"name", family.name},
                    {"is_pattern", family.is_pattern},
                    {"bytes", family.bytes},
                    {"budget", family.budget}});
  }
  return json;
}

// Prints the budgets of column families, if there are some.
void PrintFamilies(const TieredDirectoryInfo& info, Call* call) {
  Table table({"cf", "tier", ">bytes", ">budget", ""});
  bool has_some = false;
  for (const TieredTierInfo& tier : info.tiers) {
    for (const TieredFamilyInfo& family : tier.families) {
      table.Add({family.name, tier.name,
                 family.is_pattern ? "-" : BytesFor(family.bytes, call->human),
                 BytesFor(family.budget, call->human),
                 family.is_pattern              ? "no family goes by it"
                 : family.bytes > family.budget ? "beyond its budget"
                                                : ""});
      has_some = true;
    }
  }
  if (has_some) {
    call->Line("");
    call->Line("budgets of column families");
    table.PrintTo(call);
  }
}

std::string ShareText(double share) {
  char text[32];
  snprintf(text, sizeof(text), "%.3f", share);
  return text;
}

}  // namespace

void PrintFiles(const TieredDirectoryInfo& info, Call* call) {
  call->json = Json::array();
  Table table({"file", ">cf", ">level", ">size", "tier", "temperature"});
  for (const TieredFileInfo& file : info.files) {
    const std::string temperature = tiered_env::PrintTemperature(file.temperature);
    call->json.push_back({{"name", file.name},
                          {"size", file.size},
                          {"needed", file.need_is_known ? Json(file.needed) : Json()},
                          {"level", file.level},
                          {"column_family", file.column_family},
                          {"tier", file.tier},
                          {"wanted", file.wanted},
                          {"path", file.path},
                          {"temperature", temperature},
                          {"lost", file.lost}});
    const bool known = file.level >= 0;
    table.Add({file.name, known ? std::to_string(file.column_family) : "-",
               known ? std::to_string(file.level) : "-", BytesFor(file.size, call->human),
               file.tier, temperature + RemarkOn(file)});
  }
  table.PrintTo(call);
}

void PrintTiers(const TieredDirectoryInfo& info, Call* call) {
  call->json = Json::array();
  Table table({"tier", ">files", ">bytes", ">budget", ">stranded", ">bytes", ">free", "path"});
  bool told = false;
  for (const TieredTierInfo& tier : info.tiers) {
    Json json = {{"name", tier.name},
                 {"path", tier.path},
                 {"there", tier.there},
                 {"budget", tier.budget},
                 {"files", tier.files},
                 {"bytes", tier.bytes},
                 {"other_files", tier.other_files},
                 {"other_bytes", tier.other_bytes},
                 {"stranded_files", tier.stranded_files},
                 {"stranded_bytes", tier.stranded_bytes},
                 {"free_bytes", tier.free_bytes}};
    if (!tier.families.empty()) {
      json["families"] = FamiliesAsJson(tier);
    }
    if (tier.is_memory && !told) {
      json["in_memory"] = MemoryAsJson(info);
      told = true;
    }
    call->json.push_back(std::move(json));
    const auto bytes = [call](uint64_t number) { return BytesFor(number, call->human); };
    table.Add({tier.name, std::to_string(tier.files + tier.other_files),
               bytes(tier.bytes + tier.other_bytes), tier.budget == 0 ? "-" : bytes(tier.budget),
               std::to_string(tier.stranded_files), bytes(tier.stranded_bytes),
               tier.there ? bytes(tier.free_bytes) : "not there", tier.path});
  }
  table.PrintTo(call);
  PrintFamilies(info, call);
  if (info.has_memory) {
    call->Line("");
    call->Line("in memory");
    Table figures({"figure", ">value", "unit"});
    tiered_env::ForEachFigure(info.in_memory, [&](const std::string& name, const std::string& value,
                                                  const std::string& unit) {
      uint64_t number = 0;
      const bool bytes = unit == "bytes" && ParseBytes(value, &number);
      figures.Add({name, bytes ? BytesFor(number, call->human) : value, unit});
    });
    figures.PrintTo(call);
  }
}

void PrintMoves(const TieredDirectoryInfo& info, Call* call) {
  Json list = Json::array();
  uint64_t bytes = 0;
  Table table({"file", ">level", ">size", "from", "to"});
  for (const TieredFileInfo& file : info.files) {
    if (file.lost || file.next == file.tier) {
      continue;
    }
    bytes += file.size;
    list.push_back({{"name", file.name},
                    {"size", file.size},
                    {"level", file.level},
                    {"from", file.tier},
                    {"to", file.next},
                    {"wanted", file.wanted}});
    table.Add({file.name, file.level >= 0 ? std::to_string(file.level) : "-",
               BytesFor(file.size, call->human), file.tier,
               file.next + WhereItBelongs(file, file.next)});
  }
  const uint64_t rate = info.mover_bytes_per_second;
  const uint64_t seconds = rate == 0 ? 0 : (bytes + rate - 1) / rate;
  if (!list.empty()) {
    table.PrintTo(call);
  }
  call->Line(std::to_string(list.size()) + " files, " + BytesFor(bytes, call->human) + " bytes" +
             (rate == 0 ? "; the mover has no limit"
                        : ", " + std::to_string(seconds) + " s at " + BytesFor(rate, call->human) +
                              " bytes per second"));
  call->json = {{"files", list.size()}, {"bytes", bytes}, {"mover_bytes_per_second", rate}};
  call->json["seconds"] = rate == 0 ? Json() : Json(seconds);
  call->json["moves"] = std::move(list);
}

void PrintLogs(const std::vector<TieredLogInfo>& logs, Call* call) {
  call->json = Json::array();
  Table table({">segment", "kind", ">bytes", ">entries", ">live", ">share", ">entry bytes", ">live",
               ">share", "file"});
  for (const TieredLogInfo& log : logs) {
    call->json.push_back({{"id", log.id},
                          {"kind", log.kind},
                          {"path", log.path},
                          {"bytes", log.bytes},
                          {"entries", log.entries},
                          {"live_entries", log.live_entries},
                          {"live_entry_share", log.live_entry_share()},
                          {"entry_bytes", log.entry_bytes},
                          {"live_bytes", log.live_bytes},
                          {"live_byte_share", log.live_byte_share()},
                          {"problem", log.problem}});
    table.Add({std::to_string(log.id), log.kind, BytesFor(log.bytes, call->human),
               std::to_string(log.entries), std::to_string(log.live_entries),
               ShareText(log.live_entry_share()), BytesFor(log.entry_bytes, call->human),
               BytesFor(log.live_bytes, call->human), ShareText(log.live_byte_share()),
               log.path + (log.problem.empty() ? "" : "  " + log.problem)});
  }
  table.PrintTo(call);
}

}  // namespace tier
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
