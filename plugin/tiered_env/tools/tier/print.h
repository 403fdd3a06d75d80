// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What "rocktier tier" answers of files, tiers and logs.

#pragma once

#include <vector>

#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace tier {

void PrintFiles(const tiered_env::TieredDirectoryInfo& info, Call* call);
void PrintTiers(const tiered_env::TieredDirectoryInfo& info, Call* call);
void PrintMoves(const tiered_env::TieredDirectoryInfo& info, Call* call);
void PrintLogs(const std::vector<tiered_env::TieredLogInfo>& logs, Call* call);

}  // namespace tier
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
