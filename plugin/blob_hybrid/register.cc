// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <memory>
#include <string>

#include "plugin/blob_hybrid/factory.h"
#include "plugin/blob_hybrid/listener.h"
#include "plugin/blob_hybrid/options.h"
#include "rocksdb/utilities/object_registry.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

int Register(ObjectLibrary& library) {
  library.AddFactory<CompactionFilterFactory>(
      ObjectLibrary::PatternEntry(BlobHybridFactory::kClassName()),
      [](const std::string& /*uri*/, std::unique_ptr<CompactionFilterFactory>* guard,
         std::string* /*error*/) {
        guard->reset(new BlobHybridFactory());
        return guard->get();
      });
  library.AddFactory<EventListener>(
      ObjectLibrary::PatternEntry(BlobHybridListener::kClassName()),
      [](const std::string& /*uri*/, std::unique_ptr<EventListener>* guard,
         std::string* /*error*/) {
        guard->reset(new BlobHybridListener());
        return guard->get();
      });
  size_t types;
  return static_cast<int>(library.GetFactoryCount(&types));
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
    if (!HasListener(new_db)) {
      new_db.listeners.push_back(NewBlobHybridListener());
    }
    new_family.enable_blob_files = true;
    new_family.enable_blob_garbage_collection = false;
    new_family.compaction_filter_factory = std::move(factory);
    s = ValidateFamily(new_db, new_family);
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
