// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/blob_hybrid/error_log.h"
#include "plugin/blob_hybrid/gc_picker.h"
#include "plugin/blob_hybrid/settings.h"
#include "plugin/blob_hybrid/survey.h"
#include "rocksdb/listener.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyData;
class DBImpl;

namespace blob_hybrid {

// The background job of a database: compacts SSTs, in a thread of its own, as long as a family
// takes too much space. Thread-safe.
class Collector {
 public:
  explicit Collector(DBImpl* db) : db_(db) {}
  ~Collector() { Stop(); }

  // Whether a family uses the plugin; `added` if it is seen for the first time.
  bool Uses(uint32_t number, bool* added);

  // Of the family's blob files, those that compactions move values out of: with more garbage than
  // the options say, or with less as long as the bound is near. Medium values too as long as it is;
  // else they wait for the merge level.
  struct Aim {
    std::set<uint64_t> victims;
    bool medium = false;
  };
  Aim AimOf(uint32_t number, const std::vector<BlobInfo>& blobs);

  // Whether the family's flushes are to leave medium values in SSTs: IsCrowded().
  bool IsCrowdedFamily(uint32_t number);

  // Of values that could not be read.
  const std::shared_ptr<ErrorLog>& errors() const { return errors_; }

  // A compaction begins, and ends. RocksDB does not tell of CompactFiles().
  void NoteBegin(const CompactionJobInfo& info);
  void NoteEnd(const CompactionJobInfo& info);

  // There may be something to do, in a family or in any. What nobody tells of is found within a
  // second of the next wake-up.
  void Wake(uint32_t number);
  void WakeAll();

  // Before a flush: waits as long as the family is above its bound and the job can do something
  // about it, and does, and has not freed more than the flush may add. So writers go on, slowly,
  // when there is much to do; RocksDB keeps what is freed until the flush ends.
  void WaitForRoom(uint32_t number);

  // Until there is nothing to do, or nothing can be done, or Stop().
  void Settle();

  // Ends the thread. The database must not be deleted before that.
  void Stop();

 private:
  struct Family {
    std::shared_ptr<const Settings> settings;  // constant
    std::atomic<bool> near{false};             // the bound: the job is at work for space
    std::atomic<bool> crowded{false};          // IsCrowded()
    std::atomic<uint64_t> memtable_bytes{0};   // see FamilyInfo
    std::atomic<uint64_t> calm_at{0};     // FilesOf(), when the job found that nothing was needed
    std::atomic<bool> calm_above{false};  // and still the bound was exceeded
    Room room;                            // RoomFor(); guarded by mutex_
    bool above = false;                   // the bound, and the job is at work; guarded by mutex_
    bool missed = false;                  // the bound, and nothing can be done; guarded by mutex_
    int waiting = 0;                      // flushes; guarded by mutex_
    uint64_t disk_bytes = 0;              // when the thread looked; guarded by mutex_
    uint64_t freed = 0;                   // by which this fell from look to look; guarded by mutex_
    uint64_t worth = 0;   // freed bytes from which on it is worth to wait; guarded by mutex_
    Collected collected;  // guarded by mutex_
    std::map<uint64_t, uint64_t> garbage;  // of blob files, as surveyed; guarded by mutex_
    // Inputs of the compactions that RocksDB has begun by itself, by job; guarded by mutex_.
    std::map<int, std::vector<uint64_t>> automatic;
    Surveyor surveyor;
    // The rest belongs to the thread. Times are in microseconds.
    Since since;
    std::set<uint64_t> merged;  // SSTs that early merges have made, and that refer to the log still
    std::set<uint64_t> busy;    // SSTs that others compact
    uint64_t rest_until = 0;    // for gc_bytes_per_second
    uint64_t later = 0;         // when to look again, after kLater
    uint64_t rested_at = 0;     // VersionOf(), when nothing was needed; 0: something was
    uint64_t retry_at = 0;      // for blob files that stayed
    uint64_t retry_pause = 0;
    uint64_t settles = 0;  // calls of Settle() when files that stayed were tried last
    uint64_t foreign_since =
        0;              // when the job began to wait for a user's compactions; 0: it does not
    bool held = false;  // HeldBy(), when it was told
  };
  enum class Next { kNothing, kAgain, kLater };

  void Run();
  // Those that were woken, or all. With mutex_.
  std::vector<std::pair<uint32_t, Family*>> TakeWoken(bool all);
  bool Rests(const Family& family);
  // Until less than `enough` is taken, after wake-up `wake`. False if space does not fall for some
  // seconds: a job that ends well may still free nothing, and a slow device may take minutes for
  // one.
  bool AwaitRoom(uint64_t wake, uint64_t enough, Family* family,
                 std::unique_lock<std::mutex>* lock);
  // Finds nothing in a family without blob files, unless it is crowded.
  Status Look(uint32_t number, Family* family, bool* has_blobs, Space* space);
  static bool IsOurs(const Family& family, bool has_blobs);
  uint64_t VersionOf(uint32_t number);
  uint64_t FilesOf(uint32_t number);
  // One batch of compactions at most.
  Next Step(uint32_t number, Family* family);
  bool LeaveForeign(std::set<uint64_t>* ssts, Family* family);
  // Nothing is needed.
  void Rest(Family* family);
  // `merge`: for the budget of the log.
  std::vector<Plan> PlanFor(uint32_t number, const Survey& survey, const Space& space,
                            const Needs& needs, Family* family, bool* merge);
  // A batch, as far as nothing else comes up.
  Next CompactAll(uint32_t number, const std::vector<Plan>& plans, bool above, bool merge,
                  Family* family);
  Next Compact(uint32_t number, const Plan& plan, bool above, bool merge, Family* family);
  // Somebody wants nothing to be compacted now.
  Next Hold(const char* by, bool above, Family* family);
  // Whether files that stayed should be tried again at once: once for each call of Settle().
  bool IsAskedToSettle(Family* family);
  // Nothing is left to compact, and still there is too much.
  Next Stay(bool above, Family* family);
  void SetCollected(Collected collected, Family* family);
  void Publish(Family* family, bool above, bool missed);
  uint64_t Now() const;

  DBImpl* const db_;
  const std::shared_ptr<ErrorLog> errors_ = std::make_shared<ErrorLog>();
  std::mutex mutex_;
  std::condition_variable changed_;
  // What follows is guarded by mutex_. A family is null if it does not use the plugin; none is
  // removed.
  std::map<uint32_t, std::unique_ptr<Family>> families_;
  bool stop_ = false;
  bool closing_ = false;      // RocksDB is closing the database
  int settling_ = 0;          // callers of Settle()
  uint64_t settles_ = 0;      // calls of it
  uint64_t wanted_ = 0;       // wake-ups
  std::set<uint32_t> woken_;  // families with something to do, perhaps
  uint64_t looked_ = 0;       // those after which every family was looked at
  uint64_t done_ = 0;         // those after which there was nothing to do
  std::thread thread_;        // begun with the first family
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
