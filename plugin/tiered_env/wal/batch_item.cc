// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/wal/batch_item.h"

#include "db/dbformat.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

using Mark = BatchItem::Mark;

namespace {

constexpr size_t kBatchHeader = 12;  // sequence number and count

// False for a tag that is no entry's.
bool TypeOf(char tag, ValueType* type) {
  switch (static_cast<ValueType>(tag)) {
    case kTypeColumnFamilyValue:
      *type = kTypeValue;
      return true;
    case kTypeColumnFamilyDeletion:
      *type = kTypeDeletion;
      return true;
    case kTypeColumnFamilySingleDeletion:
      *type = kTypeSingleDeletion;
      return true;
    case kTypeColumnFamilyRangeDeletion:
      *type = kTypeRangeDeletion;
      return true;
    case kTypeColumnFamilyMerge:
      *type = kTypeMerge;
      return true;
    case kTypeColumnFamilyBlobIndex:
      *type = kTypeBlobIndex;
      return true;
    case kTypeColumnFamilyWideColumnEntity:
      *type = kTypeWideColumnEntity;
      return true;
    case kTypeColumnFamilyValuePreferredSeqno:
      *type = kTypeValuePreferredSeqno;
      return true;
    case kTypeValue:
    case kTypeDeletion:
    case kTypeSingleDeletion:
    case kTypeRangeDeletion:
    case kTypeMerge:
    case kTypeBlobIndex:
    case kTypeWideColumnEntity:
    case kTypeValuePreferredSeqno:
      *type = static_cast<ValueType>(tag);
      return true;
    default:
      return false;
  }
}

// False for what RocksDB may write in later versions.
bool MarkOf(char tag, Mark* mark) {
  switch (static_cast<ValueType>(tag)) {
    case kTypeLogData:
      *mark = Mark::kData;
      return true;
    case kTypeNoop:
      *mark = Mark::kNoop;
      return true;
    case kTypeBeginPrepareXID:
      *mark = Mark::kPrepare;
      return true;
    case kTypeBeginPersistedPrepareXID:
    case kTypeBeginUnprepareXID:
      *mark = Mark::kPersisted;
      return true;
    case kTypeEndPrepareXID:
      *mark = Mark::kPrepared;
      return true;
    case kTypeCommitXID:
    case kTypeCommitXIDAndTimestamp:
      *mark = Mark::kCommit;
      return true;
    case kTypeRollbackXID:
      *mark = Mark::kRollback;
      return true;
    default:
      return false;
  }
}

bool ParseItem(Slice* input, BatchItem* item) {
  char tag = 0;
  uint32_t column_family = 0;
  Slice data;
  *item = BatchItem();
  const Status s =
      ReadRecordFromWriteBatch(input, &tag, &column_family, &item->entry.key, &item->entry.value,
                               &data, &item->transaction, /*write_unix_time=*/nullptr);
  return s.ok() && (TypeOf(tag, &item->entry.type) || MarkOf(tag, &item->mark));
}

}  // namespace

bool ParseBatch(Slice record, SequenceNumber* first, std::vector<BatchItem>* items) {
  items->clear();
  if (record.size() < kBatchHeader) {
    return false;
  }
  *first = DecodeFixed64(record.data());
  uint32_t entries = DecodeFixed32(record.data() + 8);
  record.remove_prefix(kBatchHeader);
  while (!record.empty()) {
    items->emplace_back();
    if (!ParseItem(&record, &items->back())) {
      return false;
    }
    entries -= items->back().mark == Mark::kEntry ? 1 : 0;
  }
  return entries == 0;
}

Numbering NumberingOf(const std::vector<BatchItem>& items, bool* sure) {
  *sure = true;
  Mark last = Mark::kNoop;  // other than kData
  bool seems = false;       // the last entry is followed by a noop
  for (const BatchItem& item : items) {
    if (item.mark == Mark::kPersisted) {
      return Numbering::kBatches;
    }
    if (item.mark == Mark::kPrepare) {
      return Numbering::kEntries;
    }
    seems = item.mark == Mark::kNoop ? seems || last == Mark::kEntry
                                     : seems && item.mark != Mark::kEntry;
    last = item.mark == Mark::kData ? last : item.mark;
  }
  *sure = last == Mark::kEntry;
  return seems ? Numbering::kBatches : Numbering::kEntries;
}

bool EndsBatch(BatchItem::Mark mark, bool empty) {
  return mark == Mark::kPrepared || mark == Mark::kCommit || mark == Mark::kRollback ||
         (mark == Mark::kNoop && !empty);
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
