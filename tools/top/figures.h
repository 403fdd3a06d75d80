// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The figures of a statistics file as text.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/top/sample.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace top {

// "12", "0.31", "123.4K".
std::string Short(double number);
// "12.3 MiB", "-1 KiB".
std::string ShortBytes(double bytes);
// "1.20".
std::string Ratio(double ratio);
// "93.1%"; "-" if `share` is below 0.
std::string Percent(double share);
// "12 of 16 (75%)", of bytes; without a limit "12".
std::string BytesOf(double bytes, double limit);
// "0.12 ms".
std::string Milliseconds(double seconds);
// Cut at the end, or at the beginning, to as many columns.
std::string CutEnd(const std::string& text, size_t columns);
std::string CutBegin(const std::string& text, size_t columns);

// What one of several things has, such as a tier: all figures with this value of a label; with an
// empty label, of all of them, in which case figures are added up. Names are without the plugin.
class Figures {
 public:
  explicit Figures(const StatisticsFile& file, std::string label = "", std::string value = "")
      : file_(file), label_(std::move(label)), value_(std::move(value)) {}

  bool Has(const std::string& name) const;
  // The value as it is: a gauge, or a counter since the object was opened.
  double Value(const std::string& name) const;
  std::string Count(const std::string& name) const { return Short(Value(name)); }
  std::string Bytes(const std::string& name) const { return ShortBytes(Value(name)); }
  // A counter: "12/s" between two samples, "12" of one.
  std::string Rate(const std::string& name) const;
  std::string ByteRate(const std::string& name) const;
  // Values of a label, in the order in which they come.
  static std::vector<std::string> ValuesOf(const StatisticsFile& file, const std::string& label);
  // The value of a label that all figures of a file have; empty if there is none.
  static std::string Owner(const StatisticsFile& file, const std::string& label);

 private:
  bool Matches(const Figure& figure, const std::string& name) const;
  // False: it is not known.
  bool PerSecond(const std::string& name, double* rate) const;

  const StatisticsFile& file_;
  const std::string label_;
  const std::string value_;
};

}  // namespace top
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
