// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/factory.h"

#include "file/random_access_file_reader.h"
#include "file/writable_file_writer.h"
#include "logging/logging.h"
#include "plugin/hot_promotion/builder.h"
#include "plugin/hot_promotion/identity.h"
#include "plugin/hot_promotion/options.h"
#include "plugin/hot_promotion/reader.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

HotPromotionTable::HotPromotionTable(const BlockBasedTableOptions& table_options,
                                     const HotPromotionOptions& options)
    : BlockBasedTableFactory(table_options), options_(options) {
  RegisterOptions(&options_, &OptionTypes());
}

// Opens its own engine, as it may get other options; with the same path that is the same one.
HotPromotionTable::HotPromotionTable(const HotPromotionTable& other)
    : BlockBasedTableFactory(other), options_(other.options_) {}

bool HotPromotionTable::IsInstanceOf(const std::string& name) const {
  return name == kBlockBasedTableName() || BlockBasedTableFactory::IsInstanceOf(name);
}

Status HotPromotionTable::ValidateOptions(const DBOptions& db,
                                          const ColumnFamilyOptions& family) const {
  Status s = Validate(options_);
  if (s.ok()) {
    s = BlockBasedTableFactory::ValidateOptions(db, family);
  }
  return s;
}

std::string HotPromotionTable::GetPrintableOptions() const {
  return BlockBasedTableFactory::GetPrintableOptions() + "  path: " + options_.path +
         "\n  budget: " + std::to_string(options_.budget) + "\n  slow: " + options_.slow +
         "\n  promotion_cache: " + std::to_string(options_.promotion_cache) +
         "\n  slow_read_micros: " + std::to_string(options_.slow_read_micros) +
         "\n  retention: " + std::to_string(options_.retention) +
         "\n  scan_records: " + std::to_string(options_.scan_records) +
         "\n  ralt_bytes: " + std::to_string(options_.ralt_bytes) +
         "\n  ralt_buffer_bytes: " + std::to_string(options_.ralt_buffer_bytes) +
         "\n  direct_io: " + std::to_string(options_.direct_io) + "\n";
}

