// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/listener.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/cache.h"
#include "plugin/secondary_cache_2q/cache_key.h"
#include "plugin/secondary_cache_2q/caches.h"
#include "plugin/secondary_cache_2q/compat.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

constexpr std::chrono::minutes kLogPeriod{10};

FileKeys KeysOf(const TableProperties& properties) {
  return FindFileKeys(properties.db_id, properties.db_session_id, properties.orig_file_number);
}

CarriedSst CarriedOf(const std::string& path, const TableProperties& properties) {
  return {path, KeysOf(properties),
          SstIndex::ExpectedMemory(properties.index_size, properties.num_data_blocks)};
}

uint64_t FileOf(const TableProperties& properties) { return KeysOf(properties).file; }

// The SST that is an input of a compaction; 0 if it has no keys, or nothing is told of it.
uint64_t InputOf(const CompactionJobInfo& info, const std::string& path) {
  const auto it = info.table_properties.find(path);
  return it != info.table_properties.end() && it->second != nullptr ? FileOf(*it->second) : 0;
}

// A compaction has the same name in all events, and no other one of the process has.
std::string NameOf(const std::string& session, int job) {
  return session.empty() ? "" : session + "/" + std::to_string(job);
}

std::string NameOf(DB* db, const CompactionJobInfo& info) {
  std::string session;
  return db->GetDbSessionId(session).ok() ? NameOf(session, info.job_id) : "";
}

// The comparator of this name, if it is RocksDB's own or a registered one: these live as long as
// the process, which the comparator of a database need not. Null: it is not, or keys have
// timestamps.
const Comparator* FindComparator(const std::string& name) {
  const Comparator* comparator = nullptr;
  Status s = Comparator::CreateFromString(ConfigOptions(), name, &comparator);
  const bool found = s.ok() && comparator != nullptr && name == comparator->Name() &&
                     comparator->timestamp_size() == 0;
  return found ? comparator : nullptr;
}

// The FileSystem of a database. None if it cannot be used without the Env, as that of an Env which
// was written before there were FileSystems, or one over it.
std::weak_ptr<FileSystem> FileSystemOf(DB* db) {
  const std::shared_ptr<FileSystem>& fs = db->GetEnv()->GetFileSystem();
  for (const Customizable* part = fs.get(); part != nullptr; part = part->Inner()) {
    if (strcmp(part->Name(), "LegacyFileSystem") == 0) {
      return {};
    }
  }
  return fs;
}

// What a database holds as long as it is open. If it is not in its options, RocksDB makes it for
// this database alone.
std::vector<std::weak_ptr<void>> HeldBy(DB* db) {
  const DBOptions options = db->GetDBOptions();
  std::vector<std::weak_ptr<void>> held;
  for (const std::shared_ptr<void>& it : std::initializer_list<std::shared_ptr<void>>{
           options.info_log, options.sst_file_manager, options.write_buffer_manager}) {
    if (it != nullptr) {
      held.emplace_back(it);
    }
  }
  return held;
}

// Whether a compaction has only moved files to another level. Those of its inputs that were at that
// level before are not among its outputs, and stay, too.
bool HasMoved(const CompactionJobInfo& info) {
  const std::vector<std::string>& inputs = info.input_files;
  return !info.output_files.empty() &&
         std::find(inputs.begin(), inputs.end(), info.output_files.front()) != inputs.end();
}

// Whether it has copied its input byte for byte, to another temperature: the copy has the same
// keys. RocksDB tells nothing but the path of it.
bool HasCopied(const CompactionJobInfo& info) {
  return info.compaction_reason == CompactionReason::kChangeTemperature &&
         info.input_files.size() == 1 && info.output_files.size() == 1 &&
         info.table_properties.count(info.output_files.front()) == 0;
}

// The number in the name of a blob file, as in "000012.blob"; 0 if it is none.
uint64_t BlobNumberOf(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits == 0 || name.substr(digits) != ".blob") {
    return 0;
  }
  return std::strtoull(name.c_str(), nullptr, 10);
}

void EraseEverywhere(const std::vector<uint64_t>& files) {
  if (!files.empty()) {
    ForEachCache([&files](TwoQSecondaryCache* cache) { cache->EraseFiles(files); });
  }
}

}  // namespace

void TwoQSecondaryCacheListener::BeginCarry(DB* db, const CompactionJobInfo& info) {
  if (OnlyMoves(info.stats, 0)) {
    return;
  }
  CarryBegin begin;
  begin.id = NameOf(db, info);
  for (const std::string& path : info.input_files) {
    const auto it = info.table_properties.find(path);
    if (it != info.table_properties.end() && it->second != nullptr) {
      begin.inputs.push_back(CarriedOf(path, *it->second));
      begin.source.comparator = FindComparator(it->second->comparator_name);
    }
  }
  begin.source.fs = FileSystemOf(db);
  begin.source.held = HeldBy(db);
  if (!begin.id.empty() && !begin.inputs.empty()) {
    ForEachCache([&begin](TwoQSecondaryCache* cache) { cache->BeginCarry(begin); });
  }
}

