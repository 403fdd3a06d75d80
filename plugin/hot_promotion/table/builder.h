// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>

#include "plugin/hot_promotion/table/hot_record_collector.h"
#include "table/block_based/block_based_table_builder.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Builds a block-based table as its base class does. Gives the hot records to the hot store once
// the table is complete. Not thread-safe.
class HotBuilder : public BlockBasedTableBuilder {
 public:
  // `path` is the file's; if it is empty, nothing is published.
  HotBuilder(const BlockBasedTableOptions& table_options, const TableBuilderOptions& options,
             WritableFileWriter* file, const std::shared_ptr<Engine>& engine,
             const std::shared_ptr<HotRecordCollector>& hot_records, Space space,
             const std::string& path)
      : BlockBasedTableBuilder(table_options, options, file),
        engine_(engine),
        hot_records_(hot_records),
        space_(space),
        path_(path),
        lease_(engine->catalog()->Lease(options.ioptions.fs)) {}

  Status Finish() override;

 private:
  const std::shared_ptr<Engine> engine_;
  const std::shared_ptr<HotRecordCollector> hot_records_;
  const Space space_;
  const std::string path_;
  const std::shared_ptr<FileSystemLease> lease_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
