// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/units.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

constexpr char kUnits[] = "KMGT";

// How many bits a unit shifts a number by; -1: there is no such unit.
int ShiftOf(const std::string& unit) {
  if (unit.empty()) {
    return 0;
  }
  for (int i = 0; kUnits[i] != '\0'; i++) {
    if (unit[0] == kUnits[i] && (unit.size() == 1 || unit.substr(1) == "iB")) {
      return 10 * (i + 1);
    }
  }
  return -1;
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool IsOfBytes(const std::string& name) {
  return EndsWith(name, "bytes") || EndsWith(name, "size") || EndsWith(name, "capacity") ||
         EndsWith(name, "budget");
}

}  // namespace

bool ParseBytes(const std::string& text, uint64_t* bytes) {
  if (text.empty() || text[0] < '0' || text[0] > '9') {
    return false;
  }
  char* end = nullptr;
  errno = 0;
  const uint64_t number = strtoull(text.c_str(), &end, 10);
  const int shift = ShiftOf(text.substr(static_cast<size_t>(end - text.c_str())));
  if (errno != 0 || shift < 0 || (number << shift) >> shift != number ||
      number << shift > INT64_MAX) {
    return false;
  }
  *bytes = number << shift;
  return true;
}

bool ParseDouble(const std::string& text, double* number) {
  char* end = nullptr;
  *number = strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(*number);
}

bool ParsePercent(const std::string& text, double* percent) {
  return EndsWith(text, "%") && ParseDouble(text.substr(0, text.size() - 1), percent) &&
         *percent > 0 && *percent <= 100;
}

bool ParseRate(const std::string& text, double* per_second) {
  if (!EndsWith(text, "/s") || text[0] < '0' || text[0] > '9') {
    return false;
  }
  char* end = nullptr;
  *per_second = strtod(text.c_str(), &end);
  const std::string unit = end;
  *per_second *= unit == "M/s" ? 1e6 : unit == "K/s" ? 1e3 : 1;
  return (unit == "/s" || unit == "K/s" || unit == "M/s") && std::isfinite(*per_second) &&
         *per_second > 0;
}

std::string HumanBytes(uint64_t bytes) {
  if (bytes < 1024) {
    return std::to_string(bytes) + " B";
  }
  int unit = 0;
  double number = static_cast<double>(bytes) / 1024;
  while (number >= 1024 && kUnits[unit + 1] != '\0') {
    number /= 1024;
    unit++;
  }
  char text[64];
  snprintf(text, sizeof(text), "%.1f", number);
  std::string result = text;
  if (EndsWith(result, ".0")) {
    result.resize(result.size() - 2);
  }
  return result + " " + kUnits[unit] + "iB";
}

std::string BytesFor(uint64_t bytes, bool human) {
  const std::string digits = std::to_string(bytes);
  return human && bytes >= 1024 ? digits + " (" + HumanBytes(bytes) + ")" : digits;
}

std::string WithHumanBytes(const std::string& line) {
  const size_t end = line.find_first_of(": ", line.find_first_not_of(' '));
  const size_t value = line.find_first_not_of(": ", end);
  uint64_t bytes = 0;
  return value != std::string::npos && IsOfBytes(line.substr(0, end)) &&
                 ParseBytes(line.substr(value), &bytes)
             ? line.substr(0, value) + BytesFor(bytes, /*human=*/true)
             : line;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
