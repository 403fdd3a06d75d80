// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "memory/arena.h"
#include "plugin/hot_promotion/engine/engine.h"
#include "table/internal_iterator.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// ScanRecorder: an iterator of an SST that records the first records after each seek that the scan
// goes past: these are short scans, or the beginnings of long ones. Everything else is done by the
// iterator that it wraps. One thread at a time.
class ScanRecorder : public InternalIterator {
 public:
  // Makes one: in `arena` if it is not null, as `target` is then. `value_size`: what values have in
  // the mean.
  static InternalIterator* New(InternalIterator* target, Arena* arena, Engine* engine, Space space,
                               uint64_t value_size, uint32_t records) {
    void* place = arena == nullptr ? nullptr : arena->AllocateAligned(sizeof(ScanRecorder));
    return place == nullptr
               ? new ScanRecorder(target, /*in_arena=*/false, engine, space, value_size, records)
               : new (place)
                     ScanRecorder(target, /*in_arena=*/true, engine, space, value_size, records);
  }

  ~ScanRecorder() override {
    if (in_arena_) {
      target_->~InternalIterator();
    } else {
      delete target_;
    }
  }

  void SeekToFirst() override {
    left_ = records_;
    target_->SeekToFirst();
  }
  void SeekToLast() override {
    left_ = records_;
    target_->SeekToLast();
  }
  void Seek(const Slice& target) override {
    left_ = records_;
    target_->Seek(target);
  }
  void SeekForPrev(const Slice& target) override {
    left_ = records_;
    target_->SeekForPrev(target);
  }
  void Next() override {
    Record();
    target_->Next();
  }
  bool NextAndGetResult(IterateResult* result) override {
    Record();
    return target_->NextAndGetResult(result);
  }
  void Prev() override {
    Record();
    target_->Prev();
  }

  bool Valid() const override { return target_->Valid(); }
  Slice key() const override { return target_->key(); }
  Slice user_key() const override { return target_->user_key(); }
  Slice value() const override { return target_->value(); }
  Status status() const override { return target_->status(); }
  uint64_t write_unix_time() const override { return target_->write_unix_time(); }
  bool PrepareValue() override { return target_->PrepareValue(); }
  bool MayBeOutOfLowerBound() override { return target_->MayBeOutOfLowerBound(); }
  IterBoundCheck UpperBoundCheckResult() override { return target_->UpperBoundCheckResult(); }
  void SetRangeDelReadSeqno(SequenceNumber seqno) override { target_->SetRangeDelReadSeqno(seqno); }
  void SetPinnedItersMgr(PinnedIteratorsManager* manager) override {
    target_->SetPinnedItersMgr(manager);
  }
  bool IsKeyPinned() const override { return target_->IsKeyPinned(); }
  bool IsValuePinned() const override { return target_->IsValuePinned(); }
  Status GetProperty(std::string name, std::string* value) override {
    return target_->GetProperty(std::move(name), value);
  }
  void GetReadaheadState(ReadaheadFileInfo* info) override { target_->GetReadaheadState(info); }
  void SetReadaheadState(ReadaheadFileInfo* info) override { target_->SetReadaheadState(info); }
  bool IsDeleteRangeSentinelKey() const override { return target_->IsDeleteRangeSentinelKey(); }
#if ROCKSDB_MAJOR >= 11
  void Prepare(const MultiScanArgs* options) override { target_->Prepare(options); }
#endif

 private:
  ScanRecorder(InternalIterator* target, bool in_arena, Engine* engine, Space space,
               uint64_t value_size, uint32_t records)
      : target_(target),
        in_arena_(in_arena),
        engine_(engine),
        space_(space),
        value_size_(value_size),
        records_(records) {}

  // Records the record that the scan leaves. Where a seek ends is no access yet: a seek moves the
  // iterators of all SSTs, and the scan comes to few of them.
  void Record();

  InternalIterator* const target_;
  const bool in_arena_;
  Engine* const engine_;  // the table reader's, which lives longer
  const Space space_;
  const uint64_t value_size_;  // mean: the value may not have been read
  const uint32_t records_;
  uint32_t left_ = 0;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
