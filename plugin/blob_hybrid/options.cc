// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/options.h"

#include <cmath>
#include <cstddef>

#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/names.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

using Options = BlobHybridOptions;

constexpr uint64_t kMostMetricsInterval = 24 * 60 * 60;  // seconds
constexpr char kMetricsEnd[] = ".prom";
constexpr double kMinSpaceAmplification = 1.1;
constexpr double kMinLogBudget = 0.01;
// See PrepareForBlobs().
constexpr int kFlushesOfLevel0 = 16;
constexpr int kMemtablesOfLevel1 = 4;

const std::unordered_map<std::string, MergeLevel>& MergeLevels() {
  static const std::unordered_map<std::string, MergeLevel> levels = {
      {"last", MergeLevel::kLast}, {"last-1", MergeLevel::kLastButOne}};
  return levels;
}

Status Invalid(const std::string& option, const std::string& reason) {
  return Status::InvalidArgument("BlobHybrid: " + option, reason);
}

// The least value of which the prefix is no larger share than `share`, together with the key.
uint64_t SizeFrom(double share, const Options& options) {
  const uint64_t prefix = options.prefix_size == 0 ? options.key_size : options.prefix_size;
  // The small number keeps 24 / 0.2 from being more than 120.
  const auto together =
      static_cast<uint64_t>(std::ceil(static_cast<double>(prefix) / share - 1e-6));
  return together > options.key_size ? together - options.key_size : 1;
}

Status ValidateMediumOptions(const Options& options) {
  // Written so that NaN fails, too.
  if (!(options.t_ml > 0 && options.t_ml < options.t_sm && options.t_sm < 1)) {
    return Invalid("t_sm=" + std::to_string(options.t_sm) + ";t_ml=" + std::to_string(options.t_ml),
                   "must be 0 < t_ml < t_sm < 1");
  }
  if (options.medium_value_size > 0 && options.key_size > 0) {
    return Invalid("medium_value_size and key_size", "only one of them can be given");
  }
  if (options.prefix_size > options.key_size) {
    return Invalid("prefix_size=" + std::to_string(options.prefix_size),
                   "must be at most key_size=" + std::to_string(options.key_size));
  }
  if (options.transient_log_budget != 0 &&
      !(options.transient_log_budget >= kMinLogBudget && options.transient_log_budget <= 1)) {
    return Invalid("transient_log_budget=" + std::to_string(options.transient_log_budget),
                   "must be 0, or at least " + std::to_string(kMinLogBudget) + ", and at most 1");
  }
  return Status::OK();
}

Status ValidateMediumFamily(const Options& options, const ColumnFamilyOptions& family) {
  if (ClassesOf(options).medium == 0) {
    return Status::OK();
  }
  if (!HasTable(family)) {
    return Invalid(
        "table_factory",
        "the line table_factory={id=BlobHybridTable} is missing, or its name is misspelt: there is "
        "a medium class");
  }
  const ValueClasses classes = ClassesOf(options);
  if (classes.large > 0 && family.min_blob_size != classes.large) {
    return Invalid("min_blob_size=" + std::to_string(family.min_blob_size),
                   "must be " + std::to_string(classes.large) + ", by key_size and t_ml");
  }
  if (family.min_blob_size <= classes.medium) {
    return Invalid("min_blob_size=" + std::to_string(family.min_blob_size),
                   "must be above medium_value_size=" + std::to_string(classes.medium));
  }
  if (family.blob_file_starting_level != 0) {
    return Invalid("blob_file_starting_level",
                   "must be 0: medium values are separated by flushes only");
  }
  return Status::OK();
}

// Checks what the job needs of levels: what it compacts to a level must be there then, and it
// compacts to any level.
Status ValidateLevels(const DBOptions& db, const ColumnFamilyOptions& family) {
  if (family.preclude_last_level_data_seconds > 0) {
    return Invalid("preclude_last_level_data_seconds",
                   "must be 0: the job could not get data to the last level; or have "
                   "max_space_amplification=0 and no medium class");
  }
  return AllowsIngestBehind(db, family)
             ? Invalid("allow_ingest_behind",
                       "must be false: the last level is closed to the job; or have "
                       "max_space_amplification=0 and no medium class")
             : Status::OK();
}

