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

bool FollowsOne(const BlockReader& entry, const BlockParts& parts, const BlockEncoding& encoding) {
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
  return encoding.delta && !entry.at_restart() ? SharesAll(entry) : entry.head().shared == 0;
}

class EncodingFinder {
 public:
  bool done() const { return encoding_.interval == 1 || (encoding_.interval != 0 && delta_known_); }
  const BlockEncoding& encoding() const { return encoding_; }

  void Look(const BlockParts& parts) {
    encoding_.separated = parts.separated;
    if (delta_known_ && parts.restart_count < 2) {
      return;
    }
    uint32_t entries = 0;
    for (BlockReader entry(parts); !done() && entry.Next(); ++entries) {
      if (entry.restarts() == 2 && encoding_.interval == 0) {
        encoding_.interval = entries;
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
    encoding_.delta = entry.head().shared != 0 || !delta_known_;
  }

  BlockEncoding encoding_;
  bool delta_known_ = false;
};

}  // namespace

BlockEncoding FindEncoding(const Slice& sst, const DataBlocks& data_blocks) {
  EncodingFinder finder;
  BlockParts parts;
  for (const auto& block : data_blocks.blocks) {
    if (finder.done()) {
      break;
    }
    if (!block.compressed && SplitBlock(Slice(sst.data() + block.offset, block.size), &parts)) {
      finder.Look(parts);
    }
  }
  return finder.encoding();
}

bool Follows(const BlockParts& parts, const BlockEncoding& encoding, uint32_t* entries) {
  if (parts.separated != encoding.separated) {
    return false;
  }
  BlockReader entry(parts);
  uint32_t count = 0;
  for (; entry.Next(); ++count) {
    if (entry.at_restart() != encoding.IsRestart(count) || !FollowsOne(entry, parts, encoding)) {
      return false;
    }
  }
  *entries = count;
  return entry.ok() && count != 0 && entry.restarts() == parts.restart_count &&
         (!parts.separated || entry.rest().empty());
}

size_t EncodeBlockFooter(const BlockEncoding& encoding, uint32_t restarts, uint32_t values,
                         char* out) {
  if (!encoding.separated) {
    EncodeFixed32(out, restarts);
    return 4;
  }
  EncodeFixed32(out, values);
  EncodeFixed32(out + 4, restarts | kSeparatedValues);
  return 8;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
