// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/blob/space_sampler.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "rocksdb/metadata.h"

namespace rocktier_bench {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(20);
constexpr int kTenths = 10;

}  // namespace

SpaceSampler::SpaceSampler(ROCKSDB_NAMESPACE::DB* db, uint64_t floor,
                           std::function<uint64_t()> live_bytes, std::function<double()> progress)
    : db_(db),
      floor_(floor),
      live_bytes_(std::move(live_bytes)),
      progress_(std::move(progress)),
      thread_([this] { Run(); }) {}

void SpaceSampler::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stop_) return;
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
  Look();
}

void SpaceSampler::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!changed_.wait_for(lock, kInterval, [this] { return stop_; })) {
    lock.unlock();
    Look();
    lock.lock();
  }
}

void SpaceSampler::Look() {
  const uint64_t live = std::max(live_bytes_(), floor_);
  ROCKSDB_NAMESPACE::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  const double bytes = static_cast<double>(meta.size + meta.blob_file_size);
  samples_.push_back({progress_(), bytes / static_cast<double>(live)});
}

void SpaceSampler::AddSums(JsonObject* json) const {
  double sum = 0;
  for (const Sample& sample : samples_) sum += sample.amplification;
  json->Add("space_sum", sum);
  json->Add("space_samples", uint64_t{samples_.size()});
}

void SpaceSampler::AddTo(JsonObject* json) const {
  double sum = 0;
  double most = 0;
  for (const Sample& sample : samples_) {
    sum += sample.amplification;
    most = std::max(most, sample.amplification);
  }
  json->Add("space_max", most);
  json->Add("space_mean", sum / static_cast<double>(samples_.size()));
  json->Add("space_end", samples_.back().amplification);
  auto sample = samples_.begin();
  for (int tenth = 1; tenth <= kTenths; tenth++) {
    while (sample + 1 != samples_.end() && sample->progress * kTenths < tenth) ++sample;
    json->Add("space_" + std::to_string(tenth * 10), sample->amplification);
  }
}

}  // namespace rocktier_bench
