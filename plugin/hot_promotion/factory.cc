// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/factory.h"

#include "file/random_access_file_reader.h"
#include "file/writable_file_writer.h"
#include "logging/logging.h"
#include "plugin/hot_promotion/options.h"
#include "plugin/hot_promotion/store/identity.h"
#include "plugin/hot_promotion/table/builder.h"
#include "plugin/hot_promotion/table/reader.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

// What an SstFileWriter has in the place of a database's id.
constexpr char kSstFileWriterId[] = "SST Writer";

}  // namespace

HotPromotionTable::HotPromotionTable(const BlockBasedTableOptions& table_options,
                                     const HotPromotionOptions& options)
    : BlockBasedTableFactory(table_options), options_(options) {
  RegisterOptions(&options_, &OptionTypes());
  RegisterOptions(kInnerOption, &inner_, &InnerTypes());
}

HotPromotionTable::HotPromotionTable(const std::shared_ptr<TableFactory>& inner,
                                     const HotPromotionOptions& options)
    : HotPromotionTable(*BlockBasedOf(inner.get()), options) {
  inner_ = inner;
}

// A clone opens its own engine, as it may get other options. With the same path that is the same
// engine.
HotPromotionTable::HotPromotionTable(const HotPromotionTable& other)
    : BlockBasedTableFactory(other),
      options_(other.Snapshot()),
      inner_(other.inner_ == nullptr ? nullptr : other.inner_->Clone()),
      is_clone_(true),
      before_(options_),
      may_not_change_(other.writes_),
      writes_(other.writes_.load()),
      max_open_files_(other.max_open_files_.load()) {}

// Takes the options of a string, of a section of an OPTIONS file, or of SetOptions() with the whole
// factory.
Status HotPromotionTable::ConfigureOptions(
    const ConfigOptions& config, const std::unordered_map<std::string, std::string>& options,
    std::unordered_map<std::string, std::string>* unused) {
  configures_ = true;
  std::unordered_map<std::string, std::string> others = options;
  Status s = ConfigureInner(config, &others);
  if (s.ok()) {
    s = BlockBasedTableFactory::ConfigureOptions(config, others, unused);
  }
  configures_ = false;
  return s.ok() && !options.empty() ? Validate(Snapshot()) : s;
}

// Takes `table` out of the options and makes the inner factory first, as options beside it are that
// factory's.
Status HotPromotionTable::ConfigureInner(const ConfigOptions& config,
                                         std::unordered_map<std::string, std::string>* options) {
  const auto it = options->find(kInnerOption);
  if (it == options->end()) {
    return Status::OK();
  }
  const std::unordered_map<std::string, std::string> inner = {*it};
  options->erase(it);
  const Status s = RefuseTwoValues(inner.at(kInnerOption), *options);
  ConfigOptions later = config;
  later.invoke_prepare_options = false;
  return s.ok() ? BlockBasedTableFactory::ConfigureOptions(later, inner, nullptr) : s;
}

Status HotPromotionTable::ParseInner(const ConfigOptions& config, const std::string& value) {
  std::shared_ptr<TableFactory> inner;
  const Status s = NewInner(config, value, *GetOptions<BlockBasedTableOptions>(), &inner);
  if (!s.ok()) {
    return s;
  }
  bool same =
      inner == nullptr || inner_ == nullptr ? inner == inner_ : inner->GetId() == inner_->GetId();
  if (same && IsInUse()) {  // RocksDB puts back what it has; that stays, as others use it
    std::string mismatch;
    same = inner == nullptr || inner->AreEquivalent(config, inner_.get(), &mismatch);
  }
  if ((may_not_change_ || IsInUse()) && !same) {
    return Status::InvalidArgument("HotPromotionTable: table",
                                   "cannot be changed while the database is open");
  }
  if (IsInUse()) {
    return s;
  }
  inner_ = std::move(inner);
  CopyOfInner();
  return s;
}

