// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/options/tier_options.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <locale>
#include <set>
#include <sstream>

#include "options/options_helper.h"
#include "plugin/tiered_env/options/text.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

const std::string kOption = "tiers";
const std::string kHome = "home";
constexpr size_t kMostOfName = 64;  // stubs have it

// One setting of a tier, or of its emulation. `where` is what it is a setting of.
template <typename T>
struct Setting {
  const char* name;
  Status (*set)(const std::string& where, const Item& item, T* result);
};

Status Check(bool valid, const std::string& where, const Item& item, const std::string& rule) {
  return valid ? Status::OK() : Invalid(where, item, rule);
}

template <typename T, size_t kSize>
Status Apply(const std::string& where, const std::vector<Item>& items,
             const Setting<T> (&settings)[kSize], T* result) {
  std::set<std::string> seen;
  for (const Item& item : items) {
    const auto* setting =
        std::find_if(std::begin(settings), std::end(settings),
                     [&](const Setting<T>& known) { return item.name == known.name; });
    if (setting == std::end(settings)) {
      return Invalid(where, item, "there is no such setting");
    }
    if (!seen.insert(item.name).second) {
      return Invalid(where, item, "is there twice");
    }
    Status s = setting->set(where, item, result);
    if (!s.ok()) {
      return s;
    }
  }
  return Status::OK();
}

// Numbers with a point look alike in every locale.
bool ParseFactor(const std::string& text, double* value) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  return in >> *value && in.peek() == std::istringstream::traits_type::eof() &&
         std::isfinite(*value) && *value >= 1;
}

// Prints it as short as it can be without a change of the value.
std::string PrintFactor(double value) {
  std::string text;
  double same = 0;
  for (int digits = 6; digits <= std::numeric_limits<double>::max_digits10; digits++) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(digits);
    out << value;
    text = out.str();
    if (ParseFactor(text, &same) && same == value) {
      break;
    }
  }
  return text;
}

std::string PrintSize(uint64_t size) {
  size_t unit = 0;
  while (unit < 4 && size != 0 && size % 1024 == 0) {
    size /= 1024;
    unit++;
  }
  static const char* const kUnits[] = {"", "K", "M", "G", "T"};
  return std::to_string(size) + kUnits[unit];
}

const char* const kNumberRule = "must be a whole number";
const char* const kSizeRule = "must be a number of bytes, which may end in K, M, G or T";

const Setting<Emulation> kLimits[] = {
    {"read_latency_us",
     [](const std::string& where, const Item& item, Emulation* limits) {
       return Check(ParseNumber(item.value, &limits->read_latency_us), where, item, kNumberRule);
     }},
    {"iops",
     [](const std::string& where, const Item& item, Emulation* limits) {
       return Check(ParseNumber(item.value, &limits->iops), where, item, kNumberRule);
     }},
    {"bandwidth",
     [](const std::string& where, const Item& item, Emulation* limits) {
       return Check(ParseSize(item.value, &limits->bandwidth), where, item, kSizeRule);
     }},
    {"slowdown",
     [](const std::string& where, const Item& item, Emulation* limits) {
       return Check(ParseFactor(item.value, &limits->slowdown), where, item,
                    "must be a number from 1 on");
     }},
};

const std::pair<TierKind, const char*> kKinds[] = {
    {TierKind::kPath, "path"}, {TierKind::kPmem, "pmem"}, {TierKind::kMemory, "memory"}};

Status SetKind(const std::string& where, const Item& item, TierOptions* tier) {
  for (const auto& [kind, name] : kKinds) {
    if (item.value == name) {
      tier->kind = kind;
      return Status::OK();
    }
  }
  return Invalid(where, item, "must be path, pmem or memory");
}

// Splits "/a,/b". A comma may be in a name, so it separates before a slash only.
std::vector<std::string> SplitDirectories(const std::string& text) {
  std::vector<std::string> result;
  size_t begin = 0;
  for (size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(",/", begin);
    result.push_back(text.substr(begin, end - begin));
  }
  return result;
}

// Leaves out what would make one directory look like two.
Status Normalize(const std::string& where, const Item& item, std::string* path) {
  if (path->empty() || (*path)[0] != '/' || path->find_first_of(";{}") != std::string::npos) {
    return Invalid(where, item, "must be an absolute path without ; { and }");
  }
  std::istringstream parts(*path);
  std::string result;
  for (std::string part; std::getline(parts, part, '/');) {
    if (part == "..") {
      return Invalid(where, item, "must be a path without ..");
    }
    if (!part.empty() && part != ".") {
      result += "/" + part;
    }
  }
  *path = result.empty() ? "/" : result;
  return Status::OK();
}

