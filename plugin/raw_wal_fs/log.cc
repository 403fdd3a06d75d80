// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/log.h"

#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

Log::~Log() {
  if (release_) {
    volume_->Release(id_);
  }
}

IOStatus Log::ReadFrames(uint64_t position, size_t n, char* to) const {
  return Spill::Holds(position) ? spill()->Read(position, n, to)
                                : volume_->device()->Read(position, n, to);
}

uint64_t Log::EndOf(const Extent& extent) const {
  if (Spill::Holds(extent.position)) {
    return extent.position +
           FrameHeader::FrameSize(extent.used() - FrameHeader::kSize, BlockSizeAt(extent.position));
  }
  const Superblock& superblock = volume_->superblock();
  const uint64_t in_segments = extent.position - Superblock::kDataOffset;
  return extent.position + superblock.segment_size - in_segments % superblock.segment_size;
}

std::shared_ptr<Log> KeptLog(std::shared_ptr<Log> log, std::shared_ptr<void> keep) {
  Log* const kept = log.get();
  return {std::make_shared<std::pair<std::shared_ptr<Log>, std::shared_ptr<void>>>(std::move(log),
                                                                                   std::move(keep)),
          kept};
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
