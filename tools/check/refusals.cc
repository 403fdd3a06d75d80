// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <unistd.h>

#include "tools/check/report.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

namespace {

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool Names(const OptionMap& options, const std::string& option, const std::string& name) {
  return ValueOf(options, option).find(name) != std::string::npos;
}

void CheckStack(const Stack& stack, Report* report) {
  for (const Tier& tier : stack.tiers) {
    // A tier in memory makes its directory.
    if (tier.name != "home" && !tier.in_memory && !Exists(tier.path)) {
      report->refused.push_back("tier " + tier.name + ": " + tier.path +
                                " is not there: mount its disk");
    }
  }
  if (!stack.device.empty() && stack.device_size == 0 && !Exists(stack.device)) {
    report->refused.push_back("device " + stack.device + " is not there, and has no size=");
  }
  if (!stack.standby.empty() && !Exists(stack.standby)) {
    report->refused.push_back("standby=" + stack.standby +
                              ": is no directory: make it, or mount its disk");
  }
  if (stack.device_above && stack.HasMemory()) {
    report->refused.push_back(
        "raw_wal_fs is above a tier in memory: put it below, as target of tiered_env");
  }
}

// blob_hybrid needs all of its lines or none.
void CheckBlobs(const OptionMap& database, const FamilyText& family, Report* report) {
  const std::string name = "family " + family.name + ": ";
  const bool filter = Names(family.options, "compaction_filter_factory", "BlobHybrid");
  const bool table =
      family.table_factory == "BlobHybridTable" || Names(family.table, "table", "BlobHybridTable");
  if (!filter && !table) {
    return;
  }
  const auto missing = [&](const std::string& line) {
    report->refused.push_back(name + "the line " + line + " is missing");
  };
  if (!filter) {
    missing("compaction_filter_factory={id=BlobHybrid}");
  }
  if (!Names(database, "listeners", "BlobHybridListener")) {
    missing("listeners={id=BlobHybridListener}");
  }
  if (ValueOf(family.options, "enable_blob_files") != "true") {
    missing("enable_blob_files=true");
  }
  if (ValueOf(family.options, "enable_blob_garbage_collection") == "true") {
    report->refused.push_back(name + "blob_hybrid refuses enable_blob_garbage_collection=true");
  }
}

}  // namespace

void CheckRefusals(const Subject& subject, Report* report) {
  CheckStack(subject.stack, report);
  for (const FamilyText& family : subject.options.families) {
    CheckBlobs(subject.options.database, family, report);
  }
}

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
