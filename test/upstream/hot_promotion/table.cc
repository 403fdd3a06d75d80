// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// ROCKTIER_TABLE_FACTORY=HotPromotionTable: all SSTs of the tests are on slow storage, and each
// record that is read twice is promoted to one folder for all of them, $TEST_TMPDIR/hot.

#include <cstdlib>
#include <mutex>
#include <string>

#include "file/random_access_file_reader.h"
#include "file/writable_file_writer.h"
#include "plugin/hot_promotion/factory.h"
#include "test/upstream/default_table.h"

namespace ROCKSDB_NAMESPACE {

namespace {

using hot_promotion::HotPromotionOptions;
using hot_promotion::HotPromotionTable;

std::string Scratch() {
  const char* folder = getenv("TEST_TMPDIR");
  return folder != nullptr ? folder : "/tmp";
}

HotPromotionOptions OptionsOfTests() {
  HotPromotionOptions options;
  options.path = Scratch() + "/hot";
  options.budget = 64 << 20;
  options.slow = Scratch();
  options.promotion_cache = 1 << 20;
  options.slow_read_micros = 0;
  return options;
}

// The hot store is a RocksDB, whose tables are plain ones.
bool IsOfStore(const std::string& file) {
  static const std::string folder = Scratch() + "/hot/";
  return file.compare(0, folder.size(), folder) == 0;
}

// Of the first table, until the end, with its counters: each test opens and closes databases of its
// own.
std::mutex engine_mutex;
std::shared_ptr<hot_promotion::Engine> engine;  // guarded by engine_mutex

class TestTable : public HotPromotionTable {
 public:
  explicit TestTable(const BlockBasedTableOptions& options)
      : HotPromotionTable(options, OptionsOfTests()) {}

  using TableFactory::NewTableReader;
  Status NewTableReader(const ReadOptions& read_options, const TableReaderOptions& options,
                        std::unique_ptr<RandomAccessFileReader>&& file, uint64_t file_size,
                        std::unique_ptr<TableReader>* reader, bool prefetch) const override {
    if (IsOfStore(file->file_name())) {
      return BlockBasedTableFactory::NewTableReader(read_options, options, std::move(file),
                                                    file_size, reader, prefetch);
    }
    const Status s = HotPromotionTable::NewTableReader(read_options, options, std::move(file),
                                                       file_size, reader, prefetch);
    std::lock_guard<std::mutex> lock(engine_mutex);
    if (engine == nullptr) {
      hot_promotion::EngineOf(this, &engine).PermitUncheckedError();
    }
    return s;
  }

  TableBuilder* NewTableBuilder(const TableBuilderOptions& options,
                                WritableFileWriter* file) const override {
    return IsOfStore(file->file_name()) ? BlockBasedTableFactory::NewTableBuilder(options, file)
                                        : HotPromotionTable::NewTableBuilder(options, file);
  }

  std::unique_ptr<TableFactory> Clone() const override {
    return std::make_unique<TestTable>(*this);
  }
};

std::string Shown() {
  const TestTable table{BlockBasedTableOptions()};
  hot_promotion::HotPromotionStats stats;
  const Status s = hot_promotion::GetHotPromotionStats(&table, &stats);
  std::lock_guard<std::mutex> lock(engine_mutex);
  engine.reset();
  const uint64_t served = stats.served_memory + stats.served_store;
  return !s.ok() || served == 0 ? ""
                                : "HotPromotionTable answered " + std::to_string(served) + " reads";
}

const bool added = DefaultTables()
                       .emplace("HotPromotionTable",
                                DefaultTable{[](const BlockBasedTableOptions& options) {
                                               return new TestTable(options);
                                             },
                                             [](ColumnFamilyOptions*) {}, [](DBOptions*) {}, Shown})
                       .second;

}  // namespace

}  // namespace ROCKSDB_NAMESPACE
