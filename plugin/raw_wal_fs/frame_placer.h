// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <cstdint>

#include "plugin/raw_wal_fs/format.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Decides where a log's next frame goes in its segment. Pure: no I/O. LogWriter asks for each frame
// that it is about to write, and writes it where it is told. Not thread-safe.
//
// Small frames would leave most of their blocks empty. Where the new bytes fit, a frame therefore
// repeats those of the frame before it, in another block, and the block of that one is used for the
// next: two blocks take turns until one is full. A block is only written again when the frame that
// repeats it is durable, so that no write, torn or whole, can harm bytes that were acknowledged.
class FramePlacer {
 public:
  FramePlacer(uint32_t block_size, uint64_t segment_size)
      : block_size_(block_size), blocks_(segment_size / block_size), next_(blocks_) {}

  struct Place {
    uint64_t block = 0;     // the frame's first, in the segment
    uint64_t offset = 0;    // where the frame's first byte is in the log
    uint32_t length = 0;    // bytes of the payload
    uint32_t repeated = 0;  // bytes of the payload that the frame before holds, too
  };

  // Places a frame for bytes of the log from `offset` on, at most `length` of them and at most
  // `limit` in one frame. `durable`: how many bytes of the log are durable. False if the segment is
  // full.
  bool Next(uint64_t offset, uint64_t length, uint64_t limit, uint64_t durable, Place* place) {
    const bool last_is_durable = has_last_ && durable >= last_.offset + last_.length;
    if (last_is_durable && FrameHeader::kSize + last_.length + length <= block_size_ &&
        TakeBlock(&place->block)) {
      place->offset = last_.offset;
      place->repeated = last_.length;
      place->length = last_.length + static_cast<uint32_t>(length);
      spare_ = last_.block;
      has_spare_ = true;
      last_ = *place;
      return true;
    }
    place->offset = offset;
    place->repeated = 0;
    if (last_is_durable && has_spare_ && FrameHeader::kSize + length <= block_size_) {
      place->block = spare_;
      has_spare_ = false;
      place->length = static_cast<uint32_t>(length);
    } else {
      if (next_ >= blocks_) {
        return false;
      }
      const uint64_t room = (blocks_ - next_) * block_size_ - FrameHeader::kSize;
      place->block = next_;
      place->length = static_cast<uint32_t>(std::min({length, limit, room}));
      next_ += FrameHeader::FrameSize(place->length, block_size_) / block_size_;
      has_spare_ = false;
    }
    last_ = *place;
    has_last_ = FrameHeader::kSize + place->length <= block_size_;
    return true;
  }

  // Begins a new segment. Its first block is the header's.
  void StartSegment() {
    next_ = 1;
    has_last_ = false;
    has_spare_ = false;
  }

 private:
  bool TakeBlock(uint64_t* block) {
    if (has_spare_) {
      *block = spare_;
      return true;
    }
    if (next_ >= blocks_) {
      return false;
    }
    *block = next_++;
    return true;
  }

  const uint32_t block_size_;
  const uint64_t blocks_;
  uint64_t next_;  // the first block that was not used
  Place last_;     // the last frame, if it is one block
  bool has_last_ = false;
  uint64_t spare_ = 0;  // a block whose bytes the last frame holds too
  bool has_spare_ = false;
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
