// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/reader.h"

#include <algorithm>
#include <cstring>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr uint64_t kWindow = 1 << 20;  // bytes that are read at once; more than the largest frame

}  // namespace

IOStatus Reader::Read(uint64_t offset, size_t n, char* to, size_t* got) {
  *got = 0;
  Piece piece;
  std::string bytes;
  while (n > 0) {
    const uint64_t version = log_->version();
    if (!log_->Locate(offset, n, &piece, &bytes)) {
      break;
    }
    Slice part = bytes;
    if (part.empty()) {
      IOStatus s = Load(piece, version, &part);
      if (s.IsBusy()) {
        continue;
      }
      if (!s.ok()) {
        return s;
      }
      part.remove_prefix(offset - piece.offset);
      part = Slice(part.data(), std::min(part.size(), n));
    }
    memcpy(to, part.data(), part.size());
    to += part.size();
    offset += part.size();
    n -= part.size();
    *got += part.size();
  }
  return IOStatus::OK();
}

IOStatus Reader::Fill(const Piece& piece, uint64_t version) {
  if (window_ == nullptr) {
    window_ = NewBuffer(kWindow);
    if (window_ == nullptr) {
      return IOStatus::IOError(log_->path(), "no memory for a buffer");
    }
  }
  begin_ = piece.position;
  end_ = std::min(begin_ + kWindow, log_->EndOf(piece));
  version_ = version;
  verified_ = UINT64_MAX;
  IOStatus s = log_->ReadFrames(begin_, end_ - begin_, window_.get());
  if (!s.ok()) {
    end_ = begin_;
  }
  return s;
}

IOStatus Reader::Load(const Piece& piece, uint64_t version, Slice* bytes) {
  const Superblock& superblock = log_->volume().superblock();
  const uint64_t size =
      FrameHeader::FrameSize(piece.skip + piece.length - FrameHeader::kSize, superblock.block_size);
  if (version != version_ || piece.position < begin_ || piece.position + size > end_) {
    IOStatus s = Fill(piece, version);
    if (!s.ok()) {
      return s;
    }
  }
  const char* frame = window_.get() + (piece.position - begin_);
  if (piece.position != verified_) {
    FrameHeader header;
    const bool whole = FrameHeader::Parse(frame, log_->id(), end_ - piece.position,
                                          superblock.block_size, &header) &&
                       header.offset + piece.skip == piece.offset + FrameHeader::kSize &&
                       piece.skip + piece.length <= FrameHeader::kSize + header.length &&
                       header.Verify(superblock.uuid, superblock.block_size, frame);
    if (!whole) {
      return log_->version() != version
                 ? IOStatus::Busy()
                 : IOStatus::Corruption(log_->path(), "frame at " + std::to_string(piece.position) +
                                                          " of device=" + log_->volume().path() +
                                                          " cannot be read again");
    }
    verified_ = piece.position;
  }
  *bytes = Slice(frame + piece.skip, piece.length);
  return IOStatus::OK();
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
