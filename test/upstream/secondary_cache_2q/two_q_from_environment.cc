// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/upstream/secondary_cache_2q/two_q_from_environment.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "rocksdb/convenience.h"

namespace ROCKSDB_NAMESPACE {

std::shared_ptr<SecondaryCache> NewTwoQFromEnvironment(size_t capacity) {
  static std::atomic<int> created{0};
  const char* environment = getenv("ROCKTIER_SECONDARY_CACHE");
  std::string uri = environment != nullptr ? environment : "id=TwoQSecondaryCache";
  size_t least = 64 << 10;
  std::string path;
  if (uri.find("storage=file") != std::string::npos) {
    const char* folder = getenv("TEST_TMPDIR");
    path = std::string(folder != nullptr ? folder : "/tmp") + "/upstream-cache-" +
           std::to_string(created.fetch_add(1));
    uri += ";path=" + path;
    least = 4 << 20;
  }
  uri += ";capacity=" + std::to_string(std::max(capacity, least));

  ConfigOptions config;
  config.ignore_unsupported_options = false;
  std::shared_ptr<SecondaryCache> cache;
  Status s = SecondaryCache::CreateFromString(config, uri, &cache);
  if (!s.ok()) {
    fprintf(stderr, "%s: %s\n", uri.c_str(), s.ToString().c_str());
    abort();
  }
  if (path.empty()) {
    return cache;
  }
  SecondaryCache* plain = cache.get();
  return std::shared_ptr<SecondaryCache>(plain, [cache, path](SecondaryCache*) mutable {
    cache.reset();
    unlink(path.c_str());
    unlink((path + ".lock").c_str());
  });
}

}  // namespace ROCKSDB_NAMESPACE
