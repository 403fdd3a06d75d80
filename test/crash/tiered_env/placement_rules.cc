// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/tiered_env/placement_rules.h"

#include <cctype>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kDay = 24 * 60 * 60;  // seconds

std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    parts.push_back(part);
  }
  return parts;
}

// Takes the word from the beginning of the text, if it is there.
bool Take(const std::string& word, std::string* text) {
  if (text->compare(0, word.size(), word) != 0) {
    return false;
  }
  text->erase(0, word.size());
  return true;
}

// "2", "base+1", "last-1"
int LevelOf(std::string point, const KnownFile& file) {
  const int from = Take("base", &point) ? file.base : Take("last", &point) ? file.last : 0;
  return from + atoi(point.c_str());
}

// Only a number stands for L0.
bool AreLevelsOf(const std::string& levels, const KnownFile& file) {
  const size_t dots = levels.find("..");
  const std::string first = levels.substr(0, dots);
  std::string last = dots == std::string::npos ? first : levels.substr(dots + 2);
  last = last.empty() ? "last" : last;
  const bool begins_with_number = isdigit(static_cast<unsigned char>(first[0])) != 0;
  return (file.level > 0 || begins_with_number) && file.level >= LevelOf(first, file) &&
         file.level <= LevelOf(last, file);
}

bool IsRangeOf(const std::string& range, const KnownFile& file) {
  const size_t dots = range.find("..");
  const std::string end = range.substr(dots + 2);
  return file.smallest >= range.substr(0, dots) && (end.empty() || file.largest < end);
}

bool IsPatternOf(const std::string& pattern, const std::string& family) {
  const size_t star = pattern.find('*');
  return star == std::string::npos ? pattern == family
                                   : family.compare(0, star, pattern, 0, star) == 0;
}

// A condition or a selector.
bool Fits(std::string part, const KnownFile& file, std::string* kind) {
  if (Take("cf:", &part)) {
    *kind = "cf";
    return IsPatternOf(part, file.family);
  }
  if (Take("older:", &part)) {
    *kind = "older";
    return file.age >= strtoull(part.c_str(), nullptr, 10) * kDay;
  }
  if (Take("range:", &part)) {
    *kind = "range";
    return !file.is_blob && IsRangeOf(part, file);
  }
  if (part == "wal" || part == "meta") {
    return false;
  }
  if (part == "blob") {
    *kind = "blob";
    return file.is_blob;
  }
  if (part == "hot" || part == "cold") {
    *kind = "temperature";
    return !file.is_blob &&
           file.temperature == (part == "hot" ? Temperature::kHot : Temperature::kCold);
  }
  *kind = "levels";
  return !file.is_blob && AreLevelsOf(part, file);
}

}  // namespace

Belonging BelongingOf(const std::string& placement, const KnownFile& file) {
  for (const std::string& rule : Split(placement, ';')) {
    const size_t equals = rule.find('=');
    Belonging result;
    result.tier = rule.substr(equals + 1);
    bool fits = true;
    for (const std::string& part : Split(rule.substr(0, equals), '/')) {
      std::string kind;
      fits = Fits(part, file, &kind) && fits;
      result.by = result.by.empty() ? kind : result.by;
    }
    if (fits) {
      return result;
    }
  }
  return {"home", "none"};
}

}  // namespace rocktier
