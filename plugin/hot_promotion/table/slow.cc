// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/table/slow.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "plugin/hot_promotion/compat.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr char kTemperature[] = "temperature:";

// Makes a path end with one slash, and have never two in a row, so that directories compare by
// their first bytes.
std::string Normalized(const std::string& path) {
  std::string result;
  for (const char c : path + "/") {
    if (c != '/' || result.empty() || result.back() != '/') {
      result.push_back(c);
    }
  }
  return result;
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// Lists the names of temperatures.
std::string Known() {
  std::string result;
  for (const auto& [name, temperature] : Temperatures()) {
    result += (result.empty() ? ": " : ", ") + name;
  }
  return result;
}

}  // namespace

Status SlowFiles::Parse(const std::string& text, SlowFiles* result) {
  SlowFiles parsed;
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const Status s = parsed.Add(Trimmed(entry));
    if (!s.ok()) {
      return s;
    }
  }
  if (parsed.directories_.empty() && parsed.temperatures_.empty()) {
    return Status::InvalidArgument("HotPromotionTable: slow", "is required with a path");
  }
  *result = std::move(parsed);
  return Status::OK();
}

Status SlowFiles::Add(const std::string& entry) {
  if (entry.compare(0, sizeof(kTemperature) - 1, kTemperature) == 0) {
    const auto& names = Temperatures();
    const auto it = names.find(entry.substr(sizeof(kTemperature) - 1));
    if (it == names.end()) {
      return Status::InvalidArgument("HotPromotionTable: slow: " + entry,
                                     "is none of the temperatures" + Known());
    }
    temperatures_.push_back(it->second);
    return Status::OK();
  }
  if (entry.empty() || entry[0] != '/') {
    return Status::InvalidArgument("HotPromotionTable: slow: " + entry,
                                   "must be an absolute directory, or temperature: and a name");
  }
  directories_.push_back(Normalized(entry));
  return Status::OK();
}

bool SlowFiles::IsSlow(const std::string& path, Temperature temperature) const {
  if (std::find(temperatures_.begin(), temperatures_.end(), temperature) != temperatures_.end()) {
    return true;
  }
  const std::string file = Normalized(path);
  return std::any_of(directories_.begin(), directories_.end(), [&](const std::string& directory) {
    return file.compare(0, directory.size(), directory) == 0;
  });
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