void TwoQSecondaryCacheListener::EndCarry(DB* db, const CompactionJobInfo& info) {
  CarryEnd end;
  end.id = NameOf(db, info);
  end.ok = info.status.ok() && !HasMoved(info) && !HasCopied(info);
  for (const std::string& path : info.output_files) {
    const auto it = info.table_properties.find(path);
    const bool is_known = it != info.table_properties.end() && it->second != nullptr;
    end.outputs.push_back(is_known ? CarriedOf(path, *it->second) : CarriedSst{path, {}, 0});
  }
  ForEachCache([&end](TwoQSecondaryCache* cache) { cache->EndCarry(end); });
}

void TwoQSecondaryCacheListener::OnCompactionCompleted(DB* db, const CompactionJobInfo& info) {
  EndCarry(db, info);
  if (info.status.ok() && HasCopied(info)) {
    RememberCopy(info);
  } else if (info.status.ok() && !HasMoved(info)) {
    ForgetInputs(info);
  }
  LogStats(db);
}

void TwoQSecondaryCacheListener::OnTableFileCreated(const TableFileCreationInfo& info) {
  if (!info.status.ok()) {
    return;
  }
  Remember(info.file_path, info.table_properties);
  if (info.reason == TableFileCreationReason::kCompaction) {
    const std::string id = NameOf(info.table_properties.db_session_id, info.job_id);
    const CarriedSst sst = CarriedOf(info.file_path, info.table_properties);
    ForEachCache([&](TwoQSecondaryCache* cache) { cache->AddCarryOutput(id, sst); });
  }
}

void TwoQSecondaryCacheListener::OnExternalFileIngested(DB* /*db*/,
                                                        const ExternalFileIngestionInfo& info) {
  Remember(info.internal_file_path, info.table_properties);
}

void TwoQSecondaryCacheListener::OnTableFileDeleted(const TableFileDeletionInfo& info) {
  if (info.status.ok()) {
    Forget(info.file_path);
  }
}

void TwoQSecondaryCacheListener::Remember(const std::string& path,
                                          const TableProperties& properties) {
  const uint64_t file = FileOf(properties);
  if (file != 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    ssts_.Add(path, file);
  }
}

void TwoQSecondaryCacheListener::RememberCopy(const CompactionJobInfo& info) {
  const uint64_t file = InputOf(info, info.input_files.front());
  std::lock_guard<std::mutex> lock(mutex_);
  ssts_.Remove(info.input_files.front());
  if (file != 0) {
    ssts_.Add(info.output_files.front(), file);
  }
}

void TwoQSecondaryCacheListener::Forget(const std::string& path) {
  uint64_t file;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    file = ssts_.Remove(path);
    if (file == 0 || ssts_.Has(file)) {
      return;
    }
  }
  EraseEverywhere({file});
}

void TwoQSecondaryCacheListener::ForgetInputs(const CompactionJobInfo& info) {
  std::vector<uint64_t> gone;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const std::string& path : info.input_files) {
      ssts_.Remove(path);
    }
    for (const std::string& path : info.input_files) {
      const uint64_t file = InputOf(info, path);
      if (file != 0 && !ssts_.Has(file)) {
        gone.push_back(file);
      }
    }
  }
  EraseEverywhere(gone);
}

void TwoQSecondaryCacheListener::OnFlushBegin(DB* db, const FlushJobInfo& /*info*/) {
  RememberSession(db);
}

void TwoQSecondaryCacheListener::OnCompactionBegin(DB* db, const CompactionJobInfo& info) {
  RememberSession(db);
  BeginCarry(db, info);
}

void TwoQSecondaryCacheListener::RememberSession(DB* db) {
  Session session;
  if (db->GetDbIdentity(session.db_id).ok() && db->GetDbSessionId(session.id).ok()) {
    std::lock_guard<std::mutex> lock(mutex_);
    sessions_[db->GetName()] = std::move(session);
  }
}

void TwoQSecondaryCacheListener::OnBlobFileDeleted(const BlobFileDeletionInfo& info) {
  Session session;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = sessions_.find(info.db_name);
    if (it == sessions_.end()) {
      return;
    }
    session = it->second;
  }
  const uint64_t file = FindFileKeys(session.db_id, session.id, BlobNumberOf(info.file_path)).file;
  if (info.status.ok() && file != 0) {
    EraseEverywhere({file});
  }
}

void TwoQSecondaryCacheListener::LogStats(DB* db) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (logged_ != std::chrono::steady_clock::time_point() && now - logged_ < kLogPeriod) {
      return;
    }
    logged_ = now;
  }
  const std::shared_ptr<Logger> log = db->GetDBOptions().info_log;
  ForEachCache([&log](TwoQSecondaryCache* cache) {
    MetricsPage page;
    AddMetrics(cache->Stats(), {}, &page);
    Info(log, "secondary_cache_2q: statistics of %s\n%s", cache->name().c_str(),
         page.Lines().c_str());
    const std::string problem = cache->MetricsProblem();
    if (!problem.empty()) {
      Warn(log, "secondary_cache_2q: cannot write statistics to %s", problem.c_str());
    }
  });
}

std::shared_ptr<EventListener> NewTwoQSecondaryCacheListener() {
  return std::make_shared<TwoQSecondaryCacheListener>();
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
