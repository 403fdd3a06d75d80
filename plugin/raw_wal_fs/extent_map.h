// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// A run of a log's bytes that is in one frame, on the device or in a spill.
struct Extent {
  uint64_t offset = 0;    // in the log
  uint64_t position = 0;  // where the frame begins on the device
  uint32_t skip = 0;      // from the beginning of the frame to the first of these bytes
  uint32_t length = 0;
  uint32_t rest = 0;  // bytes of the frame's payload behind these

  uint64_t end() const { return offset + length; }
  // Returns the bytes of the frame's header and payload.
  uint64_t used() const { return uint64_t{skip} + length + rest; }
};

// Maps the bytes of a log to the frames that hold them. Bytes of a log never change, so where two
// frames hold the same ones either will do.
//
// LogWriter appends each frame that it writes. RecoveredLog and Reader assign what a scan found,
// once. Not thread-safe.
class ExtentMap {
 public:
  // Adds a frame that holds the bytes from `extent.offset` on. It replaces the last extent if that
  // begins where it does: its block will be written anew.
  void Append(const Extent& extent) {
    if (!extents_.empty() && extents_.back().offset == extent.offset) {
      extents_.back() = extent;
    } else {
      extents_.push_back(extent);
    }
  }

  // Takes the frames that a scan found, in any order. Overlaps are cut off; the longest of those
  // that begin alike counts.
  void Assign(std::vector<Extent> found) {
    std::sort(found.begin(), found.end(), [](const Extent& a, const Extent& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.length > b.length;
    });
    extents_.clear();
    uint64_t end = 0;
    for (Extent& extent : found) {
      if (extent.end() <= end) {
        continue;
      }
      if (extent.offset < end) {
        const auto cut = static_cast<uint32_t>(end - extent.offset);
        extent.offset += cut;
        extent.skip += cut;
        extent.length -= cut;
      }
      end = extent.end();
      extents_.push_back(extent);
    }
  }

  // Forgets what is at or behind `offset`.
  void Truncate(uint64_t offset) {
    while (!extents_.empty() && extents_.back().offset >= offset) {
      extents_.pop_back();
    }
    if (!extents_.empty() && extents_.back().end() > offset) {
      const auto cut = static_cast<uint32_t>(extents_.back().end() - offset);
      extents_.back().length -= cut;
      extents_.back().rest += cut;
    }
  }

  // Forgets what is before `offset`.
  void Skip(uint64_t offset) {
    auto first = extents_.begin();
    while (first != extents_.end() && first->end() <= offset) {
      ++first;
    }
    extents_.erase(extents_.begin(), first);
    if (!extents_.empty() && extents_.front().offset < offset) {
      Extent& extent = extents_.front();
      const auto cut = static_cast<uint32_t>(offset - extent.offset);
      extent.offset += cut;
      extent.skip += cut;
      extent.length -= cut;
    }
  }

  // Returns the end of the bytes that are there without a gap from `begin` on.
  uint64_t ContiguousEnd(uint64_t begin = 0) const {
    uint64_t end = begin;
    for (const Extent& extent : extents_) {
      if (extent.offset != end) {
        break;
      }
      end = extent.end();
    }
    return end;
  }

  uint64_t end() const { return extents_.empty() ? 0 : extents_.back().end(); }
  size_t size() const { return extents_.size(); }
  const std::vector<Extent>& all() const { return extents_; }

  // Returns the extent with the byte at `offset`, or the first behind it; null if there is none.
  const Extent* Find(uint64_t offset) const {
    const auto it = std::upper_bound(
        extents_.begin(), extents_.end(), offset,
        [](uint64_t wanted, const Extent& extent) { return wanted < extent.end(); });
    return it == extents_.end() ? nullptr : &*it;
  }

 private:
  std::vector<Extent> extents_;  // by offset, no overlaps
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
