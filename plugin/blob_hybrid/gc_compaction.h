// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A compaction of the job, as RocksDB runs it.

#pragma once

#include "plugin/blob_hybrid/gc_picker.h"
#include "rocksdb/listener.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyData;
class ColumnFamilyHandle;
class DBImpl;

namespace blob_hybrid {

// Tells what keeps RocksDB's own compactions from being done, so that the job compacts nothing
// either. Null: nothing.
const char* HeldBy(DBImpl* db, ColumnFamilyData* family);

// Runs a compaction. Aborted: others compact its SSTs, or have done so. Other errors: those of
// DB::CompactFiles().
Status RunCompaction(DBImpl* db, ColumnFamilyHandle* family, const Plan& plan,
                     CompactionJobInfo* info);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
