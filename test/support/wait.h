// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <thread>

namespace rocktier {

// Waits for a condition, far longer than it takes. Returns whether it is true then.
template <typename Condition>
bool WaitFor(const Condition& condition, std::chrono::seconds limit = std::chrono::seconds(60)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  bool is_true = condition();
  while (!is_true && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    is_true = condition();
  }
  return is_true;
}

}  // namespace rocktier
