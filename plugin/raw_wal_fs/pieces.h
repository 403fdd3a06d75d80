// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// A run of a log's bytes that is in one piece on the device.
struct Piece {
  uint64_t offset = 0;    // in the log
  uint64_t position = 0;  // of the frame on the device
  uint32_t skip = 0;      // from the beginning of the frame to the first of these bytes
  uint32_t length = 0;

  uint64_t end() const { return offset + length; }
};

// Where a log's bytes are. Bytes of a log never change, so where two frames hold the same ones
// either will do. Not thread-safe.
class Pieces {
 public:
  // Adds a frame that holds the bytes from `piece.offset` on. It replaces the last piece if that
  // begins where it does: its block will be written anew.
  void Append(const Piece& piece) {
    if (!pieces_.empty() && pieces_.back().offset == piece.offset) {
      pieces_.back() = piece;
    } else {
      pieces_.push_back(piece);
    }
  }

  // Takes the frames that a scan found, in any order. Overlaps are cut off; the longest of those
  // that begin alike counts.
  void Assign(std::vector<Piece> found) {
    std::sort(found.begin(), found.end(), [](const Piece& a, const Piece& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.length > b.length;
    });
    pieces_.clear();
    uint64_t end = 0;
    for (Piece& piece : found) {
      if (piece.end() <= end) {
        continue;
      }
      if (piece.offset < end) {
        const auto cut = static_cast<uint32_t>(end - piece.offset);
        piece.offset += cut;
        piece.skip += cut;
        piece.length -= cut;
      }
      end = piece.end();
      pieces_.push_back(piece);
    }
  }

  // Forgets what begins at or behind `offset`.
  void Truncate(uint64_t offset) {
    while (!pieces_.empty() && pieces_.back().offset >= offset) {
      pieces_.pop_back();
    }
  }

  // The end of the bytes that are there without a gap from `begin` on.
  uint64_t ContiguousEnd(uint64_t begin = 0) const {
    uint64_t end = begin;
    for (const Piece& piece : pieces_) {
      if (piece.offset != end) {
        break;
      }
      end = piece.end();
    }
    return end;
  }

  uint64_t end() const { return pieces_.empty() ? 0 : pieces_.back().end(); }
  size_t size() const { return pieces_.size(); }
  const std::vector<Piece>& all() const { return pieces_; }

  // The piece with the byte at `offset`, or the first behind it; null if there is none.
  const Piece* Find(uint64_t offset) const {
    const auto it =
        std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                         [](uint64_t wanted, const Piece& piece) { return wanted < piece.end(); });
    return it == pieces_.end() ? nullptr : &*it;
  }

 private:
  std::vector<Piece> pieces_;  // by offset, no overlaps
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
