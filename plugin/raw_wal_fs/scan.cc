// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <algorithm>

#include "plugin/raw_wal_fs/log.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr size_t kWindow = 1 << 20;  // bytes that are read at once; more than the largest frame

// Looks at each block of a segment for a frame of the log.
class SegmentScan {
 public:
  SegmentScan(const Volume& volume, LogId log, uint64_t segment, char* window)
      : device_(*volume.device()),
        superblock_(volume.superblock()),
        log_(log),
        begin_(superblock_.SegmentOffset(segment)),
        end_(begin_ + superblock_.segment_size),
        window_(window) {}

  IOStatus Run(std::vector<Piece>* pieces, uint64_t* claimed, std::vector<FrameHeader>* headers) {
    const uint32_t block_size = superblock_.block_size;
    uint64_t position = begin_ + block_size;
    while (position < end_) {
      IOStatus s = Load(position, block_size);
      if (!s.ok()) {
        return s;
      }
      FrameHeader header;
      const uint64_t limit = std::min<uint64_t>(end_ - position, kWindow);
      uint64_t step = block_size;
      if (FrameHeader::Parse(At(position), log_, limit, block_size, &header)) {
        s = Load(position, header.FrameSize(block_size));
        if (!s.ok()) {
          return s;
        }
        if (header.Verify(superblock_.uuid, block_size, At(position))) {
          pieces->push_back({header.offset, position, FrameHeader::kSize, header.length});
          *claimed = std::max(*claimed, header.durable);
          if (headers != nullptr) {
            headers->push_back(header);
          }
          step = header.FrameSize(block_size);
        }
      }
      position += step;
    }
    return IOStatus::OK();
  }

 private:
  const char* At(uint64_t position) const { return window_ + (position - loaded_); }

  // Makes the window hold this range.
  IOStatus Load(uint64_t position, uint64_t size) {
    if (position >= loaded_ && position + size <= loaded_ + loaded_size_) {
      return IOStatus::OK();
    }
    loaded_ = position;
    loaded_size_ = std::min<uint64_t>(kWindow, end_ - position);
    return device_.Read(loaded_, loaded_size_, window_);
  }

  const Device& device_;
  const Superblock& superblock_;
  const LogId log_;
  const uint64_t begin_;
  const uint64_t end_;
  char* const window_;
  uint64_t loaded_ = 0;
  uint64_t loaded_size_ = 0;
};

}  // namespace

IOStatus ScanLog(const Volume& volume, LogId log, const std::vector<uint64_t>& segments,
                 std::vector<Piece>* pieces, uint64_t* claimed, std::vector<FrameHeader>* headers) {
  const Buffer window = NewBuffer(kWindow);
  if (window == nullptr) {
    return IOStatus::IOError("raw_wal_fs", "no memory for a buffer");
  }
  for (const uint64_t segment : segments) {
    IOStatus s = SegmentScan(volume, log, segment, window.get()).Run(pieces, claimed, headers);
    if (!s.ok()) {
      return s;
    }
  }
  return IOStatus::OK();
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
