// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/doctor/advice.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "tools/doctor/roles.h"
#include "tools/preset/formula.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

namespace {

using preset::OptionBytes;
using preset::Plan;
using preset::Preset;
using preset::Request;
using preset::ShortBytes;

// Less is what the probe cannot tell from nothing.
constexpr double kLeastGain = 1.1;
// A file pays where a read of the database costs as much more: RESULTS.md of secondary_cache_2q.
constexpr double kCacheFilePays = 300;
// What hot records get, as in the benchmark: 95% of the operations go to 5% of the records.
constexpr double kHotShare = 0.95;
// The least that a read takes where a head moves, in microseconds.
constexpr double kSeek = 2000;
constexpr uint64_t kLogDevice = 5ull << 30;

double Down(double bytes) {
  return preset::Evaluate("down(bytes)", [bytes](const std::string&) { return bytes; });
}

// One preset on this machine.
struct Case {
  const Machine& machine;
  const Load& load;
  const Roles roles;
  Request request;
  Plan plan;
  Advice advice;

  void Missing(const std::string& what) { advice.why = what; }
  // Where the data goes; and without --data, how much.
  void Slow(const Place& place) {
    request.slow = place.directory;
    request.slow_size = place.free;
    Data(place);
  }
  void Data(const Place& place) {
    request.data = load.data != 0
                       ? load.data
                       : static_cast<uint64_t>(Down(static_cast<double>(place.free) / 2));
  }
  void Fast(const Place& place) {
    request.fast = place.directory;
    request.fast_size = place.free;
  }
  // Whether the preset finds room for that; else its reason is what is missing.
  bool Holds() {
    plan = Plan();
    const Status s = advice.preset->make(request, &plan);
    advice.why = s.ok() ? "" : s.getState();
    advice.fits = s.ok();
    return s.ok();
  }
  // With copies of hot records, or without them if there is no room.
  bool HoldsWithHot() {
    request.hot = load.hot;
    request.value = load.value;
    if (Holds()) {
      return true;
    }
    const std::string why = advice.why;
    request.hot = 0;
    if (!Holds()) {
      advice.why = why;
    }
    return advice.fits;
  }
  void Measure(const std::string& plugin) { advice.measure = "make bench NAME=" + plugin; }
  // What of the data the fast device holds, at least and at most.
  void Reads(const Pair& pair, double least, double most) {
    if (!pair.fast->probe.done() || !pair.slow->probe.done()) {
      return;
    }
    const double low = std::min(1.0, least / static_cast<double>(request.data));
    const double high = std::min(1.0, most / static_cast<double>(request.data));
    advice.gain = GainOfReads(pair.slow->probe.read, pair.fast->probe.read, low,
                              request.hot > 0 ? std::max(high, kHotShare) : high);
  }
  // A block of a cache file takes whole sectors: up to one more than it has bytes for.
  void ReadsOfCache(const Pair& pair) {
    const double budget = plan.figures["budget"];
    const double block = plan.figures["block_size"];
    const auto sector = static_cast<double>(pair.fast->device.sector);
    Reads(pair, budget * block / (block + sector), budget);
  }
};

std::string ReadsOf(const Pair& pair) {
  if (!pair.fast->probe.done() || !pair.slow->probe.done()) {
    return pair.slow->directory + " is called " + NameOf(pair.slow->kind) + ", " +
           pair.fast->directory + " is not";
  }
  return "a read takes " + Micros(pair.slow->probe.read.median) + " at " + pair.slow->directory +
         ", and " + Micros(pair.fast->probe.read.median) + " at " + pair.fast->directory;
}

void NvmeHdd(Case* each) {
  const Pair& pair = each->roles.disks;
  if (pair.fast == nullptr) {
    return each->Missing("two disks, of which one is clearly faster");
  }
  each->Fast(*pair.fast);
  each->Slow(*pair.slow);
  if (!each->HoldsWithHot()) {
    return;
  }
  const double budget = each->plan.figures["budget"];
  if (static_cast<double>(each->request.data) <= budget) {
    each->advice.fits = false;
    return each->Missing("data that has no room at " + pair.fast->directory + ": " +
                         ShortBytes(static_cast<double>(each->request.data)) + " have");
  }
  each->advice.why = ReadsOf(pair);
  each->Reads(pair, budget, budget);
  each->Measure("tiered_env");
}

void NetworkVolume(Case* each) {
  const Pair& pair = each->roles.network;
  if (pair.fast == nullptr) {
    return each->Missing("a network volume, and a disk of this machine");
  }
  each->Fast(*pair.fast);
  each->Slow(*pair.slow);
  if (!each->HoldsWithHot()) {
    return;
  }
  if (pair.fast->probe.done() && pair.slow->probe.done() &&
      pair.slow->probe.read.median <= pair.fast->probe.read.median) {
    each->advice.fits = false;
    return each->Missing("a network volume that is slower: " + ReadsOf(pair));
  }
  each->advice.why = pair.slow->directory + " is a network volume, and " + pair.fast->directory +
                     " a disk of this machine";
  if (each->request.hot > 0) {
    each->Reads(pair, each->plan.figures["hot_set"], each->plan.figures["hot_set"]);
  } else {
    each->ReadsOfCache(pair);
  }
  each->Measure(each->request.hot > 0 ? "hot_promotion" : "secondary_cache_2q");
}

// By the probe; the kernel calls many virtual disks rotating ones.
bool IsSsd(const Place& place) {
  return place.probe.done() ? place.probe.read.median < kSeek : place.kind == Kind::kDisk;
}

void RamSsd(Case* each) {
  const Place* const home = each->roles.home;
  if (home == nullptr || !IsSsd(*home)) {
    return each->Missing("an SSD, as the disk with the most room");
  }
  if (each->roles.memory != nullptr) {
    each->request.fast = each->roles.memory->directory + "/rocktier";
    each->request.fast_size = each->roles.memory->free;
  }
  each->Slow(*home);
  each->request.value = each->load.value;
  if (each->Holds()) {
    each->advice.why = home->directory + " is on an SSD, and there are " +
                       ShortBytes(each->plan.figures["budget"]) + " of memory for upper levels";
    each->Measure("tiered_env");
  }
}

void LargeValues(Case* each) {
  if (each->roles.home == nullptr) {
    return each->Missing("a disk with 1G free");
  }
  each->Slow(*each->roles.home);
  each->request.value = each->load.value;
  if (each->Holds()) {
    each->advice.why = "values have " + OptionBytes(each->load.value) + ", and " +
                       each->roles.home->directory + " has room for blob files";
    each->Measure("blob_hybrid");
  }
}

void Pmem(Case* each) {
  const Pair& pair = each->roles.pmem;
  if (pair.fast == nullptr) {
    return each->Missing("a file system that is mounted with DAX, and a disk");
  }
  each->Fast(*pair.fast);
  each->Slow(*pair.slow);
  if (each->Holds()) {
    each->advice.why = pair.fast->directory + " is mounted with DAX";
    each->Measure("tiered_env");
  }
}

void CacheOnly(Case* each) {
  const Pair& pair = each->roles.disks;
  if (each->roles.home == nullptr) {
    return each->Missing("a disk with 1G free");
  }
  const bool in_file =
      pair.fast != nullptr && pair.slow->probe.done() && pair.fast->probe.done() &&
      pair.slow->probe.read.median - pair.fast->probe.read.median >= kCacheFilePays;
  each->Data(in_file ? *pair.slow : *each->roles.home);
  if (in_file) {
    each->Fast(*pair.fast);
  }
  if (!each->Holds()) {
    return;
  }
  if (in_file) {
    each->advice.why = ReadsOf(pair);
    each->ReadsOfCache(pair);
  } else {
    each->advice.why =
        "no disk is faster by " + Micros(kCacheFilePays) + " a read: a cache of blocks in memory";
  }
  each->Measure("secondary_cache_2q");
}

void WalOnly(Case* each) {
  const Place* const home = each->roles.home;
  const Place* const device = each->roles.device;
  if (home == nullptr || device == nullptr) {
    return each->Missing("a probe: what a sync takes on a disk with 1G free");
  }
  if (home->probe.sync.count == 0) {
    return each->Missing("a probe of " + home->directory + ": what a sync takes there");
  }
  each->request.device = device->directory + "/rocktier.wal";
  each->request.device_size =
      std::min(kLogDevice, static_cast<uint64_t>(Down(static_cast<double>(device->free) / 4)));
  const Gain gain = GainOfWrites(home->probe.sync, device->probe.device_sync);
  const std::string takes = "a sync takes " + Micros(home->probe.sync.median) + " at " +
                            home->directory + ", and " + Micros(device->probe.device_sync.median) +
                            " on a log device at " + device->directory;
  if (gain.high < kLeastGain || home->probe.sync.median <= device->probe.device_sync.median) {
    return each->Missing("a disk where it is faster: " + takes);
  }
  if (each->Holds()) {
    each->advice.why = takes;
    each->advice.gain = gain;
    each->Measure("raw_wal_fs");
  }
}

// For a shell.
std::string Quote(const std::string& text) {
  if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "/._-+=:@%,") == std::string::npos) {
    return text;
  }
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result + "'";
}

