// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <memory>
#include <string>

#include "plugin/raw_wal_fs/fs.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/object_registry.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

const std::string kScheme = "raw_wal://";

int Register(ObjectLibrary& library) {
  library.AddFactory<FileSystem>(
      ObjectLibrary::PatternEntry(RawWalFileSystem::kClassName()),
      [](const std::string& /*uri*/, std::unique_ptr<FileSystem>* guard, std::string* /*error*/) {
        *guard = std::make_unique<RawWalFileSystem>(nullptr);
        return guard->get();
      });
  library.AddFactory<FileSystem>(
      ObjectLibrary::PatternEntry("raw_wal", /*optional=*/false).AddSeparator("://"),
      [](const std::string& uri, std::unique_ptr<FileSystem>* guard, std::string* /*error*/) {
        auto* fs = new RawWalFileSystem(nullptr);
        fs->GetOptions<RawWalOptions>()->device = uri.substr(kScheme.size());
        guard->reset(fs);
        return guard->get();
      });
  size_t types;
  return static_cast<int>(library.GetFactoryCount(&types));
}

}  // namespace

Status NewRawWalFileSystem(const RawWalOptions& options, const std::shared_ptr<FileSystem>& target,
                           std::shared_ptr<FileSystem>* result) {
  auto fs = std::make_shared<RawWalFileSystem>(target);
  *fs->GetOptions<RawWalOptions>() = options;
  Status s = fs->PrepareOptions(ConfigOptions());
  if (s.ok()) {
    *result = std::move(fs);
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE

extern "C" int register_raw_wal_fs(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                   const std::string& /*arg*/) {
  return ROCKSDB_NAMESPACE::raw_wal_fs::Register(library);
}
