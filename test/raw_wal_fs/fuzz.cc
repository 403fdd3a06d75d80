// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// libFuzzer on what finds and reads logs: make fuzz.

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "test/raw_wal_fs/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace plugin = ROCKSDB_NAMESPACE::raw_wal_fs;
  static const plugin::Image image =
      plugin::MakeImage((std::filesystem::temp_directory_path() / "rocktier-fuzz").string());
  const std::string wrong = plugin::CheckInput(image, data, size);
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}
