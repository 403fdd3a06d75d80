// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <memory>
#include <string>

#include "plugin/blob_hybrid/factory.h"
#include "plugin/blob_hybrid/listener.h"
#include "plugin/blob_hybrid/options.h"
#include "plugin/blob_hybrid/table.h"
#include "rocksdb/utilities/object_registry.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

int Register(ObjectLibrary& library) {
  library.AddFactory<CompactionFilterFactory>(
      ObjectLibrary::PatternEntry(BlobHybridFactory::kClassName()),
      [](const std::string& /*uri*/, std::unique_ptr<CompactionFilterFactory>* guard,
         std::string* /*error*/) {
        *guard = std::make_unique<BlobHybridFactory>();
        return guard->get();
      });
  // RocksDB writes several listeners to an OPTIONS file as "{A:B}", and reads that as the name of
  // one.
  library.AddFactory<EventListener>(
      ObjectLibrary::PatternEntry(BlobHybridListener::kClassName()).AddSeparator(":"),
      [](const std::string& /*uri*/, std::unique_ptr<EventListener>* guard,
         std::string* /*error*/) {
        *guard = std::make_unique<BlobHybridListener>();
        return guard->get();
      });
  library.AddFactory<TableFactory>(
      ObjectLibrary::PatternEntry(BlobHybridTable::kClassName()),
      [](const std::string& /*uri*/, std::unique_ptr<TableFactory>* guard, std::string* /*error*/) {
        *guard = std::make_unique<BlobHybridTable>();
        return guard->get();
      });
  size_t types;
  return static_cast<int>(library.GetFactoryCount(&types));
}

// Tables that tell more than RocksDB's, unless the family has them already. InvalidArgument if the
// family's are of another kind, and `required`.
Status UseTable(bool required, ColumnFamilyOptions* family) {
  if (HasTable(*family)) {
    return Status::OK();
  }
  const BlockBasedTableOptions* tables =
      family->table_factory == nullptr
          ? nullptr
          : family->table_factory->GetOptions<BlockBasedTableOptions>();
  const std::string name = tables == nullptr ? "" : family->table_factory->Name();
  if (name != TableFactory::kBlockBasedTableName()) {
    return required ? Status::InvalidArgument("BlobHybrid: table_factory",
                                              "must be a BlockBasedTable: there is a medium class")
                    : Status::OK();
  }
  family->table_factory = NewBlobHybridTableFactory(*tables);
  return Status::OK();
}

}  // namespace

Status NewBlobHybrid(const BlobHybridOptions& options,
                     std::shared_ptr<CompactionFilterFactory>* result) {
  const Status s = Validate(options);
  if (s.ok()) {
    *result = std::make_shared<BlobHybridFactory>(options);
  }
  return s;
}

std::shared_ptr<EventListener> NewBlobHybridListener() {
  return std::make_shared<BlobHybridListener>();
}

std::shared_ptr<TableFactory> NewBlobHybridTableFactory(const BlockBasedTableOptions& options) {
  return std::make_shared<BlobHybridTable>(options);
}

Status UseBlobHybrid(const BlobHybridOptions& options, DBOptions* db, ColumnFamilyOptions* family) {
  if (family->compaction_filter_factory != nullptr) {
    return Status::InvalidArgument("BlobHybrid: compaction_filter_factory",
                                   "is set already: give it as user_filter_factory");
  }
  std::shared_ptr<CompactionFilterFactory> factory;
  DBOptions new_db = *db;
  ColumnFamilyOptions new_family = *family;
  Status s = NewBlobHybrid(options, &factory);
  if (s.ok()) {
    if (!HasListener(new_db.listeners)) {
      new_db.listeners.push_back(NewBlobHybridListener());
    }
    new_family.enable_blob_files = true;
    new_family.enable_blob_garbage_collection = false;
    new_family.compaction_filter_factory = std::move(factory);
    const ValueClasses classes = ClassesOf(options);
    if (classes.large > 0) {
      new_family.min_blob_size = classes.large;
    }
    s = UseTable(/*required=*/classes.medium > 0, &new_family);
  }
  if (s.ok()) {
    s = ValidateFamily(options, new_db, new_family);
  }
  if (s.ok()) {
    *db = std::move(new_db);
    *family = std::move(new_family);
  }
  return s;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE

extern "C" int register_blob_hybrid(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                    const std::string& /*arg*/) {
  return ROCKSDB_NAMESPACE::blob_hybrid::Register(library);
}
