// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/sst/data_blocks.h"

#include <string>

#include "plugin/tiered_env/sst/block.h"
#include "plugin/tiered_env/sst/uncompress.h"
#include "rocksdb/table_properties.h"
#include "table/format.h"
#include "table/meta_blocks.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

Status Damaged(const char* what) {
  return Status::Corruption("tiered_env: SST without a sound", what);
}

uint32_t ChecksumOf(const Slice& block, char compression, uint64_t offset, ChecksumType checksum,
                    uint32_t context) {
  return ComputeBuiltinChecksumWithLastByte(checksum, block.data(), block.size(), compression) +
         ChecksumModifierForContext(context, offset);
}

class Finder {
 public:
  Finder(const Slice& sst, DataBlocks* data_blocks) : sst_(sst), data_blocks_(data_blocks) {}

  Status Find();

 private:
  using Handles = std::vector<BlockHandle>;

  Status ReadFooter();
  Status ReadMetaIndex();
  Status ReadProperties();
  // `storage` has the bytes if they are compressed in the file.
  Status ReadBlock(const BlockHandle& handle, const char* what, std::string* storage,
                   BlockParts* parts) const;
  bool Within(const BlockHandle& handle) const;
  Status ReadIndex(const BlockHandle& index, Handles* handles) const;
  Status AddBlocks(const Handles& handles);

  const Slice sst_;
  DataBlocks* const data_blocks_;
  Footer footer_;
  BlockHandle index_ = BlockHandle::NullBlockHandle();
  BlockHandle properties_ = BlockHandle::NullBlockHandle();
  uint32_t index_type_ = BlockBasedTableOptions::kBinarySearch;
  bool deltas_ = false;  // between the handles in the index
  uint64_t end_ = 0;     // of the last block that was added
};

Status Finder::Find() {
  Status s = ReadFooter();
  if (s.ok()) {
    s = ReadMetaIndex();
  }
  if (s.ok()) {
    s = ReadProperties();
  }
  Handles handles;
  if (s.ok()) {
    s = ReadIndex(index_, &handles);
  }
  if (s.ok() && index_type_ == BlockBasedTableOptions::kTwoLevelIndexSearch) {
    Handles partitions;
    partitions.swap(handles);
    for (const auto& partition : partitions) {
      if (s.ok()) {
        s = ReadIndex(partition, &handles);
      }
    }
  }
  if (s.ok()) {
    s = AddBlocks(handles);
  }
  return s;
}

Status Finder::ReadFooter() {
  if (sst_.size() < Footer::kNewVersionsEncodedLength ||
      DecodeFixed64(sst_.data() + sst_.size() - kMagicNumberLengthByte) !=
          kBlockBasedTableMagicNumber) {
    return Status::NotSupported("tiered_env: not a block-based table");
  }
  const uint64_t offset = sst_.size() - Footer::kNewVersionsEncodedLength;
  Status s =
      footer_.DecodeFrom(Slice(sst_.data() + offset, Footer::kNewVersionsEncodedLength), offset);
  if (!s.ok()) {
    return s;
  }
  if (footer_.format_version() < 2) {
    return Status::NotSupported("tiered_env: table of an old format");
  }
  data_blocks_->checksum = footer_.checksum_type();
  data_blocks_->context = footer_.base_context_checksum();
  index_ = footer_.index_handle();
  return s;
}

bool Finder::Within(const BlockHandle& handle) const {
  const uint64_t end = sst_.size() - Footer::kNewVersionsEncodedLength;
  return handle.offset() <= end && handle.size() <= end - handle.offset() &&
         kBlockTrailerSize <= end - handle.offset() - handle.size();
}

