// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/doctor/roles.h"

#include <cmath>

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

namespace {

// How many times longer a read of the slow disk must take.
constexpr double kClearly = 2;

bool IsUsable(const Place& place) { return place.writable && place.HasRoom(); }
bool IsDisk(const Place& place) { return IsUsable(place) && place.kind != Kind::kMemory; }

bool AreApart(const Place& one, const Place& other) {
  return one.mount.number != other.mount.number &&
         (one.device.name.empty() || one.device.name != other.device.name);
}

// How many times longer a read of `slow` takes; without a probe, what the kernel calls them counts.
// 0: it is not clearly slower.
double Slower(const Place& slow, const Place& fast) {
  if (slow.probe.done() && fast.probe.done()) {
    const double times = slow.probe.read.median / fast.probe.read.median;
    return times >= kClearly ? times : 0;
  }
  const bool by_kind = slow.kind == Kind::kRotating || slow.kind == Kind::kNetwork;
  return by_kind && fast.kind == Kind::kDisk ? kClearly : 0;
}

// Takes the larger of two for a role.
void TakeLarger(const Place& place, const Place** role) {
  *role = *role == nullptr || place.free > (*role)->free ? &place : *role;
}

}  // namespace

Roles::Roles(const std::vector<Place>& places) {
  double most = 0;
  for (const Place& place : places) {
    if (!IsUsable(place)) {
      continue;
    }
    TakeLarger(place, place.kind == Kind::kMemory ? &memory : &home);
    if (place.kind != Kind::kMemory && place.probe.done() &&
        (device == nullptr || place.probe.device_sync.median < device->probe.device_sync.median)) {
      device = &place;
    }
    for (const Place& other : places) {
      if (!IsDisk(place) || !IsDisk(other) || !AreApart(place, other)) {
        continue;
      }
      const double times = Slower(other, place);
      if (times > most) {
        most = times;
        disks = {&place, &other};
      }
      if (other.kind == Kind::kNetwork && place.kind == Kind::kDisk &&
          (network.slow == nullptr || other.free > network.slow->free)) {
        network = {&place, &other};
      }
      if (place.mount.IsDax() && !other.mount.IsDax() &&
          (pmem.slow == nullptr || other.free > pmem.slow->free)) {
        pmem = {&place, &other};
      }
    }
  }
}

std::string Micros(double micros) { return std::to_string(std::lround(micros)) + " us"; }

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
