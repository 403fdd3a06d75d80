// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/secondary_cache_2q/fixture.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "test/support/scratch.h"

namespace rocktier {

uint64_t g_seed = 0;

double CrashSeconds(double standard) {
  const char* text = getenv("ROCKTIER_CRASH_SECONDS");
  return text != nullptr && *text != '\0' ? atof(text) : standard;
}

CrashTest::CrashTest() : random_(g_seed) { site_.folder = NewFolder(); }

CrashTest::~CrashTest() {
  oracle_.reset();
  if (!HasFailure()) {
    std::filesystem::remove_all(site_.folder);
  }
}

void CrashTest::Sleep(uint64_t milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

bool CrashTest::Prepare(const std::string& cache_options, bool hyper_clock) {
  site_.cache_options = cache_options;
  site_.hyper_clock = hyper_clock;
  std::shared_ptr<SecondaryCache> cache;
  Status s = NewCache(site_, &cache);
  if (s.IsNotSupported()) {
    printf("bypassed: %s\n", s.ToString().c_str());
    return false;
  }
  Require(s, site_.CacheUri());
  oracle_ = std::make_unique<Oracle>(site_.OracleFile());
  Populate(site_, oracle_.get());
  return true;
}

Status Opened::Open(const Site& site, bool read_only) {
  Status s = NewCache(site, &cache);
  if (s.ok()) {
    observer = std::make_shared<Observer>(cache);
    Options options = DbOptions(site, observer);
    // The SSTs, whose blocks are counted, are to stay as they are.
    options.disable_auto_compactions = true;
    s = OpenDb(site, options, read_only, &db);
  }
  return s;
}

}  // namespace rocktier
