// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <vector>

#include "plugin/hot_promotion/engine/engine.h"
#include "table/table_builder.h"
#include "table/table_reader.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// HotReader: a table reader that records which records are read, and answers from copies of records
// when the SST is on slow storage. Everything else is done by the reader that it wraps.
//
// An SST never changes: what a reader that sees all of its entries finds for a key is the same as
// long as the SST lives. Copies are of such answers only, and answer such readers only (Usable()),
// and through the same GetContext::SaveValue() that the SST would have called: so the answer is the
// SST's.
//
// Thread-safe.
class HotReader : public TableReader {
 public:
  struct File {
    FileId id{};
    Space space = 0;
    bool slow = false;
    bool has_range_deletions = false;  // which may cover its records
    bool may_capture = false;
    SequenceNumber largest_seqno = 0;
    uint64_t mean_value_size = 0;
    uint32_t scan_records = 0;         // that are recorded after a seek
    uint64_t slow_read_micros = 0;     // a read that takes less is not one of slow storage
    Statistics* statistics = nullptr;  // may be null
    bool has_temperature = false;      // the stock tickers count its reads
    std::shared_ptr<FileSystemLease> lease;
  };

  HotReader(std::unique_ptr<TableReader>&& target, const std::shared_ptr<Engine>& engine,
            const File& file)
      : target_(std::move(target)), engine_(engine), file_(file) {}

  Status Get(const ReadOptions& options, const Slice& key, GetContext* context,
             const SliceTransform* prefix_extractor, bool skip_filters) override;
  void MultiGet(const ReadOptions& options, const MultiGetContext::Range* range,
                const SliceTransform* prefix_extractor, bool skip_filters) override;
  InternalIterator* NewIterator(const ReadOptions& options, const SliceTransform* prefix_extractor,
                                Arena* arena, bool skip_filters, TableReaderCaller caller,
                                size_t compaction_readahead_size,
                                bool allow_unprepared_value) override;

  Status MultiGetFilter(const ReadOptions& options, const SliceTransform* prefix_extractor,
                        MultiGetContext::Range* range) override {
    return target_->MultiGetFilter(options, prefix_extractor, range);
  }
  FragmentedRangeTombstoneIterator* NewRangeTombstoneIterator(const ReadOptions& options) override {
    return target_->NewRangeTombstoneIterator(options);
  }
  FragmentedRangeTombstoneIterator* NewRangeTombstoneIterator(SequenceNumber seqno,
                                                              const Slice* timestamp) override {
    return target_->NewRangeTombstoneIterator(seqno, timestamp);
  }
  uint64_t ApproximateOffsetOf(const ReadOptions& options, const Slice& key,
                               TableReaderCaller caller) override {
    return target_->ApproximateOffsetOf(options, key, caller);
  }
  uint64_t ApproximateSize(const ReadOptions& options, const Slice& start, const Slice& end,
                           TableReaderCaller caller) override {
    return target_->ApproximateSize(options, start, end, caller);
  }
  Status ApproximateKeyAnchors(const ReadOptions& options, std::vector<Anchor>& anchors) override {
    return target_->ApproximateKeyAnchors(options, anchors);
  }
  void SetupForCompaction() override { target_->SetupForCompaction(); }
  std::shared_ptr<const TableProperties> GetTableProperties() const override {
    return target_->GetTableProperties();
  }
  void Prepare(const Slice& target) override { target_->Prepare(target); }
  size_t ApproximateMemoryUsage() const override {
    return sizeof(*this) + target_->ApproximateMemoryUsage();
  }
  Status Prefetch(const ReadOptions& options, const Slice* begin, const Slice* end) override {
    return target_->Prefetch(options, begin, end);
  }
#if ROCKSDB_MAJOR >= 11
  Status DumpTable(WritableFile* out, bool show_sequence_number_type) override {
    return target_->DumpTable(out, show_sequence_number_type);
  }
  Status VerifyChecksum(const ReadOptions& options, TableReaderCaller caller,
                        bool meta_blocks_only) override {
    return target_->VerifyChecksum(options, caller, meta_blocks_only);
  }
#else
  Status DumpTable(WritableFile* out) override { return target_->DumpTable(out); }
  Status VerifyChecksum(const ReadOptions& options, TableReaderCaller caller) override {
    return target_->VerifyChecksum(options, caller);
  }
#endif
  void MarkObsolete(uint32_t uncache_aggressiveness) override {
    engine_->NoteObsolete(file_.id);
    target_->MarkObsolete(uncache_aggressiveness);
  }

 private:
  class Lookup;

  bool Usable(const Slice& key, GetContext* context) const;
  bool Looks(const ReadOptions& options) const;
  bool Serve(const ReadOptions& options, const Lookup& lookup, GetContext* context, Status* s);
  void Track(const Slice& key, uint64_t value_size);
  void Capture(const Lookup& lookup, const Slice& log, uint64_t nanos);
  void AfterRead(const ReadOptions& options, const Lookup& lookup, const Slice& log, uint64_t nanos,
                 GetContext* context);
  Status GetSlow(const ReadOptions& options, const Slice& key, GetContext* context,
                 const SliceTransform* prefix_extractor, bool skip_filters);
  void MultiGetSlow(const ReadOptions& options, const MultiGetContext::Range* range,
                    const SliceTransform* prefix_extractor, bool skip_filters);

  const std::unique_ptr<TableReader> target_;
  const std::shared_ptr<Engine> engine_;
  const File file_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
