// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/listener.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "plugin/secondary_cache_2q/cache.h"
#include "plugin/secondary_cache_2q/cache_key.h"
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

bool Contains(const std::vector<std::string>& paths, const std::string& path) {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
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
  end.ok = info.status.ok();
  for (const std::string& path : info.output_files) {
    if (!Contains(info.input_files, path)) {  // else it was only moved to another level
      const auto it = info.table_properties.find(path);
      const bool is_known = it != info.table_properties.end() && it->second != nullptr;
      end.outputs.push_back(is_known ? CarriedOf(path, *it->second) : CarriedSst{path, {}, 0});
    }
  }
  ForEachCache([&end](TwoQSecondaryCache* cache) { cache->EndCarry(end); });
}

void TwoQSecondaryCacheListener::OnCompactionCompleted(DB* db, const CompactionJobInfo& info) {
  EndCarry(db, info);
  if (info.status.ok()) {
    std::vector<uint64_t> obsolete;
    for (const std::string& path : info.input_files) {
      const auto properties = info.table_properties.find(path);
      // A file that is an output too was only moved to another level.
      if (!Contains(info.output_files, path) && properties != info.table_properties.end() &&
          properties->second != nullptr) {
        obsolete.push_back(FileOf(*properties->second));
      }
    }
    obsolete.erase(std::remove(obsolete.begin(), obsolete.end(), 0), obsolete.end());
    EraseEverywhere(obsolete);
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
    files_[path] = file;
  }
}

void TwoQSecondaryCacheListener::Forget(const std::string& path) {
  uint64_t file;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = files_.find(path);
    if (it == files_.end()) {
      return;
    }
    file = it->second;
    files_.erase(it);
  }
  EraseEverywhere({file});
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
