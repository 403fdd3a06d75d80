// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the verbs of "rocktier tier" do.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/file_system.h"
#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace tier {

struct Arguments {
  std::string uri;
  std::string directory;
  std::string file;
  std::string tier;
  bool repair = false;
  bool rebuild = false;
  bool salvage = false;
  bool force = false;
  std::vector<std::string> folders;
  std::vector<std::string> lost;
};

// They look, Check() unless --repair.
Status ListFiles(FileSystem* fs, const Arguments& arguments, Call* call);
Status ListTiers(FileSystem* fs, const Arguments& arguments, Call* call);
Status ListLogs(FileSystem* fs, const Arguments& arguments, Call* call);
Status ListMoves(FileSystem* fs, const Arguments& arguments, Call* call);
Status Check(FileSystem* fs, const Arguments& arguments, Call* call);

// They change something, unless Call::dry_run.
Status Move(FileSystem* fs, const Arguments& arguments, Call* call);
Status Drain(FileSystem* fs, const Arguments& arguments, Call* call);
Status Evacuate(FileSystem* fs, const Arguments& arguments, Call* call);
Status Recover(FileSystem* fs, const Arguments& arguments, Call* call);
Status Purge(FileSystem* fs, const Arguments& arguments, Call* call);
Status Adopt(FileSystem* fs, const Arguments& arguments, Call* call);

}  // namespace tier
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
