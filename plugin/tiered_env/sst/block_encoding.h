// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The rule by which the bytes of a data block follow from its entries.

#pragma once

#include <cstdint>
#include <string>

#include "plugin/tiered_env/sst/block.h"
#include "plugin/tiered_env/sst/data_blocks.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// How RocksDB's block builder was set when it wrote the data blocks of an SST.
struct BlockEncoding {
  uint32_t interval = 0;   // entries from one restart to the next; 0: no block has two
  bool delta = true;       // keys share with the one before
  bool separated = false;  // values stand by themselves

  bool IsRestart(uint32_t entry) const {
    return interval == 0 ? entry == 0 : entry % interval == 0;
  }
};

// The encoding that the data blocks of `sst` seem to have.
BlockEncoding FindEncoding(const Slice& sst, const DataBlocks& data_blocks);

// Whether entries, values and restarts are those that `encoding` makes of the entries, which are of
// internal keys.
bool Follows(const BlockParts& parts, const BlockEncoding& encoding, uint32_t* entries);

// The footer of a block without a hash index.
constexpr size_t kMaxBlockFooter = 8;
size_t EncodeBlockFooter(const BlockEncoding& encoding, uint32_t restarts, uint32_t values,
                         char* out);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
