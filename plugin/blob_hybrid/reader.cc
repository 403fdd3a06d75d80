// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/reader.h"

#include <algorithm>

#include "db/blob/blob_index.h"
#include "db/blob/blob_log_format.h"
#include "db/blob/blob_source.h"
#include "plugin/blob_hybrid/compat.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// Storage reads pages: little is saved by passing over less than one.
constexpr uint64_t kPage = 4096;

}  // namespace

// Larger gaps are paid with what was read in sequence, so that a sequence ends where there is more
// between values than in them.
bool Sequence::Add(uint64_t offset, uint64_t size) {
  const uint64_t gap = offset - std::min(offset, end_);
  const bool follows = end_ > 0 && offset >= end_ && gap <= std::max(bytes_, kPage);
  if (!follows) {
    bytes_ = 0;
  } else if (gap > kPage) {
    bytes_ -= gap;
  }
  bytes_ += size;
  end_ = offset + size;
  return follows;
}

BlobReader::BlobReader(BlobSource* source, uint64_t most)
    : source_(source), most_(most), options_(Env::IOActivity::kCompaction) {
  options_.fill_cache = false;
}

BlobReader::~BlobReader() = default;

Status BlobReader::Read(const Slice& user_key, const BlobIndex& index, uint64_t file_bytes,
                        PinnableSlice* value) {
  // RocksDB reads the header, too, for the checksum.
  const uint64_t header = BlobLogRecord::CalculateAdjustmentForRecordHeader(user_key.size());
  FilePrefetchBuffer* buffer =
      BufferFor(index.file_number(), index.offset() - std::min(index.offset(), header),
                index.size() + header);
  uint64_t bytes_read = 0;
  return source_->GetBlob(options_, user_key, index.file_number(), index.offset(), file_bytes,
                          index.size(), index.compression(), buffer, value, &bytes_read);
}

// A buffer reads whole pages, and keeps them for the next value. So the first one of a sequence has
// a buffer, too.
FilePrefetchBuffer* BlobReader::BufferFor(uint64_t file, uint64_t offset, uint64_t size) {
  if (most_ == 0) {
    return nullptr;
  }
  File& entry = files_[file];
  if (!entry.sequence.Add(offset, size)) {
    entry.buffer = NewPrefetchBuffer(size, most_);
  }
  return entry.buffer.get();
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
