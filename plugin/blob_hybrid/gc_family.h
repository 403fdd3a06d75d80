// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "plugin/blob_hybrid/family.h"
#include "plugin/blob_hybrid/flush_gate.h"
#include "plugin/blob_hybrid/gc_progress.h"
#include "plugin/blob_hybrid/settings.h"
#include "plugin/blob_hybrid/survey.h"
#include "rocksdb/listener.h"

namespace ROCKSDB_NAMESPACE {

class DBImpl;

namespace blob_hybrid {

// A column family that uses the plugin: what is known of it, and how its job stands. The listener
// tells it of flushes and compactions, which ask it in turn; its GcJob keeps it up to date.
// GcScheduler owns it. Thread-safe; the database must be open.
class GcFamily {
 public:
  // The settings must be those of the family, and `monitor` must outlive it.
  GcFamily(DBImpl* db, uint32_t number, std::shared_ptr<const Settings> settings,
           GcMonitor* monitor);
  ~GcFamily();
  GcFamily(const GcFamily&) = delete;
  GcFamily& operator=(const GcFamily&) = delete;

  const Settings& settings() const { return *settings_; }
  Surveyor& surveyor() { return surveyor_; }
  GcProgress& progress() { return progress_; }
  FlushGate& gate() { return gate_; }

  // Keeps the family's data. Holds nothing if it has been dropped.
  HeldFamily Hold() const { return HeldFamily(db_, number_); }
  // FilesVersionOf(). 0: the family has been dropped.
  uint64_t FilesVersion() const;

  // Frees what is known of the family, which has been dropped. Flushes and compactions that are
  // under way may still ask it. The job calls it once.
  void NoteDropped();
  bool is_dropped() const { return dropped_; }

  // Has the job look at the family.
  void Wake() { monitor_->Wake(number_); }

  // Waits before a flush as long as the family is above its bound and the job can do something
  // about it, and does, and has not freed more than the flush may add. So writers go on, slowly,
  // when there is much to do; RocksDB keeps what is freed until the flush ends.
  void WaitForRoom();

  // Tells of a compaction that begins, and ends. RocksDB does not tell of CompactFiles().
  void NoteBegin(const CompactionJobInfo& info);
  void NoteEnd(const CompactionJobInfo& info);
  // Takes from the SSTs that are being compacted those that RocksDB has begun to compact by itself.
  // False if it compacts none.
  bool RemoveAutomatic(std::set<uint64_t>* ssts) const;

  // What a look finds: nothing in a family without blob files, unless it is crowded.
  struct Findings {
    bool has_blobs = false;
    Space space;
  };
  // Looks at the family's files. Incomplete: there is more to read, look again. Other errors: there
  // is no bound to keep, or the family has been dropped. SSTs that cannot be read are logged and
  // counted.
  Status Look(Findings* found);
  // Tells whether the bounds are to be kept: without blob files the plugin leaves a family alone,
  // unless that is its own doing.
  bool IsOurs(const Findings& found) const { return found.has_blobs || crowded_; }

  // Tells whether flushes are to leave medium values in SSTs: IsCrowded() when the job looked last.
  bool is_crowded() const { return crowded_; }
  void UpdateCrowded(const Space& space);

  // Begins a time in which nothing is needed: as long as the files are these. `above`: and still
  // the bound is exceeded.
  void BeginCalm(uint64_t files_version, bool above);
  void EndCalm() { calm_at_ = 0; }

 private:
  void NoteUnread(const HeldFamily& family);

  DBImpl* const db_;
  const uint32_t number_;
  const std::shared_ptr<const Settings> settings_;
  GcMonitor* const monitor_;
  Surveyor surveyor_;
  GcProgress progress_;
  FlushGate gate_;
  std::atomic<bool> dropped_{false};
  std::atomic<bool> crowded_{false};
  std::atomic<uint64_t> memtable_bytes_{0};  // see FamilyInfo
  std::atomic<uint64_t> calm_at_{0};         // FilesVersion(); 0: something is needed
  std::atomic<bool> calm_above_{false};
  mutable std::mutex mutex_;
  // The inputs of the compactions that RocksDB has begun by itself, by job. Guarded by mutex_.
  std::map<int, std::vector<uint64_t>> automatic_;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
