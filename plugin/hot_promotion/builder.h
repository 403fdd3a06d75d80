// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>

#include "plugin/hot_promotion/collector.h"
#include "table/block_based/block_based_table_builder.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Builds a block-based table as its base class does, and gives what was harvested to the hot store once the table is
// complete. Not thread-safe.
class HotBuilder : public BlockBasedTableBuilder {
 public:
  // `entry` is what is known of the file; with an empty path nothing is published.
  HotBuilder(const BlockBasedTableOptions& table_options, const TableBuilderOptions& options,
             WritableFileWriter* file, const std::shared_ptr<Engine>& engine,
             const std::shared_ptr<Harvest>& harvest, const FileEntry& entry)
      : BlockBasedTableBuilder(table_options, options, file),
        engine_(engine),
        harvest_(harvest),
        entry_(entry),
        file_system_(options.ioptions.fs) {}

  Status Finish() override;

 private:
  const std::shared_ptr<Engine> engine_;
  const std::shared_ptr<Harvest> harvest_;
  const FileEntry entry_;
  const std::shared_ptr<FileSystem> file_system_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
