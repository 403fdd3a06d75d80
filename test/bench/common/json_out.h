// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace rocktier_bench {

// Builds one flat JSON object of numbers and of plain strings (without characters to escape).
class JsonObject {
 public:
  void Add(const std::string& name, double value) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.9g", value);
    AddRaw(name, text);
  }
  void Add(const std::string& name, uint64_t value) { AddRaw(name, std::to_string(value)); }
  void Add(const std::string& name, const std::string& value) {
    AddRaw(name, std::string("\"").append(value).append("\""));
  }
  std::string ToString() const { return "{" + body_ + "}"; }

 private:
  void AddRaw(const std::string& name, const std::string& text) {
    if (!body_.empty()) body_.append(", ");
    body_.append("\"").append(name).append("\": ").append(text);
  }
  std::string body_;
};

}  // namespace rocktier_bench
