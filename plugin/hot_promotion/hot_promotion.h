// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// hot_promotion: a block-based table factory that serves hot records of SSTs on slow storage from copies on fast
// storage. After "HotRAP: Hot Record Retention and Promotion for LSM-trees with Tiered Storage"; RocksDB and its files
// are as they were.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/status.h"
#include "rocksdb/table.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// All options can be set by name from strings, beside those of BlockBasedTableOptions:
// "table_factory={id=HotPromotionTable;path=/ssd/hot;budget=10G;slow=/hdd;block_size=16K}".
struct HotPromotionOptions {
  static const char* kName() { return "HotPromotionOptions"; }

  // Directory on fast storage that copies of hot records are kept in, and which records are accessed. It is made if
  // it is missing, may be shared by databases and column families of one process, and may be deleted while none is
  // open: nothing in it is the only copy. Default: empty, no promotion: a plain block-based table.
  std::string path;

  // Most bytes of these copies in `path`. Required, at least 1 MiB. The access table has a limit of its own
  // (ralt_bytes) in addition.
  uint64_t budget = 0;

  // Which SSTs are on slow storage, a list separated by commas. An entry is a directory (with all below it), or
  // "temperature:" and one of hot, warm, cool, cold, ice, unknown: what the FileSystem reports of the file. Required.
  std::string slow;

  // Bytes of memory for records that were read from slow storage and are not in `path` yet. They are written when half
  // of it is full. Records larger than a sixteenth of it are not promoted. Default: 64 MiB. At least 64 KiB.
  uint64_t promotion_cache = 64 << 20;

  // Whether hot records of SSTs that are written to slow storage are copied then, so that a compaction does not make
  // them slow. Default: true.
  bool retention = true;

  // Most bytes of the access table's files. Default: 0, 15% of the budget.
  uint64_t ralt_bytes = 0;

  // Bytes of memory for accesses that are not in these files yet. Default: 0, by ralt_bytes.
  uint64_t ralt_buffer_bytes = 0;
};

// Makes a table factory; `table_options` are those of its SSTs. Errors: InvalidArgument, with the option's name. The
// directory is only opened with the first SST: an error there is in the LOG, and nothing is promoted.
Status NewHotPromotionTableFactory(const HotPromotionOptions& options,
                                   const BlockBasedTableOptions& table_options,
                                   std::shared_ptr<TableFactory>* result);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
