// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The names that the plugin's classes have in options: "compaction_filter_factory={id=BlobHybrid}".

#pragma once

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

constexpr char kFactoryName[] = "BlobHybrid";
constexpr char kListenerName[] = "BlobHybridListener";
constexpr char kTableName[] = "BlobHybridTable";

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
