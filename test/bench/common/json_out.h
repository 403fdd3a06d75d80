// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace rocktier_bench {

// Builds a JSON object of numbers, of plain strings (without characters to escape) and of series.
class JsonObject {
 public:
  // A name, and its value at each moment.
  using Column = std::pair<std::string, std::vector<double>>;

  void Add(const std::string& name, double value) { AddRaw(name, TextOf(value)); }
  void Add(const std::string& name, uint64_t value) { AddRaw(name, std::to_string(value)); }
  void Add(const std::string& name, const std::string& value) {
    AddRaw(name, std::string("\"").append(value).append("\""));
  }
  // An object of lists.
  void AddSeries(const std::string& name, const std::vector<Column>& columns) {
    JsonObject lists;
    for (const Column& column : columns) lists.AddRaw(column.first, TextOf(column.second));
    AddRaw(name, lists.ToString());
  }
  std::string ToString() const { return "{" + body_ + "}"; }

 private:
  static std::string TextOf(double value) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.9g", value);
    return text;
  }
  static std::string TextOf(const std::vector<double>& values) {
    std::string text;
    for (double value : values) text.append(text.empty() ? "" : ", ").append(TextOf(value));
    return "[" + text + "]";
  }
  void AddRaw(const std::string& name, const std::string& text) {
    if (!body_.empty()) body_.append(", ");
    body_.append("\"").append(name).append("\": ").append(text);
  }
  std::string body_;
};

}  // namespace rocktier_bench
