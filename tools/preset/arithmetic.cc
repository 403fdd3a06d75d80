// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/preset/arithmetic.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>

#include "tools/preset/formula.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

constexpr char kUnits[] = "KMGT";

// "3600", "0.5".
std::string Plain(double number) {
  char text[64];
  snprintf(text, sizeof(text), "%.10g", number);
  return text;
}

std::string ValueOf(const Figure& figure) {
  switch (figure.unit) {
    case Unit::kBytes:
      return ShortBytes(figure.value);
    case Unit::kPercent:
      return Plain(figure.value) + "%";
    case Unit::kPerSecond:
      return Plain(figure.value) + "/s";
    case Unit::kSeconds:
      return Plain(figure.value) + "s";
  }
  return "";
}

const char* NameOf(Unit unit) {
  switch (unit) {
    case Unit::kBytes:
      return "bytes";
    case Unit::kPercent:
      return "percent";
    case Unit::kPerSecond:
      return "per second";
    case Unit::kSeconds:
      return "seconds";
  }
  return "";
}

}  // namespace

std::string OptionBytes(uint64_t bytes) {
  int unit = -1;
  while (bytes != 0 && bytes % 1024 == 0 && kUnits[unit + 1] != '\0') {
    bytes /= 1024;
    unit++;
  }
  return std::to_string(bytes) + (unit < 0 ? "" : std::string(1, kUnits[unit]));
}

std::string ShortBytes(double bytes) {
  int unit = -1;
  while (std::fabs(bytes) >= 1024 && kUnits[unit + 1] != '\0') {
    bytes /= 1024;
    unit++;
  }
  char text[64];
  snprintf(text, sizeof(text), "%.1f", bytes);
  std::string result = text;
  if (result.compare(result.size() - 2, 2, ".0") == 0) {
    result.resize(result.size() - 2);
  }
  return result + (unit < 0 ? "" : std::string(1, kUnits[unit]));
}

void Arithmetic::Given(const std::string& name, double value, const std::string& from, Unit unit) {
  assert(!Has(name));
  figures_.push_back({name, value, unit, "", from});
}

double Arithmetic::Computed(const std::string& name, const std::string& formula,
                            const std::string& why, Unit unit) {
  assert(!Has(name));
  const double value =
      std::floor(Evaluate(formula, [this](const std::string& other) { return (*this)[other]; }));
  figures_.push_back({name, value, unit, formula, why});
  return value;
}

const Figure* Arithmetic::Find(const std::string& name) const {
  const auto found = std::find_if(figures_.begin(), figures_.end(),
                                  [&](const Figure& figure) { return figure.name == name; });
  return found == figures_.end() ? nullptr : &*found;
}

double Arithmetic::operator[](const std::string& name) const {
  const Figure* const figure = Find(name);
  assert(figure != nullptr);
  return figure == nullptr ? 0 : figure->value;
}

std::string Arithmetic::Option(const std::string& name) const {
  return OptionBytes(static_cast<uint64_t>((*this)[name]));
}

std::string Arithmetic::Named(const std::string& name) const {
  return name + " (" + ShortBytes((*this)[name]) + ")";
}

std::vector<std::string> Arithmetic::Lines() const {
  size_t width = 0;
  for (const Figure& figure : figures_) {
    width = std::max(width, figure.name.size());
  }
  std::vector<std::string> lines;
  for (const Figure& figure : figures_) {
    const std::string value = ValueOf(figure);
    std::string line = figure.name + std::string(width - figure.name.size() + 2, ' ') +
                       std::string(8 - std::min<size_t>(8, value.size()), ' ') + value;
    line += figure.formula.empty() ? "" : " = " + figure.formula;
    lines.push_back(line + "  (" + figure.why + ")");
  }
  return lines;
}

Json Arithmetic::ToJson() const {
  Json json = Json::array();
  for (const Figure& figure : figures_) {
    Json each;
    each["name"] = figure.name;
    if (figure.unit == Unit::kBytes || figure.unit == Unit::kSeconds) {
      each["value"] = static_cast<int64_t>(figure.value);
    } else {
      each["value"] = figure.value;
    }
    each["unit"] = NameOf(figure.unit);
    each["formula"] = figure.formula;
    each["why"] = figure.why;
    json.push_back(each);
  }
  return json;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
