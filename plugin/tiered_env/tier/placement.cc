// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tier/placement.h"

#include <algorithm>
#include <cstring>

#include "plugin/tiered_env/options/text.h"
#include "plugin/tiered_env/options/tier_options.h"
#include "rocksdb/env.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Far more levels than anybody has, and far from where their sums overflow.
constexpr size_t kMaxDigits = 3;

constexpr char kOlder[] = "older:";
constexpr char kRange[] = "range:";
constexpr char kHex[] = "0x";
constexpr uint64_t kOldest = 100ull * 365 * 24 * 60 * 60;  // seconds

bool ParseLevel(const std::string& text, int* level) {
  uint64_t number = 0;
  if (text.size() > kMaxDigits || !ParseNumber(text, &number)) {
    return false;
  }
  *level = static_cast<int>(number);
  return true;
}

// The text after `word` as a distance with the sign; none: 0.
bool ParseDistance(const std::string& text, const std::string& word, char sign, int* distance) {
  const std::string rest = text.substr(word.size());
  return rest.empty() || (rest[0] == sign && ParseLevel(rest.substr(1), distance));
}

bool ParseContent(const std::string& text, Content* content) {
  static const struct {
    const char* name;
    Content content;
  } kContents[] = {{"blob", Content::kBlob}, {"wal", Content::kWal}, {"meta", Content::kMeta}};
  for (const auto& known : kContents) {
    if (text == known.name) {
      *content = known.content;
      return true;
    }
  }
  return false;
}

bool IsCondition(const std::string& text) {
  return StartsWith(text, kOlder) || StartsWith(text, kFamily) || StartsWith(text, kRange);
}

bool ParseKey(const std::string& text, std::string* key) {
  if (StartsWith(text, kHex)) {
    return Slice(text.data() + strlen(kHex), text.size() - strlen(kHex)).DecodeHex(key);
  }
  *key = text;
  return true;
}

// The shape that the column family has with a file at this level.
LevelRange With(int level, LevelRange shape) {
  if (level > 0) {
    shape.base = std::min(shape.base, level);
    shape.last = std::max(shape.last, level);
  }
  return shape;
}

}  // namespace

bool Placement::Point::Parse(const std::string& text) {
  distance = 0;
  if (StartsWith(text, "base")) {
    from = From::kBase;
    return ParseDistance(text, "base", '+', &distance);
  }
  if (StartsWith(text, "last")) {
    from = From::kLast;
    return ParseDistance(text, "last", '-', &distance);
  }
  from = From::kZero;
  return ParseLevel(text, &distance);
}

int Placement::Point::LevelIn(const LevelRange& shape) const {
  switch (from) {
    case From::kBase:
      return shape.base + distance;
    case From::kLast:
      return shape.last - distance;
    case From::kZero:
      break;
  }
  return distance;
}

bool Placement::Rule::ParseLevels(const std::string& text) {
  by_level = true;
  const size_t dots = text.find("..");
  if (!first.Parse(trim(text.substr(0, dots)))) {
    return false;
  }
  last = first;
  if (dots == std::string::npos) {
    return true;
  }
  const std::string end = trim(text.substr(dots + 2));
  if (!last.Parse(end.empty() ? "last" : end)) {
    return false;
  }
  const LevelRange shape;
  return first.from != last.from || first.LevelIn(shape) <= last.LevelIn(shape);
}

bool Placement::Rule::ParseSelector(const std::string& text) {
  if (ParseContent(text, &content)) {
    return true;
  }
  if (ParseTemperature(text, &temperature)) {
    return temperature != Temperature::kUnknown;
  }
  return ParseLevels(text);
}

bool Placement::Rule::ParseCondition(const std::string& text) {
  if (StartsWith(text, kOlder)) {
    return age == 0 && ParseDuration(trim(text.substr(strlen(kOlder))), &age) && age > 0 &&
           age <= kOldest;
  }
  if (StartsWith(text, kFamily) && family.empty()) {
    family = text.substr(strlen(kFamily));
    return !family.empty();
  }
  if (StartsWith(text, kRange) && !by_range) {
    by_range = true;
    return ParseRange(text.substr(strlen(kRange)));
  }
  return false;
}

