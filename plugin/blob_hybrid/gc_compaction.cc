// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/gc_compaction.h"

#include <chrono>
#include <string>
#include <vector>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "db/version_set.h"
#include "file/filename.h"
#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/family.h"
#include "plugin/blob_hybrid/paths.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// The database whose compaction the thread runs.
thread_local DBImpl* compacts = nullptr;

class Compacting {
 public:
  explicit Compacting(DBImpl* db) { compacts = db; }
  ~Compacting() { compacts = nullptr; }
  Compacting(const Compacting&) = delete;
  Compacting& operator=(const Compacting&) = delete;
};

// Tells how the outputs are cut, and which of cf_paths they go to: CompactFiles() does not choose
// by itself.
CompactionOptions HowTo(DBImpl* db, ColumnFamilyData* data, int output_level, uint32_t* path) {
  CompactionOptions how;
  InstrumentedMutexLock lock(db->mutex());
  const MutableCFOptions& options = LatestOptionsOf(*data);
  const ImmutableOptions& constant = ImmutableOf(*data);
  how.output_file_size_limit = MaxFileSizeForLevel(options, output_level, kCompactionStyleLevel);
  *path = PathOf(constant.cf_paths, options, constant.level_compaction_dynamic_level_bytes,
                 output_level);
  return how;
}

// Tells whether a text has the name of an SST in it.
bool Names(const std::string& text, uint64_t sst) {
  return text.find(MakeTableFileName("", sst)) != std::string::npos;
}

}  // namespace

const char* HeldBy(DBImpl* db, ColumnFamilyData* family) {
  if (!FamilyInfoOf(db, family).compacts) {
    return "disable_auto_compactions";
  }
  WaitForCompactOptions look;
  look.abort_on_pause = true;
  look.timeout = std::chrono::microseconds(1);  // 0 would wait
  const Status s = db->WaitForCompact(look);
  if (s.severity() > Status::Severity::kNoError) {
    return "a background error";
  }
  return s.IsAborted() ? "PauseBackgroundWork()" : nullptr;
}

Status RunCompaction(DBImpl* db, HeldFamily* family, const Plan& plan, CompactionJobInfo* info) {
  ColumnFamilyData* data = family->data();
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
  const Compacting compacting(db);
  const Status s = db->CompactFiles(how, family->handle(), names, plan.output_level,
                                    static_cast<int>(path), nullptr, info);
  return s.IsInvalidArgument() && !AreFree(db, data, plan.inputs, plan.output_level)
             ? Status::Aborted()
             : s;
}

bool IsOwnFailure(const Status& error) {
  const Status::SubCode why = error.subcode();
  const bool of_a_file = error.IsCorruption() ||
                         (error.IsIOError() && why != Status::SubCode::kNoSpace &&
                          why != Status::SubCode::kSpaceLimit && why != Status::SubCode::kIOFenced);
  if (compacts == nullptr || !of_a_file) {
    return false;
  }
  InstrumentedMutexLock lock(compacts->mutex());
  return compacts->GetVersionSet()->io_status().ok();
}

std::set<uint64_t> BlamedFor(const Status& error, const Plan& plan, const CompactionJobInfo& info) {
  std::set<uint64_t> planned;
  for (const SstInfo& sst : plan.inputs) {
    planned.insert(sst.number);
  }
  std::set<uint64_t> inputs = planned;
  for (const CompactionFileInfo& input : info.input_file_infos) {
    inputs.insert(input.file_number);
  }
  const std::string text = error.ToString();
  std::set<uint64_t> blamed;
  bool among_planned = false;
  for (const uint64_t input : inputs) {
    if (Names(text, input)) {
      blamed.insert(input);
      among_planned = among_planned || planned.count(input) > 0;
    }
  }
  if (blamed.empty()) {
    return inputs;
  }
  if (!among_planned) {
    blamed.insert(planned.begin(), planned.end());
  }
  return blamed;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