// Any failure is told once; the tables are then plain block-based ones.
std::shared_ptr<Engine> HotPromotionTable::OpenEngine(Logger* logger) const {
  if (options_.path.empty()) {
    return nullptr;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (!opened_) {
    opened_ = true;
    Status s = Validate(options_);
    if (s.ok()) {
      s = SlowFiles::Parse(options_.slow, &slow_);
    }
    if (s.ok()) {
      s = Engine::Get(options_, &engine_);
    }
    if (!s.ok()) {
      ROCKS_LOG_WARN(logger, "hot_promotion: nothing is promoted: %s", s.ToString().c_str());
    }
  }
  if (engine_ != nullptr) {
    engine_->MaybeLog(logger);
  }
  return engine_;
}

Status HotPromotionTable::NewTableReader(const ReadOptions& read_options,
                                         const TableReaderOptions& options,
                                         std::unique_ptr<RandomAccessFileReader>&& file,
                                         uint64_t file_size, std::unique_ptr<TableReader>* reader,
                                         bool prefetch_index_and_filter_in_cache) const {
  const std::string path = file->file_name();
  const Temperature temperature = file->file()->GetTemperature();
  std::unique_ptr<TableReader> plain;
  const Status s =
      BlockBasedTableFactory::NewTableReader(read_options, options, std::move(file), file_size,
                                             &plain, prefetch_index_and_filter_in_cache);
  if (!s.ok()) {
    return s;
  }
  // Tools that look at single files have no number for them.
  const bool plain_only = options.cur_file_num == 0 ||
                          options.internal_comparator.user_comparator()->timestamp_size() > 0;
  const auto engine = plain_only ? nullptr : OpenEngine(options.ioptions.logger);
  *reader = engine == nullptr ? std::move(plain)
                              : Wrap(std::move(plain), options, engine, path, temperature);
  return s;
}

// Returns the reader itself if the SST has no identity.
std::unique_ptr<TableReader> HotPromotionTable::Wrap(std::unique_ptr<TableReader>&& reader,
                                                     const TableReaderOptions& options,
                                                     const std::shared_ptr<Engine>& engine,
                                                     const std::string& path,
                                                     Temperature temperature) const {
  const auto properties = reader->GetTableProperties();
  HotReader::File file;
  file.id = FileIdOf(*properties);
  if (file.id == kNullUniqueId64x2) {
    return std::move(reader);
  }
  file.space = SpaceOf(properties->db_id, properties->column_family_id);
  file.largest_seqno = options.largest_seqno;
  file.mean_value_size =
      properties->raw_value_size / std::max<uint64_t>(1, properties->num_entries);
  file.scan_records = options_.scan_records;
  file.statistics = options.ioptions.stats;
  file.has_temperature = temperature != Temperature::kUnknown;
  file.slow = slow_.IsSlow(path, temperature);
  file.has_range_deletions = properties->num_range_deletions > 0;
  // The row cache uses the replay log of GetContext, as we do to see values.
  file.may_capture = options.ioptions.row_cache == nullptr;
  if (file.slow) {
    engine->catalog()->Add(file.id, {file.space, options.ioptions.fs->Name(), path},
                           options.ioptions.fs);
  }
  return std::make_unique<HotReader>(std::move(reader), engine, file);
}

TableBuilder* HotPromotionTable::NewTableBuilder(const TableBuilderOptions& options,
                                                 WritableFileWriter* file) const {
  const Comparator* comparator = options.internal_comparator.user_comparator();
  const bool plain_only = options.cur_file_num == 0 || comparator->timestamp_size() > 0;
  const auto engine = plain_only ? nullptr : OpenEngine(options.ioptions.logger);
  if (engine == nullptr) {
    return BlockBasedTableFactory::NewTableBuilder(options, file);
  }
  FileEntry entry{SpaceOf(options.db_id, options.column_family_id), options.ioptions.fs->Name(),
                  file->file_name()};
  const bool keep = options_.retention && IsSlow(entry.path, options.ioptions);
  if (!keep) {
    entry.path.clear();
  }
  const auto harvest =
      std::make_shared<Harvest>(engine, comparator, entry.space, keep, engine->promotion_cache());
  // The builder makes its collectors when it is made.
  const InternalTblPropCollFactories factories =
      WithHarvest(options.internal_tbl_prop_coll_factories, harvest);
  TableBuilderOptions with_harvest(options);
  with_harvest.internal_tbl_prop_coll_factories = &factories;
  return new HotBuilder(*GetOptions<BlockBasedTableOptions>(), with_harvest, file, engine, harvest,
                        entry);
}

// Of a file that is being written. Only a reader is told the temperature.
bool HotPromotionTable::IsSlow(const std::string& path, const ImmutableOptions& options) const {
  Temperature temperature = Temperature::kUnknown;
  if (slow_.AsksForTemperature()) {
    std::unique_ptr<FSRandomAccessFile> file;
    if (!options.fs->NewRandomAccessFile(path, FileOptions(), &file, nullptr).ok()) {
      return false;
    }
    temperature = file->GetTemperature();
  }
  return slow_.IsSlow(path, temperature);
}

Status EngineOf(const TableFactory* factory, std::shared_ptr<Engine>* engine) {
  if (factory == nullptr || !factory->IsInstanceOf(HotPromotionTable::kClassName())) {
    return Status::InvalidArgument("not a HotPromotionTable");
  }
  const std::string& path = static_cast<const HotPromotionTable*>(factory)->path();
  *engine = Engine::Find(path);
  return *engine == nullptr ? Status::NotFound("HotPromotionTable: not open: path=" + path)
                            : Status::OK();
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
