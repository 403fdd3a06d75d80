// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/names.h"
#include "plugin/blob_hybrid/settings.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Makes the filters of compactions: the user's own, behind one that moves values if there is any
// blob file with much garbage. RocksDB asks for one when a compaction begins. Owns the family's
// Settings. Thread-safe once it is configured.
class BlobHybridFactory : public CompactionFilterFactory {
 public:
  explicit BlobHybridFactory(const BlobHybridOptions& options = BlobHybridOptions());

  static const char* kClassName() { return kFactoryName; }
  const char* Name() const override { return kClassName(); }

  Status PrepareOptions(const ConfigOptions& config) override;
  // Called for each option that is set: refused while an open family has the factory.
  Status ParseOption(const ConfigOptions& config, const OptionTypeInfo& info,
                     const std::string& name, const std::string& value, void* address) override;
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& family) const override;

  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override;
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override;

 private:
  Settings settings_;  // constant once they are configured
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
