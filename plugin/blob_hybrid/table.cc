// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/table.h"

#include <algorithm>

#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/databases.h"
#include "plugin/blob_hybrid/options.h"
#include "plugin/blob_hybrid/properties.h"
#include "plugin/blob_hybrid/settings.h"
#include "table/block_based/block_based_table_builder.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// The family's settings. Null if its filter factory is another one, or nothing would be merged for
// lack of a listener: RocksDB does not validate the options of families that are made when the
// database is open.
std::shared_ptr<const Settings> SettingsIfHeard(const ImmutableOptions& options) {
  return HasListener(options.listeners) ? SettingsOf(options.compaction_filter_factory) : nullptr;
}

// The size from which on values go to blob files in a flush. 0: this is no flush, or there is no
// medium class.
uint64_t SeparatedBy(const TableBuilderOptions& options, const ValueClasses& classes,
                     Counters* counters) {
  if (options.reason != TableFileCreationReason::kFlush || classes.medium == 0) {
    return 0;
  }
  const bool crowded = Databases::Instance()->IsCrowdedFamily(
      options.ioptions.env, options.ioptions.cf_paths.front().path, options.column_family_id);
  counters->crowded_flushes += crowded ? 1 : 0;
  return crowded ? classes.large : std::min(classes.medium, classes.large);
}

// The builder of a flush's table: as long as it lives, values from `separated` bytes on go to blob
// files. Compactions separate large values only, so that what they have merged stays in SSTs.
class FlushBuilder : public BlockBasedTableBuilder {
 public:
  FlushBuilder(const BlockBasedTableOptions& table_options, const TableBuilderOptions& options,
               WritableFileWriter* file, uint64_t separated)
      : BlockBasedTableBuilder(table_options, options, file),
        min_blob_size_(MinBlobSizeOfFlush(options)),
        family_(*min_blob_size_) {
    *min_blob_size_ = separated;
  }
  // RocksDB goes on to use these options for other things.
  ~FlushBuilder() override { *min_blob_size_ = family_; }

 private:
  uint64_t* const min_blob_size_;
  const uint64_t family_;
};

}  // namespace

bool BlobHybridTable::IsInstanceOf(const std::string& name) const {
  return name == kBlockBasedTableName() || BlockBasedTableFactory::IsInstanceOf(name);
}

TableBuilder* BlobHybridTable::NewTableBuilder(const TableBuilderOptions& options,
                                               WritableFileWriter* file) const {
  const auto settings = SettingsIfHeard(options.ioptions);
  if (settings == nullptr) {
    return BlockBasedTableFactory::NewTableBuilder(options, file);
  }
  const ValueClasses classes{ClassesOf(settings->options).medium, options.moptions.min_blob_size};
  const uint64_t separated = SeparatedBy(options, classes, settings->counters.get());
  // The builder makes its collectors when it is made.
  const InternalTblPropCollFactories factories =
      WithClassCounter(options.internal_tbl_prop_coll_factories,
                       classes.medium == 0 ? 0 : classes.large, separated, settings->counters);
  TableBuilderOptions counted(options);
  counted.internal_tbl_prop_coll_factories = &factories;
  if (separated > 0) {
    return new FlushBuilder(*GetOptions<BlockBasedTableOptions>(), counted, file, separated);
  }
  return BlockBasedTableFactory::NewTableBuilder(counted, file);
}

Status BlobHybridTable::ValidateOptions(const DBOptions& db,
                                        const ColumnFamilyOptions& family) const {
  if (SettingsOf(family.compaction_filter_factory) == nullptr) {
    return Status::InvalidArgument("BlobHybrid: compaction_filter_factory",
                                   "the line compaction_filter_factory={id=BlobHybrid;...} is "
                                   "missing, or its name is misspelt");
  }
  return BlockBasedTableFactory::ValidateOptions(db, family);
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
