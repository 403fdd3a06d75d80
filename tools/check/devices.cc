// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <sys/stat.h>

#include "tools/block_device.h"
#include "tools/check/report.h"
#include "tools/preset/machine.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

namespace {

// Whether the kernel calls a directory's disk a rotating one.
bool Rotates(const std::string& directory) {
  struct stat info;
  BlockDevice disk;
  return stat(directory.c_str(), &info) == 0 &&
         ReadBlockDevice(/*root=*/"", DeviceNumber(info.st_dev), &disk) && disk.rotates;
}

std::string Above(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

void CheckFast(const std::string& what, const std::string& directory, Report* report) {
  if (Rotates(directory)) {
    report->notes.push_back(what + ": " + directory + " is on a rotating disk");
  }
}

void CheckHotStore(const Subject& subject, const FamilyText& family, Report* report) {
  const std::string name = "family " + family.name;
  const std::string slow = ValueOf(family.table, "slow");
  CheckFast(name, Above(ValueOf(family.table, "path")), report);
  static const std::string kTemperature = "temperature:";
  if (slow.rfind(kTemperature, 0) == 0) {
    const std::string temperature = slow.substr(kTemperature.size());
    for (const Tier& tier : subject.stack.tiers) {
      if (tier.temperature == temperature) {
        return;
      }
    }
    report->notes.push_back(name + ": no tier has the temperature of slow=" + slow +
                            ": nothing is promoted");
  } else if (preset::OnOneFileSystem(Above(ValueOf(family.table, "path")), slow)) {
    report->notes.push_back(name + ": path and slow are on one file system");
  }
}

}  // namespace

void CheckDevices(const Subject& subject, Report* report) {
  const std::vector<Tier>& tiers = subject.stack.tiers;
  if (tiers.size() > 1 && !tiers.front().in_memory) {
    const Tier& fastest = tiers.front();
    CheckFast("tier " + fastest.name, fastest.name == "home" ? subject.database : fastest.path,
              report);
  }
  for (const FamilyText& family : subject.options.families) {
    if (family.table_factory == "HotPromotionTable") {
      CheckHotStore(subject, family, report);
    }
    const std::string path = CacheOf(ValueOf(family.table, "block_cache"), 0).path;
    if (!path.empty() && preset::OnOneFileSystem(Above(path), subject.database)) {
      report->notes.push_back("family " + family.name +
                              ": the cache's file is on the database's file system");
    }
  }
}

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