// Sizes of directories and the memory are left out: the preset reads them itself.
std::string CommandOf(const Preset& preset, const Request& request) {
  char hot[32];
  snprintf(hot, sizeof(hot), "%g%%", request.hot);
  const std::map<std::string, std::string> values = {
      {"data", request.data == 0 ? "" : OptionBytes(request.data)},
      {"value", request.value == 0 ? "" : OptionBytes(request.value)},
      {"hot", request.hot > 0 ? hot : ""},
      {"fast", request.fast},
      {"slow", request.slow},
      {"device", request.device},
      {"device-size", request.device_size == 0 ? "" : OptionBytes(request.device_size)}};
  std::string command = std::string("rocktier preset ") + preset.name;
  for (const auto* const flags : {&preset.required, &preset.optional}) {
    for (const char* const flag : *flags) {
      const auto value = values.find(flag);
      if (value != values.end() && !value->second.empty()) {
        command += " " + Quote(std::string("--") + flag + "=" + value->second);
      }
    }
  }
  return command;
}

Advice AdviceOn(const Preset& preset, const Machine& machine, const Roles& roles, const Load& load,
                const std::set<std::string>& plugins) {
  static const std::map<std::string, void (*)(Case*)> rules = {
      {"nvme+hdd", NvmeHdd}, {"nvme+network-volume", NetworkVolume},
      {"ram+ssd", RamSsd},   {"large-values", LargeValues},
      {"pmem", Pmem},        {"cache-only", CacheOnly},
      {"wal-only", WalOnly},
  };
  Case each{machine, load, roles, {}, {}, {}};
  each.advice.preset = &preset;
  each.request.memory = machine.available;
  const std::string plugin =
      std::string(preset.plugins).substr(0, std::string(preset.plugins).find(','));
  if (plugins.count(plugin) == 0) {
    each.Missing("the plugin " + plugin + ": this rocktier was built without it");
  } else {
    rules.at(preset.name)(&each);
  }
  if (each.advice.fits) {
    each.advice.command = CommandOf(preset, each.request);
  }
  return each.advice;
}

// What is sorted by: those with a figure first, the largest before the others.
double RankOf(const Advice& advice) {
  return !advice.fits ? -1 : advice.gain.known() ? advice.gain.low * advice.gain.high : 0;
}

}  // namespace

std::vector<Advice> Advise(const Machine& machine, const std::vector<Place>& places,
                           const Load& load, const std::set<std::string>& plugins) {
  const Roles roles(places);
  std::vector<Advice> all;
  for (const Preset& preset : preset::Presets()) {
    all.push_back(AdviceOn(preset, machine, roles, load, plugins));
  }
  std::stable_sort(all.begin(), all.end(), [](const Advice& one, const Advice& other) {
    return RankOf(one) > RankOf(other);
  });
  return all;
}

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
