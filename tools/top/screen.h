// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <signal.h>
#include <termios.h>

#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace top {

// Where samples are shown: on a terminal in place, elsewhere as blocks. There is one at a time: it
// takes the signals that end a program. Not thread-safe.
class Screen {
 public:
  // `in_place`: stdout is a terminal, and is to be refreshed. It is as it was in the end.
  explicit Screen(bool in_place);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void Show(const std::vector<std::string>& lines);
  // Waits. False: somebody has typed q, or a signal has come that ends the program.
  bool Wait(double seconds);

 private:
  // Takes what was typed. False: a q was among it.
  bool TakeKeys();

  const bool in_place_;
  bool reads_keys_ = false;
  bool is_raw_ = false;  // stdin
  bool first_ = true;
  termios terminal_{};  // of stdin, before; if is_raw_
  sigset_t signals_{};  // that were blocked before
};

}  // namespace top
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
