// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/output.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

bool IsC1(unsigned char byte) { return byte >= 0x80 && byte < 0xa0; }

}  // namespace

// Escapes control characters: C0 and DEL, and C1 (0x80 to 0x9f) as a byte of its own, or as the
// character of UTF-8 that begins with 0xc2. In longer characters such bytes are letters.
std::string Printable(const std::string& text) {
  static const char kDigits[] = "0123456789abcdef";
  std::string result;
  int following = 0;  // bytes of the character that are still to come
  for (size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool is_c1 = IsC1(byte) || (byte == 0xc2 && IsC1(next));
    const bool follows = following > 0 && byte >= 0x80 && byte < 0xc0;
    following = follows        ? following - 1
                : byte >= 0xf0 ? 3
                : byte >= 0xe0 ? 2
                : byte >= 0xc3 ? 1
                               : 0;
    if (byte < 0x20 || byte == 0x7f || (is_c1 && !follows)) {
      result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string Wrap(const std::string& text, const std::string& first, const std::string& indent,
                 size_t width) {
  std::istringstream words(text);
  std::string result;
  std::string line = first;
  bool empty = true;  // there is no word in the line yet
  for (std::string word; words >> word;) {
    if (!empty && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line = indent;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return result + line + "\n";
}

Table::Table(std::vector<std::string> columns) {
  for (std::string& column : columns) {
    right_.push_back(column[0] == '>');
    column.erase(0, right_.back() ? 1 : 0);
  }
  rows_.push_back(std::move(columns));
}

void Table::Add(std::vector<std::string> cells) {
  for (std::string& cell : cells) {
    cell = Printable(cell);
  }
  rows_.push_back(std::move(cells));
}

void Table::PrintTo(Call* call) const {
  std::vector<size_t> widths(right_.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); i++) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); i++) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      line += (i == 0 ? "" : "  ") + (right_[i] ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    call->Line(line);
  }
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
