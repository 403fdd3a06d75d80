// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the verbs of "rocktier wal" do.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace wal {

struct Arguments {
  raw_wal_fs::RawWalOptions options;
  uint64_t block_size = 0;  // before it is known that it fits
  std::string database;
  std::vector<std::string> logs;
};

// They look.
Status PrintUsage(const Arguments& arguments, Call* call);
Status PrintLogs(const Arguments& arguments, Call* call);
Status PrintFrames(const Arguments& arguments, Call* call);
Status Check(const Arguments& arguments, Call* call);

// They change something, unless options.dry_run.
Status Format(const Arguments& arguments, Call* call);
Status Remove(const Arguments& arguments, Call* call);
Status Recover(const Arguments& arguments, Call* call);
Status Adopt(const Arguments& arguments, Call* call);
Status Export(const Arguments& arguments, Call* call);
Status Import(const Arguments& arguments, Call* call);

}  // namespace wal
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
