// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/reader.h"

#include <algorithm>
#include <cstring>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

IOStatus Reader::Read(uint64_t offset, size_t n, char* to, size_t* got) {
  *got = 0;
  while (n > 0) {
    Slice bytes;
    IOStatus s =
        offset < log_->early_end() ? NextEarly(offset, n, &bytes) : Next(offset, n, &bytes);
    if (s.IsBusy()) {
      continue;
    }
    if (!s.ok() || bytes.empty()) {
      return s;
    }
    memcpy(to, bytes.data(), bytes.size());
    to += bytes.size();
    offset += bytes.size();
    n -= bytes.size();
    *got += bytes.size();
  }
  return IOStatus::OK();
}

IOStatus Reader::Next(uint64_t offset, size_t n, Slice* bytes) {
  const uint64_t version = log_->version();
  Extent extent;
  if (!log_->Locate(offset, n, &extent, &bytes_)) {
    return IOStatus::OK();
  }
  *bytes = bytes_;
  if (!bytes_.empty()) {
    return IOStatus::OK();
  }
  IOStatus s = Load(extent, version, bytes);
  if (s.ok()) {
    bytes->remove_prefix(offset - extent.offset);
    *bytes = Slice(bytes->data(), std::min(bytes->size(), n));
  }
  return s;
}

IOStatus Reader::NextEarly(uint64_t offset, size_t n, Slice* bytes) {
  IOStatus s;
  if (current_ == nullptr || offset < from_) {
    from_ = 0;
    s = GoTo(0);
  }
  n = std::min<uint64_t>(n, log_->early_end() - offset);
  const Extent* extent = nullptr;
  while (s.ok()) {
    extent = current_->extents.Find(offset);
    if (extent != nullptr || ordinal_ + 1 == log_->early_segments().size()) {
      break;
    }
    from_ = offset;
    s = GoTo(ordinal_ + 1);
  }
  if (!s.ok()) {
    return s;
  }
  if (extent == nullptr || extent->offset > offset) {
    *bytes = Filler(extent == nullptr ? n : std::min<uint64_t>(n, extent->offset - offset));
    return CheckHole();
  }
  const bool in_memory = log_->volume().superblock().segment_size <= Window::kMax;
  if (in_memory) {
    *bytes = Slice(current_->window.At(extent->position) + extent->skip, extent->length);
  } else {
    s = Load(*extent, log_->version(), bytes);
  }
  if (s.ok()) {
    bytes->remove_prefix(offset - extent->offset);
    *bytes = Slice(bytes->data(), std::min(bytes->size(), n));
  }
  return s;
}

IOStatus Reader::GoTo(size_t ordinal) {
  const size_t count = log_->early_segments().size();
  if (current_ == nullptr || ordinal != ordinal_ + 1) {
    next_.clear();  // waits for them
  }
  if (next_.empty()) {
    next_.push_back(Scan(ordinal, std::launch::deferred));
  }
  ScannedPtr scanned = next_.front().get();
  next_.pop_front();
  spare_ = std::move(current_);
  current_ = std::move(scanned);
  ordinal_ = ordinal;
  while (next_.size() < ahead_ && ordinal + 1 + next_.size() < count) {
    // If no thread can be had, the scan runs when it is needed.
    next_.push_back(Scan(ordinal + 1 + next_.size(), std::launch::async | std::launch::deferred));
  }
  IOStatus s = current_->status;
  if (!s.ok()) {
    current_.reset();
  }
  return s;
}

std::future<Reader::ScannedPtr> Reader::Scan(size_t ordinal, std::launch how) {
  ScannedPtr scanned = spare_ != nullptr ? std::move(spare_) : std::make_unique<Scanned>();
  return std::async(
      how,
      [log = log_, ordinal](ScannedPtr result) {
        Frames frames;
        result->status = ScanSegment(log->volume(), log->id(), log->early_segments()[ordinal],
                                     &result->window, &frames);
        result->extents.Assign(std::move(frames.extents));
        return result;
      },
      std::move(scanned));
}

// Decides what it means that bytes are missing in the current segment: damage, unless another
// process has deleted the log.
IOStatus Reader::CheckHole() const {
  const Volume& volume = log_->volume();
  const uint64_t segment = log_->early_segments()[ordinal_];
  if (volume.writable()) {
    return IOStatus::OK();
  }
  const Superblock& superblock = volume.superblock();
  Window window;
  IOStatus s = window.Fill(
      superblock.SegmentOffset(segment), superblock.block_size,
      [&](uint64_t at, uint64_t n, char* to) { return volume.device()->Read(at, n, to); });
  SegmentHeader header;
  if (s.ok() && !(SegmentHeader::Decode(window.At(superblock.SegmentOffset(segment)),
                                        superblock.uuid, &header) &&
                  header.state == SegmentHeader::State::kLive && header.log == log_->id())) {
    s = IOStatus::PathNotFound(log_->path(), "was deleted while it was read");
  }
  return s;
}

Slice Reader::Filler(uint64_t n) {
  bytes_.assign(n, kFiller);
  return bytes_;
}

size_t Reader::Ahead() const {
  return std::max<size_t>(kAhead, kAheadBytes / log_->volume().superblock().segment_size);
}

IOStatus Reader::Fill(const Extent& extent, uint64_t version) {
  version_ = version;
  verified_ = UINT64_MAX;
  all_verified_ = false;
  const uint64_t size = std::min(Window::kPart, log_->EndOf(extent) - extent.position);
  return window_->Fill(extent.position, size, [this](uint64_t at, uint64_t n, char* to) {
    return log_->ReadFrames(at, n, to);
  });
}

IOStatus Reader::Load(const Extent& extent, uint64_t version, Slice* bytes) {
  const Superblock& superblock = log_->volume().superblock();
  const uint32_t block_size = log_->BlockSizeAt(extent.position);
  const uint64_t size = FrameHeader::FrameSize(extent.used() - FrameHeader::kSize, block_size);
  if (window_ == nullptr) {
    window_ = log_->TakeVerified();
    version_ = version;
    all_verified_ = window_ != nullptr;
    window_ = all_verified_ ? std::move(window_) : std::make_unique<Window>();
  }
  if (version != version_ || !window_->Holds(extent.position, size)) {
    IOStatus s = Fill(extent, version);
    if (!s.ok()) {
      return s;
    }
  }
  const char* frame = window_->At(extent.position);
  if (!all_verified_ && extent.position != verified_) {
    FrameHeader header;
    const bool whole = FrameHeader::Parse(frame, log_->id(), window_->BytesFrom(extent.position),
                                          block_size, &header) &&
                       header.offset + extent.skip == extent.offset + FrameHeader::kSize &&
                       extent.skip + extent.length <= FrameHeader::kSize + header.length &&
                       header.Verify(superblock.uuid, block_size, frame);
    if (!whole) {
      return log_->version() != version
                 ? IOStatus::Busy()
                 : IOStatus::Corruption(
                       log_->path(), "frame at " + std::to_string(extent.position) + " of device=" +
                                         log_->volume().path() + " cannot be read again");
    }
    verified_ = extent.position;
  }
  *bytes = Slice(frame + extent.skip, extent.length);
  return IOStatus::OK();
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
