// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <memory>
#include <string>

#include "plugin/tiered_env/fs/file_system.h"
#include "plugin/tiered_env/fs/listener.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/object_registry.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

const std::string kScheme = "tiered://";

int Register(ObjectLibrary& library) {
  library.AddFactory<FileSystem>(
      ObjectLibrary::PatternEntry(TieredFileSystem::kClassName()),
      [](const std::string& /*uri*/, std::unique_ptr<FileSystem>* guard, std::string* /*error*/) {
        *guard = std::make_unique<TieredFileSystem>(nullptr);
        return guard->get();
      });
  // The upper levels in one directory, the others at home.
  library.AddFactory<FileSystem>(
      ObjectLibrary::PatternEntry("tiered", /*optional=*/false).AddSeparator("://"),
      [](const std::string& uri, std::unique_ptr<FileSystem>* guard, std::string* /*error*/) {
        auto* fs = new TieredFileSystem(nullptr);
        auto* options = fs->GetOptions<TieredOptions>();
        options->tiers = "fast={path=" + uri.substr(kScheme.size()) + "}";
        options->placement = "0..base=fast";
        guard->reset(fs);
        return guard->get();
      });
  library.AddFactory<EventListener>(
      ObjectLibrary::PatternEntry(TieredEnvListener::kClassName()),
      [](const std::string& /*uri*/, std::unique_ptr<EventListener>* guard,
         std::string* /*error*/) {
        *guard = std::make_unique<TieredEnvListener>();
        return guard->get();
      });
  size_t types;
  return static_cast<int>(library.GetFactoryCount(&types));
}

}  // namespace

Status NewTieredFileSystem(const TieredOptions& options, const std::shared_ptr<FileSystem>& target,
                           std::shared_ptr<FileSystem>* result) {
  auto fs = std::make_shared<TieredFileSystem>(target);
  *fs->GetOptions<TieredOptions>() = options;
  Status s = fs->PrepareOptions(ConfigOptions());
  if (s.ok()) {
    *result = std::move(fs);
  }
  return s;
}

std::shared_ptr<EventListener> NewTieredEnvListener() {
  return std::make_shared<TieredEnvListener>();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE

extern "C" int register_tiered_env(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                   const std::string& /*arg*/) {
  return ROCKSDB_NAMESPACE::tiered_env::Register(library);
}
