// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/scan.h"

#include <algorithm>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// Looks at each block of a segment for a frame of the log.
class SegmentScan {
 public:
  SegmentScan(const Volume& volume, LogId log, uint64_t segment, Window* window)
      : device_(*volume.device()),
        superblock_(volume.superblock()),
        log_(log),
        begin_(superblock_.SegmentOffset(segment)),
        end_(begin_ + superblock_.segment_size),
        window_(window) {}

  IOStatus Run(Frames* frames) {
    const uint32_t block_size = superblock_.block_size;
    window_->Drop();  // the device may have changed
    IOStatus s;
    for (uint64_t position = begin_ + block_size; s.ok() && position < end_;) {
      s = Load(position, block_size);
      FrameHeader header;
      const uint64_t limit = std::min<uint64_t>(end_ - position, Window::kPart);
      uint64_t step = block_size;
      if (s.ok() && FrameHeader::Parse(window_->At(position), log_, limit, block_size, &header)) {
        const uint64_t size = header.FrameSize(block_size);
        s = Load(position, size);
        if (s.ok() && header.Verify(superblock_.uuid, block_size, window_->At(position))) {
          s = status_to_io_status(header.CheckBounds(
              superblock_.Capacity(),
              "device=" + device_.path() + ": frame at " + std::to_string(position)));
          frames->extents.push_back({header.offset, position, FrameHeader::kSize, header.length});
          frames->headers.push_back(header);
          frames->claimed = std::max(frames->claimed, header.durable);
          step = size;
        }
      }
      position += step;
    }
    return s;
  }

 private:
  // Makes the window hold this range.
  IOStatus Load(uint64_t position, uint64_t size) {
    if (window_->Holds(position, size)) {
      return IOStatus::OK();
    }
    const bool whole = superblock_.segment_size <= Window::kMax;
    const uint64_t part = std::min(whole ? Window::kMax : Window::kPart, end_ - position);
    return window_->Fill(position, part, [this](uint64_t at, uint64_t n, char* to) {
      return device_.Read(at, n, to);
    });
  }

  const Device& device_;
  const Superblock& superblock_;
  const LogId log_;
  const uint64_t begin_;
  const uint64_t end_;
  Window* const window_;
};

}  // namespace

IOStatus ScanSegment(const Volume& volume, LogId log, uint64_t segment, Window* window,
                     Frames* frames) {
  return SegmentScan(volume, log, segment, window).Run(frames);
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
