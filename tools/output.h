// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// How the sub-commands of the tool "rocktier" tell what they do.

#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "rocksdb/status.h"
#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

// A name that was read from a disk, for a terminal: control characters as \xNN, so that it cannot
// give orders to the terminal, nor look like two lines.
inline std::string Printable(const std::string& text) {
  static const char kDigits[] = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      result += c;
    }
  }
  return result;
}

// Prints an error of `command` ("wal export"); returns the exit status.
inline int Report(const std::string& command, const Status& s) {
  if (s.ok()) {
    return kExitOk;
  }
  fprintf(stderr, "rocktier %s: %s\n", command.c_str(), Printable(s.ToString()).c_str());
  return kExitError;
}

// A JSON string.
inline std::string Quote(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return result + "\"";
}

// On stderr, if that is a terminal.
class ProgressBar {
 public:
  std::function<void(uint64_t done, uint64_t total)> Callback() {
    if (isatty(STDERR_FILENO) == 0) {
      return nullptr;
    }
    return [this](uint64_t done, uint64_t total) { Show(done, total); };
  }
  ~ProgressBar() {
    if (shown_ >= 0) {
      fputc('\n', stderr);
    }
  }

 private:
  void Show(uint64_t done, uint64_t total) {
    const int percent = total == 0 ? 100 : static_cast<int>(done * 100 / total);
    if (percent != shown_) {
      shown_ = percent;
      const std::string bar(static_cast<size_t>(percent / 2), '#');
      fprintf(stderr, "\r[%-50s] %3d%%", bar.c_str(), percent);
    }
  }

  int shown_ = -1;
};

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
