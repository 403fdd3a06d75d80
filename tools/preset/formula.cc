// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/preset/formula.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

// The unit that a number of bytes is rounded to: at least 16 of them are left, so that it prints as
// "19M", and at most a sixteenth is lost.
double Grain(double number) {
  double unit = 1;
  while (number >= 16 * 1024 * unit) {
    unit *= 1024;
  }
  return unit;
}

double Down(double number) { return std::floor(number / Grain(number)) * Grain(number); }
double Up(double number) { return std::ceil(number / Grain(number)) * Grain(number); }

// Reads a formula from the left to the right, one function for each binding.
class Parser {
 public:
  Parser(const std::string& text, const std::function<double(const std::string&)>& value_of)
      : text_(text), value_of_(value_of) {}

  double Sum() {
    double result = Product();
    while (true) {
      if (Take('+')) {
        result += Product();
      } else if (Take('-')) {
        result -= Product();
      } else {
        return result;
      }
    }
  }

  bool AtEnd() { return Next() == '\0'; }

 private:
  double Product() {
    double result = Factor();
    while (true) {
      if (Take('*')) {
        result *= Factor();
      } else if (Take('/')) {
        result /= Factor();
      } else {
        return result;
      }
    }
  }

  double Factor() {
    if (Take('(')) {
      const double result = Sum();
      Take(')');
      return result;
    }
    return std::isdigit(static_cast<unsigned char>(Next())) != 0 ? Number() : NameOrCall();
  }

  double Number() {
    char* end = nullptr;
    double result = strtod(text_.c_str() + at_, &end);
    at_ = static_cast<size_t>(end - text_.c_str());
    const std::string units = "KMGT";
    const size_t unit = at_ < text_.size() ? units.find(text_[at_]) : std::string::npos;
    if (unit != std::string::npos) {
      at_++;
      result *= std::pow(1024, static_cast<double>(unit) + 1);
    }
    return result;
  }

  double NameOrCall() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (text_[at_] == '_' || std::isalnum(static_cast<unsigned char>(text_[at_])) != 0)) {
      at_++;
    }
    const std::string name = text_.substr(begin, at_ - begin);
    assert(!name.empty());
    return Take('(') ? Call(name) : value_of_(name);
  }

  double Call(const std::string& name) {
    double result = Sum();
    while (Take(',')) {
      const double other = Sum();
      result = name == "min" ? std::min(result, other) : std::max(result, other);
    }
    Take(')');
    return name == "up" ? Up(result) : name == "down" ? Down(result) : result;
  }

  char Next() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      at_++;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Take(char c) {
    const bool there = Next() == c;
    at_ += there ? 1 : 0;
    return there;
  }

  const std::string& text_;
  const std::function<double(const std::string&)>& value_of_;
  size_t at_ = 0;
};

}  // namespace

double Evaluate(const std::string& formula,
                const std::function<double(const std::string&)>& value_of) {
  Parser parser(formula, value_of);
  const double result = parser.Sum();
  assert(parser.AtEnd());
  return result;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