// SetOptions() changes an option of a clone. RocksDB then uses and persists the clone as it is, so
// a wrong value is not taken here. Nor is it if somebody sets an option of a factory in use: others
// read the options meanwhile.
Status HotPromotionTable::ParseOption(const ConfigOptions& config, const OptionTypeInfo& type,
                                      const std::string& name, const std::string& value,
                                      void* address) {
  if (address == &inner_) {
    return ParseInner(config, value);
  }
  if (inner_ != nullptr && address == OfBaseClass()) {
    const Status s =
        BlockBasedTableFactory::ParseOption(config, type, name, value, BlockBasedOf(inner_.get()));
    if (s.ok()) {
      CopyOfInner();
    }
    return s;
  }
  if (address != &options_) {
    return BlockBasedTableFactory::ParseOption(config, type, name, value, address);
  }
  HotPromotionOptions after = Snapshot();
  Status s = BlockBasedTableFactory::ParseOption(config, type, name, value, &after);
  if (s.ok()) {
    s = CheckChange(after);
  }
  if (s.ok()) {
    Take(after);
  }
  return s;
}

Status HotPromotionTable::CheckChange(const HotPromotionOptions& after) const {
  if (!IsInUse() && (!is_clone_ || configures_)) {
    return Status::OK();  // they are checked together
  }
  const HotPromotionOptions now = Snapshot();
  Status s;
  if (IsInUse() || may_not_change_) {
    s = ValidateChange(IsInUse() ? now : before_, after);
  }
  if (s.ok() && now.slow != after.slow) {
    std::lock_guard<std::mutex> lock(mutex_);
    s = parsed_ ? Status::InvalidArgument("HotPromotionTable: slow=" + after.slow,
                                          "of a factory in use is changed by DB::SetOptions()")
                : Status::OK();
  }
  return s.ok() && Validate(now).ok() ? Validate(after) : s;
}

// Of a factory in use, no more than what CheckChange() lets change.
void HotPromotionTable::Take(const HotPromotionOptions& after) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!IsInUse()) {
    options_ = after;
    return;
  }
  options_.slow_read_micros = after.slow_read_micros;
  options_.retention = after.retention;
  options_.scan_records = after.scan_records;
  if (!parsed_) {
    options_.slow = after.slow;
  }
}

bool HotPromotionTable::IsInstanceOf(const std::string& name) const {
  return name == kBlockBasedTableName() || BlockBasedTableFactory::IsInstanceOf(name);
}

// Gives RocksDB the options in force.
const void* HotPromotionTable::GetOptionsPtr(const std::string& name) const {
  const bool of_inner =
      inner_ != nullptr && (name == BlockBasedTableOptions::kName() || name == kBlockCacheOpts());
  const TableFactory* const inner = inner_.get();
  return of_inner ? inner->GetOptionsPtr(name) : BlockBasedTableFactory::GetOptionsPtr(name);
}

BlockBasedTableOptions* HotPromotionTable::OfBaseClass() const {
  const void* options = BlockBasedTableFactory::GetOptionsPtr(BlockBasedTableOptions::kName());
  return static_cast<BlockBasedTableOptions*>(const_cast<void*>(options));
}

// Copies the options of the inner factory to the base class.
void HotPromotionTable::CopyOfInner() const {
  if (inner_ != nullptr) {
    *OfBaseClass() = *BlockBasedOf(inner_.get());
  }
}

Status HotPromotionTable::PrepareOptions(const ConfigOptions& config) {
  if (inner_ == nullptr) {
    return BlockBasedTableFactory::PrepareOptions(config);
  }
  const Status s = inner_->PrepareOptions(config);
  CopyOfInner();
  return s;
}

