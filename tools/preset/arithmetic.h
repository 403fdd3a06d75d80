// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The arithmetic of a preset: figures, each given or computed by a formula over those before it.
// The formula that is printed is the one that is evaluated.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

enum class Unit { kBytes, kPercent, kPerSecond, kSeconds };

struct Figure {
  std::string name;
  double value = 0;
  Unit unit = Unit::kBytes;
  std::string formula;  // empty: it was given
  std::string why;      // or from where
};

// "305G": bytes as an option has them, exactly, in the largest unit that does.
std::string OptionBytes(uint64_t bytes);

// "37.2G": bytes for people, in powers of 1024.
std::string ShortBytes(double bytes);

class Arithmetic {
 public:
  // Adds a figure that was given. `from`: a flag, or what was read.
  void Given(const std::string& name, double value, const std::string& from,
             Unit unit = Unit::kBytes);
  // Adds one that follows from those before: names, numbers with K, M, G or T, + - * / ( ), and
  // min, max, and up and down, which round to what prints short. Whole, rounded down. Returns it.
  double Computed(const std::string& name, const std::string& formula, const std::string& why,
                  Unit unit = Unit::kBytes);

  bool Has(const std::string& name) const { return Find(name) != nullptr; }
  // Requires that there is one of this name.
  double operator[](const std::string& name) const;
  // As OptionBytes() has it.
  std::string Option(const std::string& name) const;
  // As ShortBytes() has it, with its name: "hot_set (25G)".
  std::string Named(const std::string& name) const;

  // A line for each figure.
  std::vector<std::string> Lines() const;
  Json ToJson() const;

 private:
  const Figure* Find(const std::string& name) const;

  std::vector<Figure> figures_;
};

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
