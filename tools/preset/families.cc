// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// --families: rules of tiered_env by which whole column families are on one of two devices.

#include <sstream>

#include "tools/preset/plan.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

// Whether it may stand in `placement`, and in an OPTIONS file.
bool IsPattern(const std::string& text) {
  return !text.empty() && IsPlain(text) && text.find_first_of("/=") == std::string::npos &&
         text.front() != ' ' && text.back() != ' ';
}

}  // namespace

Status ReadFamilies(const Request& request, std::string* rules, Plan* plan) {
  bool has_fast = false;
  std::istringstream items(request.families);
  for (std::string item; std::getline(items, item, ';');) {
    const size_t end = item.rfind('=');
    const std::string device = end == std::string::npos ? "" : item.substr(end + 1);
    const bool fast = device == "fast";
    if ((!fast && device != "slow") || !IsPattern(item.substr(0, end))) {
      return Refuse("--families=" + item +
                    ": must be like users=fast;log_*=slow: patterns of names, without { } # , \\ / "
                    "and quotes");
    }
    has_fast = has_fast || fast;
    *rules += (rules->empty() ? "cf:" : ";cf:") + item.substr(0, end) + (fast ? "=home" : "=slow");
  }
  if (has_fast) {
    // Else their lower levels would compete with those of the others.
    *rules += ";base+1..=slow;blob=slow";
    plan->Note(
        "Families that are fast have the budget nearly to themselves: of the others the fast "
        "device has level 0 and the first level below it. What exceeds the budget goes to the slow "
        "device, the lower levels first; rocktier tier df calls it stranded.");
  }
  if (!rules->empty()) {
    plan->Note(
        "Each column family has memtables of its own, and needs [CFOptions] and [TableOptions] of "
        "its own below: docs/presets.md, What to change by hand.");
  }
  return Status::OK();
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
