// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/check/stack.h"

#include <algorithm>

#include "rocksdb/convenience.h"
#include "tools/units.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

namespace {

constexpr uint64_t kOrphanBudget = 10ull << 30;  // the default

// The tiers in the order of the text, which a map does not keep. RocksDB 11 leaves its braces.
void AddTiers(const std::string& value, Stack* stack) {
  const bool has_braces = !value.empty() && value.front() == '{';
  const std::string text = has_braces ? value.substr(1, value.size() - 2) : value;
  size_t at = 0;
  while (at < text.size()) {
    const size_t equals = text.find('=', at);
    size_t end = std::string::npos;
    if (equals == std::string::npos || text.compare(equals + 1, 1, "{") != 0) {
      return;
    }
    int depth = 0;
    for (size_t i = equals + 1; i < text.size() && end == std::string::npos; i++) {
      depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
      end = depth == 0 ? i : end;
    }
    const OptionMap settings = MapOf(text.substr(equals + 1, end - equals));
    stack->tiers.push_back({text.substr(at, equals - at), ValueOf(settings, "path"),
                            ValueOf(settings, "kind"), ValueOf(settings, "temperature"),
                            BytesOf(settings, "budget", 0)});
    at = end == std::string::npos ? text.size() : end + 2;
  }
}

void AddFileSystem(const OptionMap& options, Stack* stack) {
  const std::string id = ValueOf(options, "id");
  if (id == "TieredFileSystem") {
    AddTiers(ValueOf(options, "tiers"), stack);
    stack->orphan_budget = BytesOf(options, "orphan_budget", kOrphanBudget);
    stack->device_above = !stack->device.empty();
  } else if (id == "RawWalFileSystem") {
    stack->device = ValueOf(options, "device");
    stack->device_size = BytesOf(options, "size", 0);
  }
  const std::string target = ValueOf(options, "target");
  if (!target.empty()) {
    AddFileSystem(MapOf(target), stack);
  }
}

}  // namespace

bool Stack::HasMemory() const {
  return std::any_of(tiers.begin(), tiers.end(),
                     [](const Tier& tier) { return tier.kind == "memory"; });
}

Stack StackOf(const OptionMap& database) {
  Stack stack;
  AddFileSystem(MapOf(ValueOf(MapOf(ValueOf(database, "env")), "file_system")), &stack);
  return stack;
}

CacheText CacheOf(const std::string& value, uint64_t otherwise) {
  CacheText cache;
  const size_t scheme = value.find("://");
  if (scheme == std::string::npos) {
    cache.memory = otherwise;
    ParseBytes(value, &cache.memory);
    return cache;
  }
  // {id={lru+2q://capacity=...;secondary_cache={...}}}
  const OptionMap options =
      MapOf(value.substr(scheme + 3, value.find_last_not_of('}') - scheme - 2) +
            (value.find("secondary_cache={") == std::string::npos ? "" : "}"));
  cache.memory = BytesOf(options, "capacity", otherwise);
  const OptionMap second = MapOf(ValueOf(options, "secondary_cache"));
  cache.path = ValueOf(second, "path");
  const uint64_t capacity = BytesOf(second, "capacity", 0);
  cache.capacity = cache.path.empty() ? 0 : capacity;
  cache.memory += cache.path.empty() ? capacity : 0;
  return cache;
}

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
