// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// How commands of the tool "rocktier" lay out what they print.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

struct Call;

// A name that was read from a disk, for a terminal: control characters as \xNN, so that it cannot
// give orders to the terminal, nor look like two lines.
std::string Printable(const std::string& text);

// Breaks a text into lines of at most `width` columns, at blanks. The first line begins with
// `first`, the others with `indent`.
std::string Wrap(const std::string& text, const std::string& first, const std::string& indent,
                 size_t width = 80);

// Columns of text or numbers, as wide as what is in them.
class Table {
 public:
  // Names of columns. Those that begin with '>' are of numbers: they end at one place.
  explicit Table(std::vector<std::string> columns);

  void Add(std::vector<std::string> cells);
  void PrintTo(Call* call) const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // names of columns first
};

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
