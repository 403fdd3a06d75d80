// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A compaction of the job, as RocksDB runs it.

#pragma once

#include <cstdint>
#include <set>

#include "plugin/blob_hybrid/gc_picker.h"
#include "rocksdb/listener.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyData;
class DBImpl;

namespace blob_hybrid {

class HeldFamily;

// Tells what keeps RocksDB's own compactions from being done, so that the job compacts nothing
// either. Null: nothing.
const char* HeldBy(DBImpl* db, ColumnFamilyData* family);

// Runs a compaction. Aborted: others compact its SSTs, or have done so. Other errors: those of
// DB::CompactFiles(); `info` has the inputs then, too, if it has begun.
Status RunCompaction(DBImpl* db, HeldFamily* family, const Plan& plan, CompactionJobInfo* info);

// Tells whether an error that RocksDB is about to stop writes for is only that a compaction failed
// which the calling thread runs by RunCompaction(): an SST that cannot be read, for example. It has
// changed nothing, and could as well not have been run. Not so if the MANIFEST could not be
// written, or the device is full. Not to be called with the database's mutex held.
bool IsOwnFailure(const Status& error);

// Finds the SSTs that a failed compaction is not to be tried with again for a time: those of its
// inputs that the error names, or all. If the plan has none of the named ones, because RocksDB has
// added them, all of the plan besides.
std::set<uint64_t> BlamedFor(const Status& error, const Plan& plan, const CompactionJobInfo& info);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