bool Placement::Rule::ParseRange(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos || text.find("..", dots + 2) != std::string::npos ||
      !ParseKey(trim(text.substr(0, dots)), &from) || !ParseKey(trim(text.substr(dots + 2)), &to)) {
    return false;
  }
  return to.empty() ? !from.empty() : from < to;
}

bool Placement::Rule::Parse(const std::string& text) {
  std::vector<std::string> parts = StringSplit(text, '/');
  if (!text.empty() && text.back() == '/') {
    return false;
  }
  for (size_t i = 0; i < parts.size(); i++) {
    const std::string part = trim(parts[i]);
    const bool condition = IsCondition(part);
    if (condition ? !ParseCondition(part) : i + 1 < parts.size() || !ParseSelector(part)) {
      return false;
    }
    any = condition;
  }
  const bool has_conditions = age != 0 || !family.empty() || by_range;
  return !parts.empty() && (any || !has_conditions || content == Content::kTable ||
                            (content == Content::kBlob && !by_range));
}

bool Placement::Rule::IsOf(Content kind) const {
  return any ? kind == Content::kTable || kind == Content::kBlob : kind == content;
}

bool Placement::Rule::IsInRange(const KeyRange* keys) const {
  return keys != nullptr && keys->smallest >= from && (to.empty() || keys->largest < to);
}

bool Placement::Rule::Fits(const Facts& facts) const {
  if (!IsOf(facts.content) || facts.age < age || (by_range && !IsInRange(facts.keys.get())) ||
      (!family.empty() && !FitsFamily(family, facts.family))) {
    return false;
  }
  if (any) {
    return true;
  }
  if (content != Content::kTable) {
    return true;
  }
  if (!by_level) {
    return facts.temperature == temperature;
  }
  const LevelRange shape = With(facts.level, facts.shape);
  const int top = first.from == Point::From::kZero ? 0 : 1;
  return facts.level >= std::max(first.LevelIn(shape), top) && facts.level <= last.LevelIn(shape);
}

Status Placement::Parse(const std::string& text, const std::vector<std::string>& tiers,
                        Placement* result) {
  const std::string option = "placement";
  std::vector<Item> items;
  Status s = ParseItems(option, text, &items);
  if (!s.ok()) {
    return s;
  }
  std::vector<Rule> rules(items.size());
  for (size_t i = 0; i < items.size(); i++) {
    if (!rules[i].Parse(items[i].name)) {
      return Invalid(
          option, items[i],
          "is not of levels (2, 0..2, 3.., base+1, last-1..last; the lower number first), "
          "a temperature, blob, wal or meta; nor of an age (older:7d, older:12h/blob; s, m, h, d; "
          "at most 100 years), column families (cf:users, cf:log_*/older:1d, cf:users/2..) or keys "
          "of SSTs (range:a..b, range:0x00ff..), each once, with levels, a temperature or blob at "
          "the end");
    }
    const auto tier = std::find(tiers.begin(), tiers.end(), items[i].value);
    if (tier == tiers.end()) {
      return Invalid(option, items[i], "there is no such tier");
    }
    rules[i].tier = static_cast<int>(tier - tiers.begin());
  }
  result->rules_ = std::move(rules);
  return s;
}

int Placement::TierOf(const Facts& facts, int home) const {
  for (const Rule& rule : rules_) {
    if (rule.Fits(facts)) {
      return rule.tier;
    }
  }
  return home;
}

bool Placement::HasIn(int tier, Content content) const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [&](const Rule& rule) { return rule.tier == tier && rule.IsOf(content); });
}

bool Placement::HasRangeIn(int tier) const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [&](const Rule& rule) { return rule.tier == tier && rule.by_range; });
}

bool Placement::HasFamilies() const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [](const Rule& rule) { return !rule.family.empty(); });
}

uint64_t Placement::LeastAge() const {
  uint64_t least = 0;
  for (const Rule& rule : rules_) {
    if (rule.age > 0 && (least == 0 || rule.age < least)) {
      least = rule.age;
    }
  }
  return least;
}

int LevelOfHint(int hint, bool flush, const LevelRange& shape) {
  if (flush) {
    return 0;
  }
  switch (hint) {
    case Env::WLTH_MEDIUM:
      return shape.base;
    case Env::WLTH_LONG:
      return shape.base + 1;
    case Env::WLTH_EXTREME:
      return std::max(shape.base + 2, shape.last);
    default:
      return -1;
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
