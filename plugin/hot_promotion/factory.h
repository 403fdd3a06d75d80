// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "options/cf_options.h"
#include "plugin/hot_promotion/engine/engine.h"
#include "plugin/hot_promotion/hot_promotion.h"
#include "plugin/hot_promotion/inner.h"
#include "plugin/hot_promotion/table/slow.h"
#include "table/block_based/block_based_table_factory.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Is a BlockBasedTableFactory with options of its own beside those of the base class, so that
// RocksDB and its users find all that they know of block-based tables.
//
// With the option `table` another factory reads and writes the SSTs, and its options of block-based
// tables are those in force: what is set here is set there, and GetOptions() gives those. The ones
// of the base class are then a copy, which RocksDB writes to OPTIONS files.
//
// Thread-safe once it is configured.
class HotPromotionTable : public BlockBasedTableFactory {
 public:
  explicit HotPromotionTable(const BlockBasedTableOptions& table_options = BlockBasedTableOptions(),
                             const HotPromotionOptions& options = HotPromotionOptions());
  // Requires an `inner` that ValidateInner() allows.
  HotPromotionTable(const std::shared_ptr<TableFactory>& inner, const HotPromotionOptions& options);
  HotPromotionTable(const HotPromotionTable& other);

  static const char* kClassName() { return kTableName; }
  const char* Name() const override { return kClassName(); }
  bool IsInstanceOf(const std::string& name) const override;
  const Customizable* Inner() const override { return inner_.get(); }

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
  Status PrepareOptions(const ConfigOptions& config) override;
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& family) const override;
  std::string GetPrintableOptions() const override;

  const std::string& path() const { return options_.path; }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override;
  // Refuses what would not open again, and what cannot change.
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& options,
                          std::unordered_map<std::string, std::string>* unused) override;
  Status ParseOption(const ConfigOptions& config, const OptionTypeInfo& type,
                     const std::string& name, const std::string& value, void* address) override;

 private:
  Status ConfigureInner(const ConfigOptions& config,
                        std::unordered_map<std::string, std::string>* options);
  Status ParseInner(const ConfigOptions& config, const std::string& value);
  // Whether a database has been opened with this very factory.
  bool IsInUse() const { return !is_clone_ && writes_; }
  // Checks the options as they shall be, of which one is another than now.
  Status CheckChange(const HotPromotionOptions& after) const;
  void Take(const HotPromotionOptions& after);
  // Returns the options as they are now: of a factory in use some may change meanwhile.
  HotPromotionOptions Snapshot() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return options_;
  }
  BlockBasedTableOptions* OfBaseClass() const;
  void CopyOfInner() const;

  Status NewPlainReader(const ReadOptions& read_options, const TableReaderOptions& options,
                        std::unique_ptr<RandomAccessFileReader>&& file, uint64_t file_size,
                        std::unique_ptr<TableReader>* reader, bool prefetch) const;
  TableBuilder* NewPlainBuilder(const TableBuilderOptions& options, WritableFileWriter* file) const;
  std::shared_ptr<Engine> OpenEngine(Logger* logger, bool writes) const;
  bool IsSlow(const std::string& path, const ImmutableOptions& options) const;
  std::unique_ptr<TableReader> Wrap(std::unique_ptr<TableReader>&& reader,
                                    const TableReaderOptions& options,
                                    const std::shared_ptr<Engine>& engine, const std::string& path,
                                    Temperature temperature) const;

  HotPromotionOptions options_;          // of a factory in use: guarded by mutex_, but for the path
  std::shared_ptr<TableFactory> inner_;  // null: the base class makes readers and builders
  bool configures_ = false;              // several options are set and are validated together
  const bool is_clone_ = false;
  const HotPromotionOptions before_;  // of a clone: the options of its original
  const bool may_not_change_ = false;

  // An instance that writes uses this factory. Only such a one may take the folder.
  mutable std::atomic<bool> writes_{false};
  mutable std::atomic<int> max_open_files_{-1};  // of that instance

  // The engine is opened when it is first needed: the options are complete only then, and
  // PrepareOptions() is not called by all who make a factory.
  mutable std::mutex mutex_;
  mutable bool parsed_ = false;  // slow_ is set, and constant from then on
  mutable Status valid_;
  mutable SlowFiles slow_;
  mutable bool opened_ = false;  // engine_ is set, and constant from then on
  mutable std::shared_ptr<Engine> engine_;
};

// Finds the engine of a table factory. InvalidArgument: the factory is of another kind. NotFound:
// its directory is not open.
Status EngineOf(const TableFactory* factory, std::shared_ptr<Engine>* engine);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