Status SetPath(const std::string& where, const Item& item, TierOptions* tier) {
  Status s;
  tier->path.clear();
  for (std::string& directory : SplitDirectories(item.value)) {
    s = s.ok() ? Normalize(where, item, &directory) : s;
    tier->path += (tier->path.empty() ? "" : ",") + directory;
  }
  return s;
}

Status SetTemperature(const std::string& where, const Item& item, TierOptions* tier) {
  std::string rule = "must be one of:";
  for (const auto& known : temperature_to_string) {
    rule += " " + PrintTemperature(known.first);
  }
  return Check(ParseTemperature(item.value, &tier->temperature), where, item, rule);
}

Status SetEmulation(const std::string& where, const Item& item, TierOptions* tier) {
  const std::string inner = where + ": " + item.name;
  std::vector<Item> items;
  Status s = ParseItems(inner, item.value, &items);
  return s.ok() ? Apply(inner, items, kLimits, &tier->emulate) : s;
}

const Setting<TierOptions> kSettings[] = {
    {"kind", SetKind},
    {"path", SetPath},
    {"budget",
     [](const std::string& where, const Item& item, TierOptions* tier) {
       return Check(ParseSize(item.value, &tier->budget), where, item, kSizeRule);
     }},
    {"temperature", SetTemperature},
    {"emulate", SetEmulation},
};

bool IsOfFamily(const Item& item) { return StartsWith(item.name, kFamily); }

Status AddFamily(const std::string& where, const Item& item, TierOptions* tier) {
  FamilyBudget family;
  family.pattern = item.name.substr(strlen(kFamily));
  if (family.pattern.empty() || family.pattern.find('/') != std::string::npos) {
    return Invalid(where, item, "must be cf: and a pattern of column families' names, without /");
  }
  for (const FamilyBudget& other : tier->family_budgets) {
    if (other.pattern == family.pattern) {
      return Invalid(where, item, "is there twice");
    }
  }
  Status s = Check(ParseSize(item.value, &family.bytes), where, item, kSizeRule);
  tier->family_budgets.push_back(std::move(family));
  return s;
}

// Takes the budgets of column families out of the settings.
Status TakeFamilies(const std::string& where, std::vector<Item>* settings, TierOptions* tier) {
  Status s;
  for (size_t i = 0; s.ok() && i < settings->size(); i++) {
    s = IsOfFamily((*settings)[i]) ? AddFamily(where, (*settings)[i], tier) : s;
  }
  settings->erase(std::remove_if(settings->begin(), settings->end(), IsOfFamily), settings->end());
  return s;
}

bool IsName(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

Status CheckHome(const std::string& where, const std::vector<Item>& settings) {
  for (const Item& setting : settings) {
    if (setting.name == "path" || setting.name == "kind") {
      return Invalid(where, setting, "home is the database directory as it is");
    }
  }
  return Status::OK();
}

Status ParseTier(const Item& item, TierOptions* tier) {
  if (!IsName(item.name) || item.name.size() > kMostOfName) {
    return Invalid(kOption, item, "a name is of up to 64 letters, digits, _ and -");
  }
  tier->name = item.name;
  const std::string where = kOption + ": " + item.name;
  std::vector<Item> settings;
  Status s = ParseItems(where, item.value, &settings);
  if (s.ok() && tier->name == kHome) {
    s = CheckHome(where, settings);
  }
  if (s.ok()) {
    s = TakeFamilies(where, &settings, tier);
  }
  if (s.ok()) {
    s = Apply(where, settings, kSettings, tier);
  }
  if (s.ok() && tier->name != kHome && tier->path.empty()) {
    s = Invalid(kOption, item, "has no path");
  }
  return s;
}

// Makes a tier of each of its directories.
Status Expand(const Item& item, TierOptions tier, std::vector<TierOptions>* result) {
  const std::vector<std::string> directories = SplitDirectories(tier.path);
  if (tier.kind == TierKind::kMemory && directories.size() > 1) {
    return Invalid(kOption, item, "a tier in memory has one directory");
  }
  const std::string name = tier.name;
  for (size_t i = 0; i < directories.size(); i++) {
    tier.path = directories[i];
    tier.name = i == 0 ? name : name + "." + std::to_string(i + 1);
    tier.first = i == 0 ? "" : name;
    result->push_back(tier);
  }
  return tier.name.size() <= kMostOfName
             ? Status::OK()
             : Invalid(kOption, item, "the name is too long for so many directories");
}

Status CheckNew(const Item& item, const TierOptions& tier, const std::vector<TierOptions>& others) {
  for (const TierOptions& other : others) {
    if (tier.name == other.name) {
      return Invalid(kOption, item, "there is a tier of this name already");
    }
    if (tier.path == other.path) {
      return Invalid(kOption, item, "has the path of " + other.name);
    }
  }
  return Status::OK();
}

void Add(const std::string& name, const std::string& value, std::string* text) {
  *text += (text->empty() ? "" : ";") + name + "=" + value;
}

std::string PrintEmulation(const Emulation& limits) {
  std::string text;
  if (limits.read_latency_us != 0) {
    Add("read_latency_us", std::to_string(limits.read_latency_us), &text);
  }
  if (limits.iops != 0) {
    Add("iops", std::to_string(limits.iops), &text);
  }
  if (limits.bandwidth != 0) {
    Add("bandwidth", PrintSize(limits.bandwidth), &text);
  }
  if (limits.slowdown > 1) {
    Add("slowdown", PrintFactor(limits.slowdown), &text);
  }
  return text;
}

std::string PrintTier(const TierOptions& tier) {
  std::string text;
  for (const auto& [kind, name] : kKinds) {
    if (kind == tier.kind && kind != TierKind::kPath) {
      Add("kind", name, &text);
    }
  }
  if (!tier.path.empty()) {
    Add("path", tier.path, &text);
  }
  if (tier.budget != 0) {
    Add("budget", PrintSize(tier.budget), &text);
  }
  for (const FamilyBudget& family : tier.family_budgets) {
    Add(kFamily + family.pattern, PrintSize(family.bytes), &text);
  }
  if (tier.temperature != Temperature::kUnknown) {
    Add("temperature", PrintTemperature(tier.temperature), &text);
  }
  if (!tier.emulate.none()) {
    Add("emulate", "{" + PrintEmulation(tier.emulate) + "}", &text);
  }
  return text;
}

}  // namespace

