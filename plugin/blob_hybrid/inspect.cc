// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <memory>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/compat.h"
#include "rocksdb/utilities/options_util.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

Status InspectBlobHybrid(const std::string& path,
                         std::map<std::string, BlobHybridSpace>* families) {
  families->clear();
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
  for (ColumnFamilyHandle* handle : handles) {
    BlobHybridStats stats;
    if (s.ok()) {
      s = GetBlobHybridStats(db.get(), handle, &stats);
      (*families)[handle->GetName()] = stats;
    }
    const Status destroyed = db->DestroyColumnFamilyHandle(handle);
    s = s.ok() ? destroyed : s;
  }
  return s;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
