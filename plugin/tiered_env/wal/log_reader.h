// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>

#include "plugin/tiered_env/recipe/entry.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

class EntryVisitor {
 public:
  virtual ~EntryVisitor() = default;
  // Key and value are valid during the call.
  virtual void OnEntry(Ordinal ordinal, const Entry& entry) = 0;
};

// Shows a write-ahead log's entries in their order, to its end or to the first record that is
// damaged or torn; both are OK: the same bytes give the same entries each time. `number` is the
// log's, which the records of recycled logs carry. The error of reading the file, if there is one.
// The log ends after `size` bytes, if it has more. Thread-safe.
//
// A batch is what one writer wrote, also if RocksDB has put several into one record. The entries of
// WriteCommitted's prepared transactions have the numbers that the commit gave them, if it is in
// the same log: so what is appended can give entries before it other numbers. Where a whole batch
// has one sequence number (WritePrepared, WriteUnprepared), that is `batch`, and no SST has
// `sequence`. The number of a transaction's second write to the same key there is in no log.
IOStatus ReadLog(FileSystem* fs, const std::string& path, uint64_t number, EntryVisitor* visitor,
                 uint64_t size = UINT64_MAX);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
