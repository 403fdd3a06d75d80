// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/record.h"

#include <cmath>
#include <cstring>

#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

constexpr size_t kFixedSize = 8;
constexpr size_t kFades = 1024;
constexpr double kTie = 1e-7 / (1 << 24);

}  // namespace

void Record::EncodeTo(std::string* bytes) const {
  PutVarint64Varint64(bytes, last, last - first);
  PutVarint64(bytes, size);
  char fixed[kFixedSize];
  uint32_t bits;
  memcpy(&bits, &score, sizeof(bits));
  EncodeFixed32(fixed, bits);
  fixed[4] = static_cast<char>(counter.add);
  fixed[5] = static_cast<char>(counter.floor);
  fixed[6] = static_cast<char>(counter.cap);
  fixed[7] = again ? 1 : 0;
  bytes->append(fixed, sizeof(fixed));
}

size_t Record::EncodedSize() const {
  return static_cast<size_t>(VarintLength(last) + VarintLength(last - first) + VarintLength(size)) +
         kFixedSize;
}

bool Record::Decode(Slice bytes, Record* result) {
  uint64_t span;
  if (!GetVarint64(&bytes, &result->last) || !GetVarint64(&bytes, &span) ||
      !GetVarint64(&bytes, &result->size) || bytes.size() != kFixedSize || span > result->last) {
    return false;
  }
  result->first = result->last - span;
  const uint32_t bits = DecodeFixed32(bytes.data());
  memcpy(&result->score, &bits, sizeof(bits));
  result->counter.add = static_cast<int8_t>(bytes[4]);
  result->counter.floor = static_cast<uint8_t>(bytes[5]);
  result->counter.cap = static_cast<uint8_t>(bytes[6]);
  result->again = bytes[7] != 0;
  // A score is above 0, and NaN is not.
  return result->score > 0 && result->counter.floor <= result->counter.cap &&
         result->counter.cap <= Counter::kMax;
}

Scoring::Scoring(double alpha, uint64_t decay_ticks, int counter_step, int counter_max)
    : alpha_(alpha),
      log_alpha_(std::log(alpha)),
      decay_ticks_(decay_ticks),
      max_(counter_max),
      access_(Counter::Access(counter_step, counter_max)) {
  fades_.reserve(kFades);
  for (size_t i = 0; i < kFades; ++i) {
    fades_.push_back(std::pow(alpha, static_cast<double>(i)));
  }
}

double Scoring::Fade(uint64_t ticks) const {
  return ticks < fades_.size() ? fades_[ticks] : std::pow(alpha_, static_cast<double>(ticks));
}

Counter Scoring::Decays(uint64_t from, uint64_t to) const {
  const uint64_t decays = to / decay_ticks_ - from / decay_ticks_;
  return Counter::Decay(std::min<uint64_t>(decays, Counter::kMax) * 10, max_);
}

Record Scoring::Access(uint64_t tick, uint64_t size) const {
  Record record;
  record.first = tick;
  record.last = tick;
  record.size = size;
  record.score = 1;
  record.counter = access_;
  return record;
}

Record Scoring::Merge(const Record& older, const Record& newer) const {
  if (newer.last < older.last) {
    return Merge(newer, older);  // after a damage the clock may have been set back
  }
  Record record = newer;
  record.first = std::min(older.first, newer.first);
  double score = older.score * Fade(newer.last - older.last) + newer.score;
  if (older.last == newer.first) {
    score -= Fade(newer.last - newer.first);  // that tick is in both sums
  }
  record.score = static_cast<float>(score);
  const Counter decayed = newer.first > older.last
                              ? older.counter.Then(Decays(older.last, newer.first), max_)
                              : older.counter;
  record.counter = decayed.Then(newer.counter, max_);
  record.again = true;
  return record;
}

double Scoring::Rank(const Record& record, uint64_t hash) const {
  const double tie = static_cast<double>(hash >> 40) * kTie;
  return std::log(static_cast<double>(record.score)) -
         static_cast<double>(record.last) * log_alpha_ + tie;
}

bool Scoring::Stable(const Record& record, uint64_t now) const {
  return record.again &&
         record.counter.Then(Decays(record.last, std::max(now, record.last)), max_).Value() > 0;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
