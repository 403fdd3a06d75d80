// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/progress.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

constexpr std::chrono::milliseconds kFirst{1000};
constexpr std::chrono::milliseconds kEvery{200};
constexpr size_t kBar = 30;  // columns

}  // namespace

ProgressLine::ProgressLine(std::string name, bool shown) : name_(std::move(name)) {
  if (shown) {
    thread_ = std::thread([this] { Show(); });
  }
}

Progress ProgressLine::callback() {
  if (!thread_.joinable()) {
    return nullptr;
  }
  return [this](uint64_t done, uint64_t total) {
    total_.store(total, std::memory_order_relaxed);
    done_.store(done, std::memory_order_relaxed);
  };
}

void ProgressLine::Stop() {
  if (!thread_.joinable()) {
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

void ProgressLine::Show() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  bool any = false;
  while (!stopped_.wait_for(lock, any ? kEvery : kFirst, [this] { return stop_; })) {
    any = true;
    const auto seconds = static_cast<long long>(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start)
            .count());
    const uint64_t total = total_.load(std::memory_order_relaxed);
    const uint64_t done = std::min(done_.load(std::memory_order_relaxed), total);
    if (total == 0) {
      fprintf(stderr, "\r%s: %lld s", name_.c_str(), seconds);
      continue;
    }
    const double share = static_cast<double>(done) / static_cast<double>(total);
    const std::string bar(static_cast<size_t>(share * kBar), '#');
    fprintf(stderr, "\r%s: [%-*s] %3d%%, %lld s", name_.c_str(), static_cast<int>(kBar),
            bar.c_str(), static_cast<int>(share * 100), seconds);
  }
  if (any) {
    fprintf(stderr, "\r\033[K");
  }
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
