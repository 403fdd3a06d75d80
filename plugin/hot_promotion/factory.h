// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "options/cf_options.h"
#include "plugin/hot_promotion/engine.h"
#include "plugin/hot_promotion/hot_promotion.h"
#include "plugin/hot_promotion/slow.h"
#include "table/block_based/block_based_table_factory.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// A BlockBasedTableFactory with options of its own beside those of the base class, so that RocksDB and its users find
// all that they know of block-based tables. Thread-safe once it is configured.
class HotPromotionTable : public BlockBasedTableFactory {
 public:
  explicit HotPromotionTable(const BlockBasedTableOptions& table_options = BlockBasedTableOptions(),
                             const HotPromotionOptions& options = HotPromotionOptions());
  HotPromotionTable(const HotPromotionTable& other);

  static const char* kClassName() { return "HotPromotionTable"; }
  const char* Name() const override { return kClassName(); }
  bool IsInstanceOf(const std::string& name) const override;

  using TableFactory::NewTableReader;
  Status NewTableReader(const ReadOptions& read_options, const TableReaderOptions& options,
                        std::unique_ptr<RandomAccessFileReader>&& file, uint64_t file_size,
                        std::unique_ptr<TableReader>* reader,
                        bool prefetch_index_and_filter_in_cache) const override;
  TableBuilder* NewTableBuilder(const TableBuilderOptions& options,
                                WritableFileWriter* file) const override;

  std::unique_ptr<TableFactory> Clone() const override {
    return std::make_unique<HotPromotionTable>(*this);
  }
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& family) const override;
  std::string GetPrintableOptions() const override;

  const std::string& path() const { return options_.path; }

 private:
  std::shared_ptr<Engine> OpenEngine(Logger* logger) const;
  bool IsSlow(const std::string& path, const ImmutableOptions& options) const;
  std::unique_ptr<TableReader> Wrap(std::unique_ptr<TableReader>&& reader,
                                    const TableReaderOptions& options,
                                    const std::shared_ptr<Engine>& engine, const std::string& path,
                                    Temperature temperature) const;

  HotPromotionOptions options_;

  // The engine is opened when it is first needed: the options are complete only then, and PrepareOptions() is not called
  // by all who make a factory.
  mutable std::mutex mutex_;
  mutable bool opened_ = false;  // or tried to; what follows is constant after that
  mutable std::shared_ptr<Engine> engine_;
  mutable SlowFiles slow_;
};

// The engine of a table factory. InvalidArgument: it is of another kind; NotFound: its directory is not
// open.
Status EngineOf(const TableFactory* factory, std::shared_ptr<Engine>* engine);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
