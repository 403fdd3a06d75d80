// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/table.h"

#include <algorithm>

#include "plugin/blob_hybrid/compat.h"
#include "plugin/blob_hybrid/factory.h"
#include "plugin/blob_hybrid/options.h"
#include "plugin/blob_hybrid/properties.h"
#include "table/block_based/block_based_table_builder.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// Null if the family's filter factory is another one, or nothing would be merged for lack of a listener: RocksDB does not
// validate the options of families that are made when the database is open.
const BlobHybridFactory* FactoryOf(const ImmutableOptions& options) {
  const auto& factory = options.compaction_filter_factory;
  return factory != nullptr && factory->IsInstanceOf(BlobHybridFactory::kClassName()) &&
                 HasListener(options.listeners)
             ? static_cast<const BlobHybridFactory*>(factory.get())
             : nullptr;
}

// The builder of a flush's table: as long as it lives, values from `medium` bytes on go to blob files. Compactions
// separate large values only, so that what they have merged stays in SSTs.
class FlushBuilder : public BlockBasedTableBuilder {
 public:
  FlushBuilder(const BlockBasedTableOptions& table_options, const TableBuilderOptions& options,
               WritableFileWriter* file, uint64_t medium)
      : BlockBasedTableBuilder(table_options, options, file),
        min_blob_size_(MinBlobSizeOfFlush(options)),
        family_(*min_blob_size_) {
    *min_blob_size_ = std::min(medium, family_);
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
  const BlobHybridFactory* hybrid = FactoryOf(options.ioptions);
  if (hybrid == nullptr) {
    return BlockBasedTableFactory::NewTableBuilder(options, file);
  }
  ValueClasses classes = ClassesOf(hybrid->options());
  classes.large = classes.medium == 0 ? 0 : options.moptions.min_blob_size;
  const bool flush = options.reason == TableFileCreationReason::kFlush;
  // The builder makes its collectors when it is made.
  const InternalTblPropCollFactories factories = WithClassCounter(
      options.internal_tbl_prop_coll_factories, classes, flush, hybrid->counters());
  TableBuilderOptions counted(options);
  counted.internal_tbl_prop_coll_factories = &factories;
  if (flush && classes.medium > 0) {
    return new FlushBuilder(*GetOptions<BlockBasedTableOptions>(), counted, file, classes.medium);
  }
  return BlockBasedTableFactory::NewTableBuilder(counted, file);
}

Status BlobHybridTable::ValidateOptions(const DBOptions& db,
                                        const ColumnFamilyOptions& family) const {
  const auto& factory = family.compaction_filter_factory;
  if (factory == nullptr || !factory->IsInstanceOf(BlobHybridFactory::kClassName())) {
    return Status::InvalidArgument(
        "BlobHybrid: compaction_filter_factory",
        "the line compaction_filter_factory={id=BlobHybrid;...} is missing");
  }
  return BlockBasedTableFactory::ValidateOptions(db, family);
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
