// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/gc_compaction.h"

#include <chrono>
#include <string>
#include <vector>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "file/filename.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/family.h"
#include "plugin/blob_hybrid/paths.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// Tells how the outputs are cut, and which of cf_paths they go to: CompactFiles() does not choose
// by itself.
CompactionOptions HowTo(DBImpl* db, ColumnFamilyData* data, int output_level, uint32_t* path) {
  CompactionOptions how;
  SuperVersion* version = db->GetAndRefSuperVersion(data);
  how.output_file_size_limit =
      MaxFileSizeForLevel(version->mutable_cf_options, output_level, kCompactionStyleLevel);
  const ImmutableOptions& constant = ImmutableOf(*data);
  *path = PathOf(constant.cf_paths, version->mutable_cf_options,
                 constant.level_compaction_dynamic_level_bytes, output_level);
  db->ReturnAndCleanupSuperVersion(data, version);
  return how;
}

}  // namespace

const char* HeldBy(DBImpl* db, ColumnFamilyData* family) {
  if (!FamilyInfoOf(db, family).compacts) {
    return "disable_auto_compactions";
  }
  WaitForCompactOptions look;
  look.abort_on_pause = true;
  look.timeout = std::chrono::microseconds(1);  // 0 would wait
  return db->WaitForCompact(look).IsAborted() ? "PauseBackgroundWork()" : nullptr;
}

Status RunCompaction(DBImpl* db, ColumnFamilyHandle* family, const Plan& plan,
                     CompactionJobInfo* info) {
  ColumnFamilyData* data = DataOf(family);
  uint32_t path = 0;
  const CompactionOptions how = HowTo(db, data, plan.output_level, &path);
  std::vector<std::string> names;
  for (const SstInfo& sst : plan.inputs) {
    names.push_back(MakeTableFileName("", sst.number));
  }
  // RocksDB lists the folders of the whole database when it refuses.
  if (!AreFree(db, data, plan.inputs, plan.output_level)) {
    return Status::Aborted();
  }
  const Status s = db->CompactFiles(how, family, names, plan.output_level, static_cast<int>(path),
                                    nullptr, info);
  return s.IsInvalidArgument() && !AreFree(db, data, plan.inputs, plan.output_level)
             ? Status::Aborted()
             : s;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
