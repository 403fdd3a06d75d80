// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>

#include "plugin/hot_promotion/table/hot_record_collector.h"
#include "rocksdb/version.h"
#include "table/table_builder.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// HotBuilder: a table builder that gives the hot records to the hot store once the table is
// complete. Everything else is done by the builder that it wraps, whose collectors have seen what
// is in the table. Not thread-safe.
class HotBuilder : public TableBuilder {
 public:
  // `path` is the file's; if it is empty, nothing is published.
  HotBuilder(std::unique_ptr<TableBuilder>&& target, const std::shared_ptr<Engine>& engine,
             const std::shared_ptr<HotRecordCollector>& hot_records, Space space,
             const std::string& path, const std::shared_ptr<FileSystem>& file_system)
      : target_(std::move(target)),
        engine_(engine),
        hot_records_(hot_records),
        space_(space),
        path_(path),
        lease_(engine->catalog()->Lease(file_system)) {}

  Status Finish() override;

  void Add(const Slice& key, const Slice& value) override { target_->Add(key, value); }
  Status status() const override { return target_->status(); }
  IOStatus io_status() const override { return target_->io_status(); }
  void Abandon() override { target_->Abandon(); }
  uint64_t NumEntries() const override { return target_->NumEntries(); }
  bool IsEmpty() const override { return target_->IsEmpty(); }
  uint64_t FileSize() const override { return target_->FileSize(); }
  uint64_t EstimatedFileSize() const override { return target_->EstimatedFileSize(); }
  uint64_t GetTailSize() const override { return target_->GetTailSize(); }
  bool NeedCompact() const override { return target_->NeedCompact(); }
  TableProperties GetTableProperties() const override { return target_->GetTableProperties(); }
  std::string GetFileChecksum() const override { return target_->GetFileChecksum(); }
  const char* GetFileChecksumFuncName() const override {
    return target_->GetFileChecksumFuncName();
  }
  void SetSeqnoTimeTableProperties(const SeqnoToTimeMapping& mapping,
                                   uint64_t oldest_ancestor_time) override {
    target_->SetSeqnoTimeTableProperties(mapping, oldest_ancestor_time);
  }
#if ROCKSDB_MAJOR >= 11
  uint64_t PreCompressionSize() const override { return target_->PreCompressionSize(); }
  uint64_t EstimatedTailSize() const override { return target_->EstimatedTailSize(); }
  uint64_t GetWorkerCPUMicros() const override { return target_->GetWorkerCPUMicros(); }
#endif

 private:
  const std::unique_ptr<TableBuilder> target_;
  const std::shared_ptr<Engine> engine_;
  const std::shared_ptr<HotRecordCollector> hot_records_;
  const Space space_;
  const std::string path_;
  const std::shared_ptr<FileSystemLease> lease_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
