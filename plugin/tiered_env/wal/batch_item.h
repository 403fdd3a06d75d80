// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the write batches of a log consist of, for ReadLog(). Pure functions, thread-safe.

#pragma once

#include <vector>

#include "plugin/tiered_env/recipe/entry.h"
#include "rocksdb/slice.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A part of a write batch: an entry, or something else.
struct BatchItem {
  enum class Mark {
    kEntry,
    kData,       // for people only
    kNoop,       // where a batch of WritePrepared ends; or begins, and then it means nothing
    kPrepare,    // the entries up to kPrepared are written when the transaction is committed
    kPersisted,  // they are written at once
    kPrepared,
    kCommit,
    kRollback,
  };

  Mark mark = Mark::kEntry;
  Entry entry;
  Slice transaction;
};

// Parses a record of a log. False if it does not parse, or has another number of entries than it
// says. The items point into `record`.
bool ParseBatch(Slice record, SequenceNumber* first, std::vector<BatchItem>* items);

// What has a sequence number of its own. A log does not say it: WritePrepared and WriteUnprepared
// tell where they prepare, and else end each batch with a noop, as an empty transaction does in
// other logs.
enum class Numbering { kEntries, kBatches };

// Tells it from one batch. *sure: the rest of the log has it, too.
Numbering NumberingOf(const std::vector<BatchItem>& items, bool* sure);

// Whether a batch of WritePrepared ends with this; `empty`: nothing of the batch was before it. A
// noop at the beginning ends none.
bool EndsBatch(BatchItem::Mark mark, bool empty);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