Status Finder::ReadBlock(const BlockHandle& handle, const char* what, std::string* storage,
                         BlockParts* parts) const {
  if (!Within(handle)) {
    return Damaged(what);
  }
  Slice block(sst_.data() + handle.offset(), handle.size());
  const auto type = static_cast<CompressionType>(block.data()[block.size()]);
  if (type != kNoCompression) {
    // RocksDB's uncompressing may abort at damage in builds with assertions.
    const char* const trailer = block.data() + block.size();
    if (DecodeFixed32(trailer + 1) != ChecksumOf(block, *trailer, handle.offset(),
                                                 data_blocks_->checksum, data_blocks_->context)) {
      return Damaged(what);
    }
    Status s = UncompressBlock(type, block, storage);
    if (!s.ok()) {
      return s;
    }
    block = *storage;
  }
  return SplitBlock(block, parts) ? Status::OK() : Damaged(what);
}

Status Finder::ReadMetaIndex() {
  std::string storage;
  BlockParts parts;
  Status s = ReadBlock(footer_.metaindex_handle(), "meta-index", &storage, &parts);
  if (!s.ok()) {
    return s;
  }
  BlockReader reader(parts);
  while (s.ok() && reader.Next()) {
    Slice value = reader.value();
    if (reader.key() == kPropertiesBlockName) {
      s = properties_.DecodeFrom(&value);
    }
    if (reader.key() == kIndexBlockName) {
      s = index_.DecodeFrom(&value);
    }
  }
  if (s.ok() && (!reader.ok() || properties_.IsNull() || index_.IsNull())) {
    s = Damaged("meta-index");
  }
  return s;
}

Status Finder::ReadProperties() {
  std::string storage;
  BlockParts parts;
  Status s = ReadBlock(properties_, "block of properties", &storage, &parts);
  if (!s.ok()) {
    return s;
  }
  BlockReader reader(parts);
  while (reader.Next()) {
    Slice value = reader.value();
    uint64_t number = 0;
    if (reader.key() == BlockBasedTablePropertyNames::kIndexType &&
        !GetFixed32(&value, &index_type_)) {
      return Damaged("type of index");
    }
    if (reader.key() == TablePropertiesNames::kIndexValueIsDeltaEncoded) {
      if (!GetVarint64(&value, &number)) {
        return Damaged("property of its index");
      }
      deltas_ = number != 0;
    }
  }
  return reader.ok() ? s : Damaged("block of properties");
}

Status Finder::ReadIndex(const BlockHandle& index, Handles* handles) const {
  std::string storage;
  BlockParts parts;
  Status s = ReadBlock(index, "index", &storage, &parts);
  if (!s.ok()) {
    return s;
  }
  const bool first_key = index_type_ == BlockBasedTableOptions::kBinarySearchWithFirstKey;
  BlockReader reader(parts, /*sized=*/!deltas_);
  IndexValue value;
  while (reader.Next()) {
    Slice input = deltas_ ? reader.rest() : reader.value();
    const size_t size = input.size();
    const BlockHandle last = value.handle;
    s = value.DecodeFrom(&input, first_key, deltas_ && reader.head().shared != 0 ? &last : nullptr);
    if (!s.ok()) {
      return s;
    }
    if (deltas_) {
      reader.TakeValue(size - input.size());
    }
    handles->push_back(value.handle);
  }
  return reader.ok() ? s : Damaged("index");
}

Status Finder::AddBlocks(const Handles& handles) {
  data_blocks_->blocks.reserve(handles.size());
  for (const auto& handle : handles) {
    if (!Within(handle) || handle.offset() < end_) {
      return Damaged("data block");
    }
    BlockBounds bounds;
    bounds.offset = handle.offset();
    bounds.size = handle.size();
    end_ = bounds.offset + bounds.size;
    bounds.compressed = sst_[end_] != kNoCompression;
    end_ += kBlockTrailerSize;
    data_blocks_->blocks.push_back(bounds);
  }
  return Status::OK();
}

}  // namespace

Status FindDataBlocks(const Slice& sst, DataBlocks* data_blocks) {
  *data_blocks = DataBlocks();
  Status s = Finder(sst, data_blocks).Find();
  if (!s.ok()) {
    data_blocks->blocks.clear();
  }
  return s;
}

void EncodeBlockTrailer(const Slice& block, uint64_t offset, ChecksumType checksum,
                        uint32_t context, char* out) {
  out[0] = kNoCompression;
  EncodeFixed32(out + 1, ChecksumOf(block, out[0], offset, checksum, context));
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