Status ParseTiers(const std::string& text, std::vector<TierOptions>* result) {
  std::vector<Item> items;
  std::vector<TierOptions> tiers;
  Status s = ParseItems(kOption, text, &items);
  for (size_t i = 0; s.ok() && i < items.size(); i++) {
    TierOptions tier;
    std::vector<TierOptions> directories;
    s = ParseTier(items[i], &tier);
    if (s.ok()) {
      s = Expand(items[i], tier, &directories);
    }
    for (TierOptions& directory : directories) {
      s = s.ok() ? CheckNew(items[i], directory, tiers) : s;
      tiers.push_back(std::move(directory));
    }
  }
  if (!s.ok()) {
    return s;
  }
  if (FindTier(tiers, kHome) < 0) {
    tiers.emplace_back();
    tiers.back().name = kHome;
  }
  *result = std::move(tiers);
  return s;
}

std::string PrintTiers(const std::vector<TierOptions>& tiers) {
  std::string text;
  for (size_t i = 0; i < tiers.size();) {
    TierOptions tier = tiers[i];
    while (++i < tiers.size() && tiers[i].first == tier.name) {
      tier.path += "," + tiers[i].path;
    }
    Add(tier.name, "{" + PrintTier(tier) + "}", &text);
  }
  return text;
}

int FindTier(const std::vector<TierOptions>& tiers, const std::string& name) {
  for (size_t i = 0; i < tiers.size(); i++) {
    if (tiers[i].name == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

const FamilyBudget* FindFamilyBudget(const TierOptions& tier, const std::string& family) {
  const auto& budgets = tier.family_budgets;
  const auto it = std::find_if(budgets.begin(), budgets.end(), [&](const FamilyBudget& budget) {
    return FitsFamily(budget.pattern, family);
  });
  return it == budgets.end() ? nullptr : &*it;
}

uint64_t FamilyBudgetOf(const TierOptions& tier, const std::string& family) {
  const FamilyBudget* const budget = FindFamilyBudget(tier, family);
  return budget == nullptr ? 0 : budget->bytes;
}

bool ParseTemperature(const std::string& name, Temperature* result) {
  for (const auto& known : temperature_to_string) {
    if (PrintTemperature(known.first) == name) {
      *result = known.first;
      return true;
    }
  }
  return false;
}

// RocksDB's own table, so that the temperatures are those of its version: "kHot".
std::string PrintTemperature(Temperature temperature) {
  const auto known = temperature_to_string.find(temperature);
  if (known == temperature_to_string.end()) {
    return "unknown";
  }
  std::string name = known->second.substr(1);
  name[0] = static_cast<char>(name[0] - 'A' + 'a');
  return name;
}

OptionTypeInfo NestedText(int offset) {
  OptionTypeInfo info(offset, OptionType::kString);
  info.SetSerializeFunc(
      [](const ConfigOptions&, const std::string&, const void* address, std::string* value) {
        const std::string& text = *static_cast<const std::string*>(address);
        *value = text.empty() ? text : "{" + EscapeOptionString(text) + "}";
        return Status::OK();
      });
  return info;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
