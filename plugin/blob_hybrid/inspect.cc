// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/inspect.h"

#include <memory>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/compat.h"
#include "rocksdb/utilities/options_util.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

Status LookAtFamilies(const std::string& path,
                      const std::function<Status(const Options&, DB*, ColumnFamilyHandle*)>& look) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> descriptors;
  Status s = LoadLatestOptions(ConfigOptions(), path, &options, &descriptors);
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  if (s.ok()) {
    s = OpenInto(&db, [&](auto* result) {
      return DB::OpenForReadOnly(options, path, descriptors, &handles, result);
    });
  }
  for (size_t i = 0; i < handles.size(); i++) {
    if (s.ok()) {
      s = look(Options(options, descriptors[i].options), db.get(), handles[i]);
    }
    const Status destroyed = db->DestroyColumnFamilyHandle(handles[i]);
    s = s.ok() ? destroyed : s;
  }
  return s;
}

Status InspectBlobHybrid(const std::string& path,
                         std::map<std::string, BlobHybridSpace>* families) {
  families->clear();
  return LookAtFamilies(path, [&](const Options&, DB* db, ColumnFamilyHandle* handle) {
    BlobHybridStats stats;
    const Status s = GetBlobHybridStats(db, handle, &stats);
    (*families)[handle->GetName()] = stats;
    return s;
  });
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
