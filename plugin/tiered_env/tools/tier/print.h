// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What "rocktier tier" prints of files, tiers and logs: as text for people, or as one line of JSON.

#pragma once

#include <cstdint>
#include <vector>

#include "plugin/tiered_env/tiered_env.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

// Makes an argument for "%llu".
inline unsigned long long Wide(uint64_t number) { return static_cast<unsigned long long>(number); }

void PrintFiles(const tiered_env::TieredDirectoryInfo& info);
void PrintFilesAsJson(const tiered_env::TieredDirectoryInfo& info);

void PrintTiers(const tiered_env::TieredDirectoryInfo& info);
void PrintTiersAsJson(const tiered_env::TieredDirectoryInfo& info);

void PrintLogs(const std::vector<tiered_env::TieredLogInfo>& logs);
void PrintLogsAsJson(const std::vector<tiered_env::TieredLogInfo>& logs);

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