// The base class asks the inner factory, too.
Status HotPromotionTable::ValidateOptions(const DBOptions& db,
                                          const ColumnFamilyOptions& family) const {
  Status s = Validate(Snapshot());
  if (s.ok() && inner_ != nullptr) {
    // Programs change what GetOptions() gave them until the database is opened.
    std::lock_guard<std::mutex> lock(mutex_);
    if (!SameBlockBased(*OfBaseClass(), *BlockBasedOf(inner_.get()))) {
      CopyOfInner();
    }
  }
  if (s.ok()) {
    s = BlockBasedTableFactory::ValidateOptions(db, family);
  }
  if (s.ok() && !options_.path.empty()) {
    const Status folder = Folder::Check(Folder::Kind::kTop, options_.path);
    s = folder.IsInvalidArgument() ? folder
                                   : s;  // other errors may pass, and are no reason not to open
  }
  if (s.ok()) {
    max_open_files_ = db.max_open_files;
    writes_ = true;  // DB::Open() asks; those that only read do not
  }
  return s;
}

std::string HotPromotionTable::GetPrintableOptions() const {
  const HotPromotionOptions now = Snapshot();
  const std::string table = inner_ == nullptr ? kBlockBasedTableName() : inner_->GetId();
  return BlockBasedTableFactory::GetPrintableOptions() + "  table: " + table +
         "\n  path: " + now.path + "\n  budget: " + std::to_string(now.budget) +
         "\n  slow: " + now.slow + "\n  promotion_cache: " + std::to_string(now.promotion_cache) +
         "\n  slow_read_micros: " + std::to_string(now.slow_read_micros) +
         "\n  retention: " + std::to_string(now.retention) +
         "\n  scan_records: " + std::to_string(now.scan_records) +
         "\n  ralt_bytes: " + std::to_string(now.ralt_bytes) +
         "\n  ralt_buffer_bytes: " + std::to_string(now.ralt_buffer_bytes) +
         "\n  direct_io: " + std::to_string(now.direct_io) +
         "\n  store_open_files: " + std::to_string(now.store_open_files) +
         "\n  metrics_interval: " + std::to_string(now.metrics_interval) +
         "\n  metrics_file: " + now.metrics_file + "\n";
}