Status ValidateStyle(const Options& options, const DBOptions& db,
                     const ColumnFamilyOptions& family) {
  const CompactionStyle style = family.compaction_style;
  const bool has_job = options.max_space_amplification != 0 || ClassesOf(options).medium > 0;
  if (style == kCompactionStyleLevel) {
    return has_job ? ValidateLevels(db, family) : Status::OK();
  }
  if (style != kCompactionStyleUniversal) {
    return Invalid("compaction_style",
                   "must be kCompactionStyleLevel or kCompactionStyleUniversal");
  }
  return has_job
             ? Invalid("compaction_style",
                       "kCompactionStyleUniversal needs max_space_amplification=0 and no medium "
                       "class: the job and the transient log go by levels")
             : Status::OK();
}

// Aligns data blocks if RocksDB allows it: not with compression, nor with blocks of any size.
void AlignBlocks(ColumnFamilyOptions* family) {
  const auto& factory = family->table_factory;
  if (factory == nullptr || factory->Name() != std::string(TableFactory::kBlockBasedTableName())) {
    return;
  }
  BlockBasedTableOptions tables = *factory->GetOptions<BlockBasedTableOptions>();
  tables.block_align = true;
  std::shared_ptr<TableFactory> aligned(NewBlockBasedTableFactory(tables));
  if (aligned->ValidateOptions(DBOptions(), *family).ok()) {
    family->table_factory = std::move(aligned);
  }
}

}  // namespace

const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes() {
  static const std::unordered_map<std::string, OptionTypeInfo> types = {
      {"gc_garbage_ratio", {offsetof(Options, gc_garbage_ratio), OptionType::kDouble}},
      {"max_space_amplification",
       {offsetof(Options, max_space_amplification), OptionType::kDouble}},
      {"space_floor", {offsetof(Options, space_floor), OptionType::kUInt64T}},
      {"gc_bytes_per_second", {offsetof(Options, gc_bytes_per_second), OptionType::kUInt64T}},
      {"readahead_size", {offsetof(Options, readahead_size), OptionType::kUInt64T}},
      {"medium_value_size", {offsetof(Options, medium_value_size), OptionType::kUInt64T}},
      {"key_size", {offsetof(Options, key_size), OptionType::kUInt64T}},
      {"prefix_size", {offsetof(Options, prefix_size), OptionType::kUInt64T}},
      {"t_sm", {offsetof(Options, t_sm), OptionType::kDouble}},
      {"t_ml", {offsetof(Options, t_ml), OptionType::kDouble}},
      {"merge_level",
       OptionTypeInfo::Enum<MergeLevel>(offsetof(Options, merge_level), &MergeLevels())},
      {"metrics_interval", {offsetof(Options, metrics_interval), OptionType::kUInt64T}},
      {"metrics_file", {offsetof(Options, metrics_file), OptionType::kString}},
      {"transient_log_budget", {offsetof(Options, transient_log_budget), OptionType::kDouble}},
      {"user_filter_factory", OptionTypeInfo::AsCustomSharedPtr<CompactionFilterFactory>(
                                  offsetof(Options, user_filter_factory),
                                  OptionVerificationType::kByName, OptionTypeFlags::kAllowNull)},
  };
  return types;
}

