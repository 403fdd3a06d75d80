// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <algorithm>

#include "tools/doctor/advice.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

namespace {

using preset::ShortBytes;

constexpr uint64_t kSst = 64ull << 20;  // RocksDB's target_file_size_base
constexpr double kLeastShare = 0.1;     // of a file system, that should be free

}  // namespace

std::vector<std::string> ToMend(const Machine& machine, const std::vector<Place>& places) {
  std::vector<std::string> mend;
  uint64_t largest = 0;
  for (const Place& place : places) {
    if (!place.writable) {
      mend.push_back(place.directory +
                     " cannot be written to: mount it read-write, or give rights");
      continue;
    }
    if (!place.probe.failed.empty()) {
      mend.push_back("the probe of " + place.directory + " failed: " + place.probe.failed);
    }
    if (!place.HasRoom() || static_cast<double>(place.free) < kLeastShare * place.size) {
      mend.push_back(place.directory + " has " + ShortBytes(static_cast<double>(place.free)) +
                     " free of " + ShortBytes(static_cast<double>(place.size)) +
                     ": a database needs a tenth to spare, and 1G at least");
    }
    largest = place.kind == Kind::kMemory ? largest : std::max(largest, place.size);
  }
  if (machine.open_files < largest / kSst) {
    mend.push_back("ulimit -n is " + std::to_string(machine.open_files) + ": a database of " +
                   ShortBytes(static_cast<double>(largest)) + " has " +
                   std::to_string(largest / kSst) +
                   " SSTs of 64M, which RocksDB keeps open; raise it, or set max_open_files");
  }
  return mend;
}

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
