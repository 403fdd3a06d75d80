// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/stats.h"

#include <cstdio>
#include <sstream>

#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr char kFirstLine[] = "rocktier tiered_env statistics 1";

std::string WithTwoDigits(double number) {
  char text[32];
  snprintf(text, sizeof(text), "%.2f", number);
  return text;
}

std::string Quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    char escaped[16];
    if (static_cast<unsigned char>(c) < ' ') {
      snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      json += escaped;
    } else {
      json += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    }
  }
  return json + "\"";
}

// Returns the value of "column families".
std::string ListOf(const std::vector<TieredFamilyStats>& families) {
  std::string json;
  for (const TieredFamilyStats& family : families) {
    json += (json.empty() ? "[{\"database\":" : ",{\"database\":") + Quoted(family.database) +
            ",\"tier\":" + Quoted(family.tier) + ",\"family\":" + Quoted(family.family);
#define X(name, type, unit, description) json += ",\"" #name "\":" + std::to_string(family.name);
    TIERED_FAMILY_STATS(X)
#undef X
    json += "}";
  }
  return json + "]";
}

std::string ChecksumOf(const std::string& text) {
  return "checksum " + std::to_string(crc32c::Mask(crc32c::Value(text.data(), text.size()))) + "\n";
}

}  // namespace

void ForEachFigure(const VolatileStats& stats,
                   const std::function<void(const std::string& name, const std::string& value,
                                            const std::string& unit)>& show) {
#define X(name, type, unit, description) show(#name, std::to_string(stats.name), unit);
  TIERED_VOLATILE_STATS(X)
#undef X
  show("wal_amplification", WithTwoDigits(stats.wal_amplification()), "bytes per byte");
  show("literal_ratio", WithTwoDigits(stats.literal_ratio()), "of entries");
  show("saved_bytes", std::to_string(stats.saved_bytes()), "bytes");
}

std::string EncodeStatistics(const VolatileStats& stats) {
  std::string text = std::string(kFirstLine) + "\n";
#define X(name, type, unit, description) text += #name " " + std::to_string(stats.name) + "\n";
  TIERED_VOLATILE_STATS(X)
#undef X
  return text + ChecksumOf(text);
}

// What a later version has besides is left out.
bool DecodeStatistics(const std::string& text, VolatileStats* stats) {
  *stats = VolatileStats();
  const size_t end = text.rfind("checksum ");
  if (end == std::string::npos || text.compare(0, sizeof(kFirstLine) - 1, kFirstLine) != 0 ||
      text.substr(end) != ChecksumOf(text.substr(0, end))) {
    return false;
  }
  std::istringstream lines(text.substr(sizeof(kFirstLine), end - sizeof(kFirstLine)));
  std::string known;
  uint64_t value;
  while (lines >> known >> value) {
#define X(name, type, unit, description) \
  if (known == #name) {                  \
    stats->name = value;                 \
  }
    TIERED_VOLATILE_STATS(X)
#undef X
  }
  return true;
}

std::string TieredStats::ToString() const {
  std::string text;
  for (const TieredTierStats& tier : tiers) {
    text += "  tier " + tier.name + "\n";
#define X(name, type, unit, description) \
  text += "    " #name " : " + std::to_string(tier.name) + " " unit "\n";
    TIERED_TIER_STATS(X)
#undef X
  }
  for (const TieredFamilyStats& family : families) {
    text += "  column family " + family.family + " of " + family.database + " in tier " +
            family.tier + "\n";
#define X(name, type, unit, description) \
  text += "    " #name " : " + std::to_string(family.name) + " " unit "\n";
    TIERED_FAMILY_STATS(X)
#undef X
  }
  if (in_memory.tables > 0 || in_memory.recipes > 0) {
    text += "  in memory\n";
    ForEachFigure(in_memory,
                  [&](const std::string& name, const std::string& value, const std::string& unit) {
                    text += "    " + name + " : " + value + " " + unit + "\n";
                  });
  }
  return text;
}

std::string TieredStats::ToJson() const {
  std::string json;
  for (const TieredTierStats& tier : tiers) {
    json += (json.empty() ? "{\"" : ",\"") + tier.name + "\":{";
    std::string separator;
#define X(name, type, unit, description)                            \
  json += separator + "\"" #name "\":" + std::to_string(tier.name); \
  separator = ",";
    TIERED_TIER_STATS(X)
#undef X
    json += "}";
  }
  json += json.empty() ? "{\"in memory\":{" : ",\"in memory\":{";
  std::string separator;
  ForEachFigure(in_memory,
                [&](const std::string& name, const std::string& value, const std::string&) {
                  json += separator + "\"" + name + "\":" + value;
                  separator = ",";
                });
  json += "}";
  return families.empty() ? json + "}" : json + ",\"column families\":" + ListOf(families) + "}";
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
