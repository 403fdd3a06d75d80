// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/settings.h"

#include "plugin/blob_hybrid/names.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

std::shared_ptr<const Settings> SettingsOf(
    const std::shared_ptr<CompactionFilterFactory>& factory) {
  if (factory == nullptr || !factory->IsInstanceOf(kFactoryName)) {
    return nullptr;
  }
  return {factory, factory->GetOptions<Settings>()};
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
