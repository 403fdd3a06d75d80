// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/counters.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Makes the filters of compactions: the user's own, behind one that moves values if there is any
// blob file with much garbage. Thread-safe once it is configured.
class BlobHybridFactory : public CompactionFilterFactory {
 public:
  explicit BlobHybridFactory(const BlobHybridOptions& options = BlobHybridOptions());

  static const char* kClassName() { return "BlobHybrid"; }
  const char* Name() const override { return kClassName(); }

  Status PrepareOptions(const ConfigOptions& config) override;
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& family) const override;

  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override;
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override;

  const BlobHybridOptions& options() const { return options_; }
  const std::shared_ptr<Counters>& counters() const { return counters_; }

 private:
  BlobHybridOptions options_;
  const std::shared_ptr<Counters> counters_;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
