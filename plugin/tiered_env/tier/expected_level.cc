// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tier/expected_level.h"

#include <mutex>
#include <unordered_map>

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

struct Expectations {
  std::mutex mutex;
  std::unordered_map<std::string, ExpectedLevel> by_path;
};

// Never destroyed: threads of a database may outlive static objects.
Expectations& All() {
  static auto* all = new Expectations();
  return *all;
}

}  // namespace

void ExpectLevel(const std::string& path, const ExpectedLevel& expected) {
  std::lock_guard<std::mutex> lock(All().mutex);
  All().by_path[path] = expected;
}

bool TakeExpectedLevel(const std::string& path, ExpectedLevel* expected) {
  std::lock_guard<std::mutex> lock(All().mutex);
  const auto it = All().by_path.find(path);
  if (it == All().by_path.end()) {
    return false;
  }
  *expected = it->second;
  All().by_path.erase(it);
  return true;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
