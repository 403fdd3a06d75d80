// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/victims.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// gc_garbage_ratio without a bound.
constexpr double kUnboundedRatio = 0.5;

// See Room.
constexpr double kLeastVictims = 0.15;
constexpr double kMostVictims = 0.75;
constexpr double kPeak = 1.03;  // of the bound

}  // namespace

double RestingRatio(const BlobHybridOptions& options) {
  if (options.gc_garbage_ratio > 0) {
    return options.gc_garbage_ratio;
  }
  return options.max_space_amplification > 0 ? 1 : kUnboundedRatio;
}

double LeastRatio(const BlobHybridOptions& options) {
  return std::min(RestingRatio(options), (1 - 1 / options.max_space_amplification) / 2);
}

Room RoomFor(const Space& space, double bound) {
  const double root = space.value_bytes == 0 ? 0
                                             : std::sqrt(static_cast<double>(space.sst_bytes) /
                                                         static_cast<double>(space.value_bytes));
  Room room;
  room.share = std::clamp(root, kLeastVictims, kMostVictims);
  if (space.amplification > 0) {
    room.twice = static_cast<uint64_t>(static_cast<double>(space.disk_bytes) *
                                       std::abs(bound * kPeak / space.amplification - 1));
  }
  return room;
}

std::set<uint64_t> PickVictims(const std::vector<BlobInfo>& blobs, double ratio, double bound,
                               const Room& room, const Collected& collected) {
  std::set<uint64_t> victims;
  std::vector<BlobInfo> candidates;
  uint64_t live = 0;
  uint64_t moving = 0;  // bytes of the victims
  uint64_t twice = 0;   // of these, what lives
  for (const BlobInfo& blob : blobs) {
    live += blob.live_bytes();
    const auto it = collected.find(blob.number);
    if (it != collected.end()) {
      victims.insert(blob.number);
      moving += it->second ? 0 : blob.bytes;
      twice += it->second ? 0 : blob.live_bytes();
    } else if (blob.garbage_ratio() > ratio) {
      candidates.push_back(blob);
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const BlobInfo& a, const BlobInfo& b) {
    return std::make_pair(a.garbage_ratio(), b.number) >
           std::make_pair(b.garbage_ratio(), a.number);
  });
  const double most = static_cast<double>(live) * (bound - 1) * room.share;
  for (const BlobInfo& blob : candidates) {
    const bool first = moving == 0;
    moving += blob.bytes;
    twice += blob.live_bytes();
    if (bound != 0 && !first && (static_cast<double>(moving) > most || twice > room.twice)) {
      break;
    }
    victims.insert(blob.number);
  }
  return victims;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
