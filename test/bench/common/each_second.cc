// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/common/each_second.h"

#include <utility>

namespace rocktier_bench {

EachSecond::EachSecond(std::function<uint64_t()> done)
    : done_(std::move(done)), last_(done_()), thread_([this] { Run(); }) {}

void EachSecond::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stop_) return;
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
  Look();
}

void EachSecond::AddTo(JsonObject* json) const {
  json->AddSeries("each second", {{"seconds", seconds_}, {"operations", operations_}});
}

void EachSecond::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  auto next = start_ + std::chrono::seconds(1);
  while (!changed_.wait_until(lock, next, [this] { return stop_; })) {
    Look();
    do {  // one that comes late is not followed by another one at once
      next += std::chrono::seconds(1);
    } while (next <= Clock::now());
  }
}

void EachSecond::Look() {
  const uint64_t now = done_();
  seconds_.push_back(std::chrono::duration<double>(Clock::now() - start_).count());
  operations_.push_back(static_cast<double>(now - last_));
  last_ = now;
}

}  // namespace rocktier_bench
