// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/top/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/units.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace top {

namespace {

constexpr char kCut[] = "...";
constexpr size_t kCutColumns = sizeof(kCut) - 1;

std::string Format(const char* format, double number) {
  char text[64];
  snprintf(text, sizeof(text), format, number);
  return text;
}

// Whether a byte goes on with a character of UTF-8.
bool GoesOn(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string Short(double number) {
  constexpr char kUnits[] = "KMGTPE";
  if (number != std::floor(number) && std::fabs(number) < 10) {
    return Format("%.2g", number);
  }
  size_t unit = 0;
  if (std::fabs(number) < 100000) {
    return Format("%.0f", number);
  }
  for (number /= 1000; std::fabs(number) >= 1000 && kUnits[unit + 1] != '\0'; unit++) {
    number /= 1000;
  }
  return Format("%.4g", number) + kUnits[unit];
}

std::string ShortBytes(double bytes) {
  constexpr double kMost = 9e18;
  const std::string text = HumanBytes(static_cast<uint64_t>(std::min(std::fabs(bytes), kMost)));
  return (bytes < 0 ? "-" : "") + text;
}

std::string Ratio(double ratio) { return Format("%.2f", ratio); }

std::string Percent(double share) { return share < 0 ? "-" : Format("%.1f%%", 100 * share); }

std::string BytesOf(double bytes, double limit) {
  return limit > 0
             ? ShortBytes(bytes) + " of " + ShortBytes(limit) + " (" + Percent(bytes / limit) + ")"
             : ShortBytes(bytes);
}

std::string Milliseconds(double seconds) { return Format("%.3g", 1000 * seconds) + " ms"; }

std::string CutEnd(const std::string& text, size_t columns) {
  if (text.size() <= columns) {
    return text;
  }
  size_t end = columns - kCutColumns;
  while (end > 0 && GoesOn(text[end])) {
    end--;
  }
  return text.substr(0, end) + kCut;
}

std::string CutBegin(const std::string& text, size_t columns) {
  if (text.size() <= columns) {
    return text;
  }
  size_t begin = text.size() - columns + kCutColumns;
  while (begin < text.size() && GoesOn(text[begin])) {
    begin++;
  }
  return kCut + text.substr(begin);
}

bool Figures::Matches(const Figure& figure, const std::string& name) const {
  if (figure.metric.name != "rocktier_" + file_.plugin + "_" + name) {
    return false;
  }
  const std::string* value = label_.empty() ? &value_ : figure.metric.Label(label_);
  return value != nullptr && *value == value_;
}

bool Figures::Has(const std::string& name) const {
  return std::any_of(file_.figures.begin(), file_.figures.end(),
                     [&](const Figure& figure) { return Matches(figure, name); });
}

double Figures::Value(const std::string& name) const {
  double sum = 0;
  for (const Figure& figure : file_.figures) {
    sum += Matches(figure, name) ? figure.metric.value : 0;
  }
  return sum;
}

bool Figures::PerSecond(const std::string& name, double* rate) const {
  double sum = 0;
  for (const Figure& figure : file_.figures) {
    if (Matches(figure, name)) {
      if (figure.grown < 0) {
        return false;
      }
      sum += figure.grown;
    }
  }
  *rate = sum / file_.seconds;
  return file_.seconds > 0;
}

std::string Figures::Rate(const std::string& name) const {
  double rate = 0;
  return PerSecond(name, &rate) ? Short(rate) + "/s" : Short(Value(name));
}

std::string Figures::ByteRate(const std::string& name) const {
  double rate = 0;
  return PerSecond(name, &rate) ? ShortBytes(rate) + "/s" : ShortBytes(Value(name));
}

std::vector<std::string> Figures::ValuesOf(const StatisticsFile& file, const std::string& label) {
  std::vector<std::string> values;
  for (const Figure& figure : file.figures) {
    const std::string* value = figure.metric.Label(label);
    if (value != nullptr && std::find(values.begin(), values.end(), *value) == values.end()) {
      values.push_back(*value);
    }
  }
  return values;
}

std::string Figures::Owner(const StatisticsFile& file, const std::string& label) {
  const std::vector<std::string> values = ValuesOf(file, label);
  return values.empty() ? "" : values.front();
}

}  // namespace top
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
