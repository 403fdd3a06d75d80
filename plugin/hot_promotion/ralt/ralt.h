// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// RALT, the recent access lookup table (Qiu et al., "HotRAP: Hot Record Retention and Promotion for
// LSM-trees with Tiered Storage", sections 3.2 and 3.7): which records have been read so often of
// late that they are worth their place on the fast tier.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "plugin/hot_promotion/ralt/options.h"
#include "plugin/hot_promotion/ralt/space.h"
#include "plugin/hot_promotion/ralt/stats.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Accesses are gathered in memory and merged in the background into sorted runs on the disk, from
// which filters and sums are kept in memory. FORMAT.md has the format.
//
// Thread-safe. Owns its directory, which holds nothing that cannot be lost.
//
// What is there again: after a clean close everything; after kill -9 or a power loss all but the
// accesses of the last flush_seconds, and of these at most as many as buffer_bytes hold (an access
// takes its key's size and about 10 bytes).
class Ralt {
 public:
  // Files that are damaged or unknown are dropped, with a line in the LOG; a table without any is
  // empty. IOError, or what the Env says: the directory cannot be used or is in use.
  static Status Open(const RaltOptions& options, std::unique_ptr<Ralt>* result);

  // Stops, and writes what was recorded since.
  ~Ralt();
  Ralt(const Ralt&) = delete;
  Ralt& operator=(const Ralt&) = delete;

  // Counts a read of a record. Never waits for I/O: when the background is behind, accesses are
  // dropped and counted; so are those of records that are larger than the hot set may ever be. The
  // access is known to the other functions when it has been written: when the buffer is half full,
  // after flush_seconds, or by Flush().
  void Access(Space space, const Slice& key, size_t value_size);

  // Whether the record is in the hot set. No I/O. Of the records that are not, about one in 10,000
  // is said to be.
  bool IsHot(Space space, const Slice& key) const;

  RaltStats Stats() const;

  // Makes durable what was recorded before the call. IOError: it is lost, and counted as dropped.
  Status Flush();

  // Waits until no flush and no merge is due or under way.
  void Settle();

  // Ends the background for good, and writes what the buffer has. Does not wait for merges to end.
  // Afterwards the caller of Flush() writes, and nothing is due. By one thread at a time.
  void Stop();

 private:
  class Rep;
  explicit Ralt(std::unique_ptr<Rep> rep);
  const std::unique_ptr<Rep> rep_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
