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

// Blob files in a row.
struct Group {
  size_t begin = 0;
  size_t end = 0;
  uint64_t bytes = 0;
  uint64_t garbage = 0;
  bool common = false;  // it is freed when none of them has references any more

  double share() const {
    return bytes == 0 ? 0 : static_cast<double>(garbage) / static_cast<double>(bytes);
  }
  void Prepend(const Group& older) {
    begin = older.begin;
    bytes += older.bytes;
    garbage += older.garbage;
  }
};

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

std::vector<double> SharesOfGarbage(const std::vector<BlobInfo>& blobs, double ratio) {
  std::vector<double> shares(blobs.size());
  std::vector<Group> groups;
  for (size_t i = 0; i < blobs.size(); i++) {
    const BlobInfo& blob = blobs[i];
    shares[i] = blob.garbage_ratio();
    if (!blob.corrected && shares[i] > ratio) {
      continue;
    }
    Group group{i, i + 1, blob.bytes, blob.bytes - blob.live_bytes(), blob.corrected};
    while (blob.corrected && !groups.empty() && groups.back().share() <= group.share()) {
      group.Prepend(groups.back());
      groups.pop_back();
    }
    groups.push_back(group);
  }
  for (const Group& group : groups) {
    for (size_t i = group.begin; group.common && i < group.end; i++) {
      shares[i] = blobs[i].corrected ? group.share() : std::max(shares[i], group.share());
    }
  }
  return shares;
}

std::set<uint64_t> PickVictims(const std::vector<BlobInfo>& blobs, double ratio, double bound,
                               const Room& room, const Collected& collected) {
  const std::vector<double> shares = SharesOfGarbage(blobs, ratio);
  std::set<uint64_t> victims;
  std::vector<std::pair<double, const BlobInfo*>> candidates;
  uint64_t live = 0;
  uint64_t moving = 0;            // bytes of the victims
  uint64_t twice = 0;             // of these, what lives
  bool first = true;              // no victim is under way
  uint64_t waiting = UINT64_MAX;  // the oldest victim that is done, and waits for older files
  for (size_t i = 0; i < blobs.size(); i++) {
    const BlobInfo& blob = blobs[i];
    live += blob.live_bytes();
    const auto it = collected.find(blob.number);
    if (it == collected.end()) {
      if (shares[i] > ratio && !blob.IsWaiting()) {
        candidates.emplace_back(shares[i], &blob);
      }
      continue;
    }
    victims.insert(blob.number);
    const bool waits = it->second && blob.corrected && live > 0;
    waiting = waits ? std::min(waiting, blob.number) : waiting;
    moving += waits || !it->second ? blob.bytes : 0;
    twice += waits ? blob.bytes : it->second ? 0 : blob.live_bytes();
    first = first && it->second;
  }
  std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::make_pair(a.first, b.second->number) > std::make_pair(b.first, a.second->number);
  });
  const double most = static_cast<double>(live) * (bound - 1) * room.share;
  for (const auto& [share, blob] : candidates) {
    if (blob->corrected && blob->number > waiting) {
      continue;  // would wait, too
    }
    moving += blob->bytes;
    twice += blob->live_bytes();
    if (bound != 0 && !first && (static_cast<double>(moving) > most || twice > room.twice)) {
      break;
    }
    first = false;
    victims.insert(blob->number);
  }
  return victims;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
