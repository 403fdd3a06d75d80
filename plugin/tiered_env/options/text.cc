// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/options/text.h"

#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <map>

#include "rocksdb/utilities/options_type.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

Status Malformed(const std::string& where, const std::string& text, const std::string& rule) {
  return Status::InvalidArgument("TieredFileSystem: " + where + ": " + text, rule);
}

Status NextValue(const std::string& where, const std::string& text, size_t start, size_t* end,
                 std::string* value) {
  const Status s = OptionTypeInfo::NextToken(text, ';', start, end, value);
  return s.ok() ? s : Malformed(where, text, s.getState());
}

Status DropBraces(const std::string& where, std::string* text) {
  Status s;
  while (s.ok() && !text->empty() && text->front() == '{') {
    size_t end = 0;
    std::string inner;
    s = NextValue(where, *text, 0, &end, &inner);
    if (s.ok() && end < text->size()) {
      s = Malformed(where, *text, "must be name=value;...");
    }
    *text = inner;
  }
  return s;
}

}  // namespace

Status ParseItems(const std::string& where, const std::string& text, std::vector<Item>* items) {
  items->clear();
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Status::OK();
  }
  std::string rest = trim(text);
  Status s = DropBraces(where, &rest);
  size_t end = 0;
  for (size_t pos = 0; s.ok() && pos < rest.size(); pos = end + 1) {
    const size_t equals = rest.find_first_of("={};", pos);
    Item item;
    item.name = trim(rest.substr(pos, equals - pos));
    if (equals == std::string::npos || rest[equals] != '=' || item.name.empty()) {
      return Malformed(where, rest.substr(pos), "must be name=value;...");
    }
    s = NextValue(where, rest, equals + 1, &end, &item.value);
    items->push_back(std::move(item));
    if (end == std::string::npos) {
      break;
    }
  }
  return s;
}

Status Invalid(const std::string& where, const Item& item, const std::string& rule) {
  return Malformed(where, item.name + "=" + item.value, rule);
}

bool ParseNumber(const std::string& text, uint64_t* value) {
  uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return false;
    }
    const uint64_t digit = static_cast<uint64_t>(c - '0');
    if (number > (kMax - digit) / 10) {
      return false;
    }
    number = number * 10 + digit;
  }
  *value = number;
  return !text.empty();
}

bool ParseSize(const std::string& text, uint64_t* value) {
  const size_t suffix =
      text.empty() ? std::string::npos : std::string("KMGTkmgt").find(text.back());
  if (suffix == std::string::npos) {
    return ParseNumber(text, value);
  }
  const size_t shift = 10 * (suffix % 4 + 1);
  if (!ParseNumber(text.substr(0, text.size() - 1), value) || *value > kMax >> shift) {
    return false;
  }
  *value <<= shift;
  return true;
}

bool ParseDuration(const std::string& text, uint64_t* seconds) {
  static const std::map<char, uint64_t> kUnits = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  const auto unit = text.empty() ? kUnits.end() : kUnits.find(text.back());
  if (unit == kUnits.end() || !ParseNumber(text.substr(0, text.size() - 1), seconds) ||
      *seconds > kMax / unit->second) {
    return false;
  }
  *seconds *= unit->second;
  return true;
}

bool FitsFamily(const std::string& pattern, const std::string& family) {
  return !family.empty() && fnmatch(pattern.c_str(), family.c_str(), 0) == 0;
}

std::string Join(const std::vector<std::string>& items, size_t most) {
  const size_t count = std::min(most, items.size());
  std::string result;
  for (size_t i = 0; i < count; i++) {
    result += (i == 0 ? "" : ", ") + items[i];
  }
  return count == items.size() ? result
                               : result + " and " + std::to_string(items.size() - count) + " more";
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