// Tells any failure once. If the folder cannot be opened for a reason that may pass, the engine is
// there, without copies.
std::shared_ptr<Engine> HotPromotionTable::OpenEngine(Logger* logger, bool writes) const {
  if (options_.path.empty()) {
    return nullptr;
  }
  if (writes) {
    writes_ = true;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (!parsed_) {
    parsed_ = true;
    valid_ = Validate(options_);
    if (valid_.ok()) {
      valid_ = SlowFiles::Parse(options_.slow, &slow_);
    }
  }
  if (!opened_ && !writes_) {
    // One that another family or database of this process has opened.
    return valid_.ok() ? Engine::Find(options_.path) : nullptr;
  }
  if (!opened_) {
    opened_ = true;
    Status s = valid_;
    if (s.ok()) {
      HotPromotionOptions options = options_;
      options.store_open_files = StoreOpenFiles(options_, max_open_files_);
      engine_ = Engine::Get(options);
      s = engine_->GetStatus();
    }
    if (!s.ok()) {
      ROCKS_LOG_WARN(
          logger, "hot_promotion: path=%s: nothing is promoted%s: %s", options_.path.c_str(),
          engine_ == nullptr ? "" : " (it is tried again every few seconds)", s.ToString().c_str());
    }
  }
  if (engine_ != nullptr) {
    engine_->MaybeLog(logger);
  }
  return engine_;
}

Status HotPromotionTable::NewPlainReader(const ReadOptions& read_options,
                                         const TableReaderOptions& options,
                                         std::unique_ptr<RandomAccessFileReader>&& file,
                                         uint64_t file_size, std::unique_ptr<TableReader>* reader,
                                         bool prefetch) const {
  return inner_ == nullptr
             ? BlockBasedTableFactory::NewTableReader(read_options, options, std::move(file),
                                                      file_size, reader, prefetch)
             : inner_->NewTableReader(read_options, options, std::move(file), file_size, reader,
                                      prefetch);
}

TableBuilder* HotPromotionTable::NewPlainBuilder(const TableBuilderOptions& options,
                                                 WritableFileWriter* file) const {
  return inner_ == nullptr ? BlockBasedTableFactory::NewTableBuilder(options, file)
                           : inner_->NewTableBuilder(options, file);
}

Status HotPromotionTable::NewTableReader(const ReadOptions& read_options,
                                         const TableReaderOptions& options,
                                         std::unique_ptr<RandomAccessFileReader>&& file,
                                         uint64_t file_size, std::unique_ptr<TableReader>* reader,
                                         bool prefetch_index_and_filter_in_cache) const {
  const std::string path = file->file_name();
  const Temperature temperature = file->file()->GetTemperature();
  std::unique_ptr<TableReader> plain;
  const Status s = NewPlainReader(read_options, options, std::move(file), file_size, &plain,
                                  prefetch_index_and_filter_in_cache);
  if (!s.ok()) {
    return s;
  }
  // Tools that look at single files have no number for them.
  const bool plain_only = options.cur_file_num == 0 ||
                          options.internal_comparator.user_comparator()->timestamp_size() > 0;
  const auto engine = plain_only ? nullptr : OpenEngine(options.ioptions.logger, /*writes=*/false);
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
  const HotPromotionOptions now = Snapshot();
  file.scan_records = now.scan_records;
  file.slow_read_micros = now.slow_read_micros;
  file.statistics = options.ioptions.stats;
  file.has_temperature = temperature != Temperature::kUnknown;
  file.slow = slow_.IsSlow(path, temperature);
  file.has_range_deletions = properties->num_range_deletions > 0;
  // The row cache uses the replay log of GetContext, as we do to see values.
  file.may_capture = options.ioptions.row_cache == nullptr;
  file.lease = engine->catalog()->Lease(options.ioptions.fs);
  if (file.slow) {
    engine->catalog()->Add(file.id, file.space, path, *file.lease);
  }
  return std::make_unique<HotReader>(std::move(reader), engine, file);
}

TableBuilder* HotPromotionTable::NewTableBuilder(const TableBuilderOptions& options,
                                                 WritableFileWriter* file) const {
  const Comparator* comparator = options.internal_comparator.user_comparator();
  const bool plain_only = options.cur_file_num == 0 || comparator->timestamp_size() > 0;
  const bool writes = options.db_id != kSstFileWriterId;
  const auto engine = plain_only ? nullptr : OpenEngine(options.ioptions.logger, writes);
  if (engine == nullptr) {
    return NewPlainBuilder(options, file);
  }
  const Space space = SpaceOf(options.db_id, options.column_family_id);
  const bool keep = Snapshot().retention && IsSlow(file->file_name(), options.ioptions);
  const auto hot_records = std::make_shared<HotRecordCollector>(engine, comparator, space, keep,
                                                                engine->promotion_cache());
  // The builder makes its collectors when it is made. They see entries as they come into the SST,
  // whatever an inner factory's builder makes of them before.
  const InternalTblPropCollFactories factories =
      WithHotRecordCollector(options.internal_tbl_prop_coll_factories, hot_records);
  TableBuilderOptions with_collector(options);
  with_collector.internal_tbl_prop_coll_factories = &factories;
  std::unique_ptr<TableBuilder> builder(NewPlainBuilder(with_collector, file));
  return new HotBuilder(std::move(builder), engine, hot_records, space,
                        keep ? file->file_name() : "", options.ioptions.fs);
}

// Whether a file that is being written is slow. Only a reader is told the temperature.
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
    return Status::InvalidArgument(
        factory == nullptr ? "no table factory" : std::string("table factory ") + factory->Name(),
        "is not a HotPromotionTable");
  }
  const std::string& path = static_cast<const HotPromotionTable*>(factory)->path();
  *engine = Engine::Find(path);
  const Status s = *engine == nullptr ? Status::OK() : (*engine)->GetStatus();
  return *engine == nullptr || !(*engine)->IsOpen()
             ? Status::NotFound("HotPromotionTable: path=" + path,
                                "is not open in this process" + (s.ok() ? "" : ": " + s.ToString()))
             : Status::OK();
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
