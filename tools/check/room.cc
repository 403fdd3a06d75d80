// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The formulas of docs/operate.md, "Sizing", summed for each file system.

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <map>
#include <set>

#include "tools/check/report.h"
#include "tools/preset/arithmetic.h"
#include "tools/preset/machine.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

namespace {

using preset::ShortBytes;

constexpr double kHotStore = 1.05 + 0.15 * 1.56;  // with the access table
constexpr double kCacheFile = 1.04;
constexpr uint64_t kMemtable = 64ull << 20;    // RocksDB's default
constexpr uint64_t kBlockCache = 32ull << 20;  // RocksDB's default
constexpr uint64_t kDeviceHead = 5ull << 20;   // superblocks, and a segment
constexpr uint64_t kPromotionCache = 64ull << 20;

// What one file system has to hold.
struct Place {
  std::string path;  // one of those on it
  double need = 0;
  std::string list;
};

// Needs by file system. A directory that is not there yet counts as the one above it.
class Places {
 public:
  void Add(const std::string& what, std::string path, double bytes) {
    struct stat info;
    while (bytes > 0 && stat(path.c_str(), &info) != 0) {
      const size_t slash = path.find_last_of('/');
      if (slash == std::string::npos || slash == 0) {
        return;
      }
      path.resize(slash);
    }
    if (bytes > 0) {
      Place* const place = &places_[info.st_dev];
      place->path = place->path.empty() ? path : place->path;
      place->need += bytes;
      place->list += (place->list.empty() ? "" : ", ") + what + " " + ShortBytes(bytes);
    }
  }

  void Check(Report* report) const {
    for (const auto& [device, place] : places_) {
      struct statvfs room;
      const double have = statvfs(place.path.c_str(), &room) != 0
                              ? 0
                              : 0.9 * static_cast<double>(room.f_blocks) * room.f_frsize;
      if (place.need > have) {
        report->room.push_back(place.path + ": needs " + ShortBytes(place.need) +
                               ", and nine tenths of its file system are " + ShortBytes(have) +
                               ": " + place.list);
      }
    }
  }

 private:
  std::map<dev_t, Place> places_;
};

void AddTiers(const Subject& subject, Places* places) {
  const Stack& stack = subject.stack;
  for (const Tier& tier : stack.tiers) {
    if (tier.budget == 0) {
      continue;
    }
    const bool home = tier.name == "home";
    const bool has_lost = !home && !tier.in_memory;
    places->Add("tier " + tier.name, home ? subject.database : tier.path,
                static_cast<double>(tier.budget + (has_lost ? stack.orphan_budget : 0)));
  }
  if (stack.device.empty()) {
    places->Add("logs", subject.database,
                static_cast<double>(BytesOf(subject.options.database, "max_total_wal_size", 0)));
  }
}

// Adds what a family needs once for a path, for families may share one. Returns its memory.
double AddFamily(const FamilyText& family, std::set<std::string>* seen, Places* places) {
  double memory = static_cast<double>(BytesOf(family.options, "write_buffer_size", kMemtable)) *
                  static_cast<double>(BytesOf(family.options, "max_write_buffer_number", 2));
  const auto budget = static_cast<double>(BytesOf(family.table, "budget", 0));
  const std::string path = ValueOf(family.table, "path");
  if (family.table_factory == "HotPromotionTable" && seen->insert(path).second) {
    places->Add("hot store", path, budget * kHotStore);
    memory += static_cast<double>(BytesOf(family.table, "promotion_cache", kPromotionCache)) +
              0.017 * budget;
  }
  const CacheText caches[] = {CacheOf(ValueOf(family.table, "block_cache"), kBlockCache),
                              CacheOf(ValueOf(family.options, "blob_cache"), 0)};
  for (const CacheText& cache : caches) {
    memory += static_cast<double>(cache.memory);
    if (!cache.path.empty() && seen->insert(cache.path).second) {
      places->Add("cache file", cache.path, static_cast<double>(cache.capacity) * kCacheFile);
    }
  }
  return memory;
}

void CheckDevice(const Subject& subject, Report* report) {
  const Stack& stack = subject.stack;
  uint64_t size = 0;
  if (stack.device.empty()) {
    return;
  }
  if (!preset::DeviceBytes(stack.device, &size).ok()) {
    size = stack.device_size;  // it will be made
  }
  const uint64_t room = size > kDeviceHead ? size - kDeviceHead : 0;
  const uint64_t logs = BytesOf(subject.options.database, "max_total_wal_size", 0);
  for (const FamilyText& family : subject.options.families) {
    const uint64_t least = 3 * BytesOf(family.options, "write_buffer_size", kMemtable);
    if (size != 0 && room < least) {
      report->room.push_back("device " + stack.device + " has room for " + ShortBytes(room) +
                             ", and the logs of family " + family.name + " need " +
                             ShortBytes(least));
    }
  }
  if (size != 0 && logs > room) {
    report->notes.push_back("max_total_wal_size=" + ShortBytes(logs) + " is more than device " +
                            stack.device + " has room for: logs go on as plain files");
  }
}

}  // namespace

void CheckRoom(const Subject& subject, Report* report) {
  Places places;
  std::set<std::string> seen;
  double memory = 0;
  AddTiers(subject, &places);
  for (const FamilyText& family : subject.options.families) {
    memory += AddFamily(family, &seen, &places);
  }
  for (const Tier& tier : subject.stack.tiers) {
    memory += tier.in_memory ? static_cast<double>(tier.budget) : 0;
  }
  places.Check(report);
  CheckDevice(subject, report);
  if (memory > static_cast<double>(subject.memory)) {
    report->room.push_back("memtables, caches and tiers in memory need " + ShortBytes(memory) +
                           ", and there are " + ShortBytes(static_cast<double>(subject.memory)));
  }
}

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
