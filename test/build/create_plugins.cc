// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// create_plugins NAME...: creates an object of each named plugin from a string, as --..._uri flags
// and OPTIONS files do. Uses nothing but RocksDB's public headers: what it shows is that a
// librocksdb, however it was built, has the plugins in it and registered.

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/listener.h"
#include "rocksdb/options.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/status.h"
#include "rocksdb/table.h"

namespace {

using ROCKSDB_NAMESPACE::CompactionFilterFactory;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::EventListener;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::SecondaryCache;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::TableFactory;

template <typename T>
Status Create(const std::string& uri, const char* class_name) {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  std::shared_ptr<T> object;
  Status s = T::CreateFromString(config, uri, &object);
  if (s.ok() && (object == nullptr || strcmp(object->Name(), class_name) != 0)) {
    s = Status::NotFound(uri, "did not make a " + std::string(class_name));
  }
  return s;
}

Status CreatePlugin(const std::string& plugin) {
  if (plugin == "secondary_cache_2q") {
    return Create<SecondaryCache>("id=TwoQSecondaryCache;capacity=1M", "TwoQSecondaryCache");
  }
  if (plugin == "raw_wal_fs") {  // the device is only made when it is used
    return Create<FileSystem>("id=RawWalFileSystem;device=/no-such-device;size=64M",
                              "RawWalFileSystem");
  }
  if (plugin == "tiered_env") {  // the tier is only looked for when a database is opened
    return Create<FileSystem>(
        "id=TieredFileSystem;tiers={fast={path=/"
        "no-such-directory;budget=1G}};placement={0..1=fast}",
        "TieredFileSystem");
  }
  if (plugin == "hot_promotion") {  // the directory is only made with the first SST
    return Create<TableFactory>(
        "id=HotPromotionTable;path=/no-such-directory;budget=1G;slow=/slow;block_size=8K",
        "HotPromotionTable");
  }
  if (plugin == "blob_hybrid") {
    Status s = Create<CompactionFilterFactory>(
        "id=BlobHybrid;gc_garbage_ratio=0.5;max_space_amplification=1.5", "BlobHybrid");
    if (s.ok()) {
      s = Create<TableFactory>("id=BlobHybridTable;block_size=8K", "BlobHybridTable");
    }
    return s.ok() ? Create<EventListener>("id=BlobHybridListener", "BlobHybridListener") : s;
  }
  if (plugin == "rocktier_env") {  // over a FileSystem that each RocksDB has
    const std::string env = "id=RocktierEnv;file_system={id=ChrootFS;chroot_dir=/}";
    DBOptions options;
    Status s = GetDBOptionsFromString(ConfigOptions(), options, "env={" + env + "}", &options);
    if (s.ok() && strcmp(options.env->Name(), "RocktierEnv") != 0) {
      s = Status::NotFound(env, "did not make a RocktierEnv");
    }
    return s;
  }
  return Status::InvalidArgument("create_plugins does not know the plugin", plugin);
}

}  // namespace

int main(int argc, char** argv) {
  int failures = 0;
  for (int i = 1; i < argc; ++i) {
    Status s = CreatePlugin(argv[i]);
    printf("%s: %s\n", argv[i], s.ToString().c_str());
    failures += s.ok() ? 0 : 1;
  }
  return failures == 0 ? 0 : 1;
}
