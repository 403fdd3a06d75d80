// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "test/bench/common/workload.h"
#include "test/bench/hot/twitter.h"

namespace rocktier_bench {

// The operations of a cluster, one after the other: a pure function of cluster, records and seed.
// Not thread-safe.
//
// For each read two throws of dice say whether it shall be sunk, and whether it shall be hot. It
// goes to a record that is so now:
// - hot: one of the reads of the last window, each with the same probability, is done once more
// - sunk, and not hot: any record, each with the same probability
// - neither: one of the writes of the last window, likewise
// If no such record is found soon, the read is not hot, or goes to any record.
//
// A window is 5% of the records that the database was loaded with; all records count alike,
// whatever their sizes are. So what is hot changes with time, and a few records are read far more
// often than others.
//
// Half of the updates go to records of reads of the last window that were not sunk, the others to
// any record. Deletes go to any record. What was deleted is asked for at times, as by clients of a
// cache, and is put again later.
class TwitterStream {
 public:
  static constexpr uint64_t kLeastRecords = 100;

  enum class Kind { kGet, kPut, kDelete };

  struct Operation {
    Kind kind;
    uint32_t record;
  };

  // What the operations were.
  struct Counts {
    uint64_t operations = 0;
    uint64_t puts = 0;
    uint64_t inserts = 0;  // of them
    uint64_t deletes = 0;
    uint64_t absent = 0;  // reads of what was deleted
    // Reads that find a record, but for those of the first window: before them nothing was read.
    uint64_t finds = 0;
    uint64_t sunk = 0;  // of these
    uint64_t hot = 0;   // of these
  };

  // `records`: kLeastRecords or more, of a database that was loaded with these, in the order of
  // their numbers, and with nothing else.
  TwitterStream(const TwitterCluster& cluster, uint64_t records, uint64_t seed);

  Operation Next();
  const Counts& counts() const { return counts_; }

 private:
  // Times are numbers of writes and of reads.
  struct Record {
    uint32_t written = 0;  // when it was written last; 0: it is not there
    uint32_t read = 0;     // when it was read last; 0: never
  };
  struct Moment {
    uint32_t record;
    uint32_t time;
  };
  using Moments = std::deque<Moment>;

  // Reads before the first one, so that there is a hot set from the beginning: of records from
  // `first` on.
  void ImagineReads(double share, uint32_t first, uint32_t records, Moments* reads);

  uint32_t Get();
  uint32_t Put();
  uint32_t Delete();

  uint32_t ChooseRead();
  uint32_t ChooseInsert();
  uint32_t ChooseUpdate();
  uint32_t AnyRecord();
  uint32_t AnyNumber() { return static_cast<uint32_t>(random_.Uniform(records_.size())); }
  uint32_t AnyOf(const Moments& moments) { return moments[random_.Uniform(moments.size())].record; }
  // A record that draw() gives, and that is so; none if it takes long.
  template <typename Draw>
  std::optional<uint32_t> Find(bool sunk, bool hot, const Draw& draw) const;

  bool IsThere(uint32_t record) const { return records_[record].written != 0; }
  bool IsSunk(uint32_t record) const { return written_ - records_[record].written > window_; }
  bool IsHot(uint32_t record) const {
    return records_[record].read != 0 && read_ - records_[record].read < window_;
  }
  void CountFind(uint32_t record);
  static void DropBefore(uint32_t time, Moments* moments);

  const TwitterCluster cluster_;
  const uint32_t window_;
  const size_t least_deleted_;  // so many are there before one is put again
  Random random_;
  std::vector<Record> records_;
  uint32_t written_;  // the time
  uint32_t read_;     // the time
  // Those of the last window.
  Moments writes_;
  Moments sunk_reads_;
  Moments fresh_reads_;
  std::deque<uint32_t> deleted_;
  Counts counts_;
};

}  // namespace rocktier_bench
