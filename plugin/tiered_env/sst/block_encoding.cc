// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/sst/block_encoding.h"

#include "db/dbformat.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

bool SharesAll(const BlockReader& entry) {
  return entry.head().fresh == 0 ||
         entry.next_of_last() != static_cast<unsigned char>(entry.key()[entry.head().shared]);
}

bool FollowsOne(const BlockReader& entry, const BlockParts& parts, const BlockEncoding& shape) {
  if (entry.key().size() < kNumInternalBytes) {
    return false;
  }
  if (entry.bytes().size() - entry.head().fresh != HeadSize(entry.head(), entry.form())) {
    return false;
  }
  if (entry.form().offset &&
      entry.head().offset != static_cast<size_t>(entry.value().data() - parts.values.data())) {
    return false;
  }
  return shape.delta && !entry.at_restart() ? SharesAll(entry) : entry.head().shared == 0;
}

class EncodingFinder {
 public:
  bool done() const { return shape_.interval == 1 || (shape_.interval != 0 && delta_known_); }
  const BlockEncoding& shape() const { return shape_; }

  void Look(const BlockParts& parts) {
    shape_.separated = parts.separated;
    if (delta_known_ && parts.restart_count < 2) {
      return;
    }
    uint32_t entries = 0;
    for (BlockReader entry(parts); !done() && entry.Next(); ++entries) {
      if (entry.restarts() == 2 && shape_.interval == 0) {
        shape_.interval = entries;
      }
      if (!entry.at_restart()) {
        LookAtKey(entry);
      }
    }
  }

 private:
  void LookAtKey(const BlockReader& entry) {
    if (delta_known_) {
      return;
    }
    delta_known_ = entry.head().shared != 0 || !SharesAll(entry);
    shape_.delta = entry.head().shared != 0 || !delta_known_;
  }

  BlockEncoding shape_;
  bool delta_known_ = false;
};

}  // namespace

BlockEncoding FindEncoding(const Slice& sst, const Layout& layout) {
  EncodingFinder finder;
  BlockParts parts;
  for (const auto& block : layout.blocks) {
    if (finder.done()) {
      break;
    }
    if (!block.compressed && SplitBlock(Slice(sst.data() + block.offset, block.size), &parts)) {
      finder.Look(parts);
    }
  }
  return finder.shape();
}

bool Follows(const BlockParts& parts, const BlockEncoding& shape, uint32_t* entries) {
  if (parts.separated != shape.separated) {
    return false;
  }
  BlockReader entry(parts);
  uint32_t count = 0;
  for (; entry.Next(); ++count) {
    if (entry.at_restart() != shape.IsRestart(count) || !FollowsOne(entry, parts, shape)) {
      return false;
    }
  }
  *entries = count;
  return entry.ok() && count != 0 && entry.restarts() == parts.restart_count &&
         (!parts.separated || entry.rest().empty());
}

size_t EncodeBlockFooter(const BlockEncoding& shape, uint32_t restarts, uint32_t values,
                         char* out) {
  if (!shape.separated) {
    EncodeFixed32(out, restarts);
    return 4;
  }
  EncodeFixed32(out, values);
  EncodeFixed32(out + 4, restarts | kSeparatedValues);
  return 8;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
