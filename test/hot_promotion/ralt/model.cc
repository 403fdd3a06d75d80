// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/hot_promotion/ralt/model.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

void EraseIf(std::map<std::string, Model::Key>* keys,
             const std::function<bool(const std::string&, const Model::Key&)>& goes) {
  for (auto it = keys->begin(); it != keys->end();) {
    it = goes(it->first, it->second) ? keys->erase(it) : std::next(it);
  }
}

}  // namespace

void Model::Access(const std::string& key, uint64_t size) {
  Key& known = keys_[key];
  known.ticks.push_back(tick_);
  known.size = size;
  bytes_ += size;
  while (bytes_ >= parameters_.tick_bytes) {
    bytes_ -= parameters_.tick_bytes;
    ++tick_;
  }
}

double Model::Score(const Key& key) const {
  double score = 0;
  for (const uint64_t tick : std::set<uint64_t>(key.ticks.begin(), key.ticks.end())) {
    score += std::pow(parameters_.alpha, static_cast<double>(tick_ - tick));
  }
  return score;
}

int Model::Counter(const Key& key) const {
  int counter = 0;
  size_t next = 0;
  for (uint64_t tick = key.ticks.front(); tick <= tick_; ++tick) {
    if (tick % parameters_.decay_ticks == 0 && tick > key.ticks.front()) {
      counter = std::max(counter - 10, 0);
    }
    for (; next < key.ticks.size() && key.ticks[next] == tick; ++next) {
      counter = std::min(counter + parameters_.counter_step, parameters_.counter_max);
    }
  }
  return counter;
}

uint64_t Model::Bytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, key] : keys_) {
    bytes += key.size;
  }
  return bytes;
}

uint64_t Model::StableBytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, key] : keys_) {
    bytes += Stable(key) ? key.size : 0;
  }
  return bytes;
}

void Model::EvictUnstable() {
  EraseIf(&keys_, [this](const std::string&, const Key& key) { return !Stable(key); });
}

void Model::Keep(const std::set<std::string>& keys) {
  EraseIf(&keys_, [&](const std::string& name, const Key&) { return keys.count(name) == 0; });
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