Status Validate(const Options& options) {
  // Written so that NaN fails, too.
  if (!(options.gc_garbage_ratio >= 0 && options.gc_garbage_ratio <= 1)) {
    return Invalid("gc_garbage_ratio=" + std::to_string(options.gc_garbage_ratio),
                   "must be between 0 and 1");
  }
  if (options.max_space_amplification != 0 &&
      !(options.max_space_amplification >= kMinSpaceAmplification)) {
    return Invalid("max_space_amplification=" + std::to_string(options.max_space_amplification),
                   "must be 0, or at least " + std::to_string(kMinSpaceAmplification));
  }
  if (options.user_filter != nullptr && options.user_filter_factory != nullptr) {
    return Invalid("user_filter and user_filter_factory", "only one of them can be given");
  }
  if (options.metrics_interval > kMostMetricsInterval) {
    return Invalid("metrics_interval=" + std::to_string(options.metrics_interval),
                   "must be at most 86400 seconds");
  }
  const std::string& metrics = options.metrics_file;
  if (!metrics.empty() && (metrics[0] != '/' || !Slice(metrics).ends_with(kMetricsEnd))) {
    return Invalid("metrics_file=" + metrics, "must be absolute, and end in .prom");
  }
  return ValidateMediumOptions(options);
}

ValueClasses ClassesOf(const Options& options) {
  if (options.key_size == 0) {
    return {options.medium_value_size, 0};
  }
  return {SizeFrom(options.t_sm, options), SizeFrom(options.t_ml, options)};
}

void PrepareForBlobs(ColumnFamilyOptions* family) {
  family->compaction_pri = kRoundRobin;
  family->level0_file_num_compaction_trigger = kFlushesOfLevel0;
  family->level0_slowdown_writes_trigger = 2 * kFlushesOfLevel0;
  family->level0_stop_writes_trigger = 3 * kFlushesOfLevel0;
  family->max_bytes_for_level_base = kMemtablesOfLevel1 * family->write_buffer_size;
  AlignBlocks(family);
}

void PrepareForMediumValues(uint64_t key_size, BlobHybridOptions* hybrid,
                            ColumnFamilyOptions* family) {
  hybrid->medium_value_size = 0;
  hybrid->key_size = key_size;
  hybrid->merge_level = MergeLevel::kLastButOne;
  hybrid->transient_log_budget = 0.5;
  PrepareForBlobs(family);
}

// Another factory may stand in front of it, as HotPromotionTable does.
bool HasTable(const ColumnFamilyOptions& family) {
  const Customizable* factory = family.table_factory.get();
  while (factory != nullptr && !factory->IsInstanceOf(kTableName)) {
    factory = factory->Inner();
  }
  return factory != nullptr;
}

bool HasListener(const std::vector<std::shared_ptr<EventListener>>& listeners) {
  for (const auto& listener : listeners) {
    if (listener != nullptr && listener->IsInstanceOf(kListenerName)) {
      return true;
    }
  }
  return false;
}

Status ValidateFamily(const Options& options, const DBOptions& db,
                      const ColumnFamilyOptions& family) {
  if (!HasListener(db.listeners)) {
    return Invalid(
        "listeners",
        "the line listeners={id=BlobHybridListener} is missing, or its name is misspelt");
  }
  if (!family.enable_blob_files) {
    return Invalid("enable_blob_files", "the line enable_blob_files=true is missing");
  }
  if (family.enable_blob_garbage_collection) {
    return Invalid("enable_blob_garbage_collection",
                   "must be false: it would move live values by their age in addition");
  }
  if (WritesBlobsDirectly(family)) {
    return Invalid("enable_blob_direct_write",
                   "must be false: medium values are separated by flushes, and the space is "
                   "counted of blob files that a flush has finished");
  }
  // What a worker returns does not name the oldest blob file of an SST, nor new blob files.
  if (db.compaction_service != nullptr) {
    return Invalid("compaction_service",
                   "would lose values: RocksDB forgets the blob files of what a worker compacts");
  }
  if (family.compaction_filter != nullptr) {
    return Invalid("compaction_filter",
                   "would be used in the place of BlobHybrid: give it as user_filter");
  }
  Status s = ValidateStyle(options, db, family);
  if (!s.ok()) {
    return s;
  }
  if (family.comparator != nullptr && family.comparator->timestamp_size() > 0) {
    return Invalid("comparator",
                   "has user-defined timestamps: RocksDB cannot read their keys from blob files");
  }
  return ValidateMediumFamily(options, family);
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
