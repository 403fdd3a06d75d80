// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What finds and reads logs on a device: superblocks, segments, frames and stubs.

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "test/fuzz/target.h"
#include "test/raw_wal_fs/image.h"

using namespace rocktier;
namespace raw = rocksdb::raw_wal_fs;

FUZZ_TARGET(raw_wal_logs) {
  static const raw::Image image =
      raw::MakeImage((std::filesystem::temp_directory_path() / "rocktier-fuzz").string());
  const std::string wrong =
      raw::CheckInput(image, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  Require(wrong.empty(), wrong.c_str());
}
