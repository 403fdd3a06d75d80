// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "plugin/hot_promotion/policy/clock_bits.h"
#include "plugin/hot_promotion/policy/seen_filter.h"
#include "plugin/hot_promotion/ralt/space.h"
#include "plugin/hot_promotion/ralt/stats.h"
#include "rocksdb/slice.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Says which records are worth a copy in the hot store, and which copies are worth their place.
// Decides only: those who ask act, and count what they did.
//
// A record is hot if the access table has it in its hot set. No record is while there is no table.
//
//   asked when                     | by                    | what is worth it
//   -------------------------------+-----------------------+--------------------------------------
//   a record was read from slow    | Admits(), Fits()      | what was read before (SeenFilter),
//   storage: into the promotion    | Engine::Offer()       | what is hot, and all while the store
//   cache?                         |                       | has free room; and is not too large
//   -------------------------------+-----------------------+--------------------------------------
//   the promotion cache is         | Promotes()            | what was served from the cache, what
//   written: into the store?       | Promoter::WriteHot()  | is hot, and all while the store need
//                                  |                       | not evict
//   -------------------------------+-----------------------+--------------------------------------
//   an SST is written to slow      | IsHot(), Fits()       | what is hot and not too large
//   storage: into the store?       | HotRecordCollector    |
//   -------------------------------+-----------------------+--------------------------------------
//   a compaction of the store      | StoreFilter           | what an SST has that is there
//   meets a copy, no eviction      |                       |
//   -------------------------------+-----------------------+--------------------------------------
//   an eviction meets a copy       | AtEviction()          | what has served since the last
//                                  | StoreFilter           | eviction (ClockBits), and of promoted
//                                  |                       | copies what is hot, or all until the
//                                  |                       | table can tell; a forced eviction
//                                  |                       | drops a part of these
//
// A retained copy must serve to stay: it need not be read from its SST. If its key is updated,
// reads find the new version elsewhere. A promoted one was read from there.
//
// A new access table knows of no hot records. So at evictions no promoted record counts as cold
// until the table has come to know some. All other rules take the table at its word at once.
//
// Thread-safe.
class CopyPolicy {
 public:
  // The hot set's largest size, as a part of the budget: what the store has room for without
  // evictions. In HotRAP it is a part of the fast storage, which has its other levels too.
  static constexpr double kHotShare = 0.85;

  // Tells whether the access table has a record as hot; false if there is no table. Thread-safe.
  using HotFunction = std::function<bool(Space space, const Slice& user_key)>;

  // `budget` is that of the store.
  CopyPolicy(uint64_t budget, HotFunction is_hot);

  bool IsHot(Space space, const Slice& user_key) const { return is_hot_(space, user_key); }

  // Whether a single record of so many bytes does not need a good part of the store.
  bool Fits(uint64_t bytes) const { return bytes <= budget_ / kLargestShare; }

  // Whether a record that was read from slow storage goes into the promotion cache. Remembers that
  // it was read. Free room serves nobody, so one read is enough while there is some; when room is
  // needed, what was read but once goes first.
  bool Admits(Space space, const Slice& user_key, uint64_t hash);

  // Whether a record of the promotion cache, which answered `hits` reads, goes into the store.
  // `roomy`: the store need not evict. Otherwise the record takes the place of one that has not
  // served of late. This goes no faster than evictions make room.
  bool Promotes(Space space, const Slice& user_key, uint32_t hits, bool roomy) const {
    return roomy || hits != 0 || IsHot(space, user_key);
  }

  // Fate: what an eviction does to a copy.
  enum class Fate {
    kKept,
    kCold,   // dropped: not hot, and has not served of late
    kForced  // dropped although it is worth its place
  };
  // Takes the mark of the copy that says that it served.
  Fate AtEviction(bool promoted, Space space, const Slice& user_key, uint64_t hash, bool forced,
                  Random* random);

  // Marks a copy in the store: it has served, or is new and must be given time to.
  void MarkUsed(uint64_t hash) { clock_bits_.Mark(hash); }

  // Takes note of how much the store and the cache have, and of what is left after evictions.
  void SetRoom(uint64_t bytes, uint64_t low);

  // Takes note of a table that was opened.
  void OpenedTable(const RaltStats& stats);
  // Takes note of what the table knows by now.
  void Learn(const RaltStats& stats);
  // Whether the access table can tell which records are cold.
  bool TableTellsCold() const { return tells_cold_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kLargestShare = 64;  // of the budget, for a record

  const uint64_t budget_;
  const HotFunction is_hot_;
  SeenFilter seen_;       // records that were read from slow storage
  ClockBits clock_bits_;  // copies of the store that answered
  std::atomic<bool> free_{false};
  std::atomic<bool> tells_cold_{false};
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
