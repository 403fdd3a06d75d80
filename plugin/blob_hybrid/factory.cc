// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/factory.h"

#include <string>
#include <utility>

#include "plugin/blob_hybrid/databases.h"
#include "plugin/blob_hybrid/filter.h"
#include "plugin/blob_hybrid/options.h"
#include "plugin/blob_hybrid/subcompaction.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

BlobHybridFactory::BlobHybridFactory(const BlobHybridOptions& options)
    : options_(options), counters_(std::make_shared<Counters>()) {
  RegisterOptions(&options_, &OptionTypes());
}

Status BlobHybridFactory::PrepareOptions(const ConfigOptions& config) {
  const Status s = Validate(options_);
  return s.ok() ? CompactionFilterFactory::PrepareOptions(config) : s;
}

Status BlobHybridFactory::ValidateOptions(const DBOptions& db,
                                          const ColumnFamilyOptions& family) const {
  Status s = Validate(options_);
  if (s.ok()) {
    s = ValidateFamily(options_, db, family);
  }
  return s.ok() ? CompactionFilterFactory::ValidateOptions(db, family) : s;
}

bool BlobHybridFactory::ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
  return reason == TableFileCreationReason::kCompaction ||
         (options_.user_filter_factory != nullptr &&
          options_.user_filter_factory->ShouldFilterTableFileCreation(reason));
}

std::unique_ptr<CompactionFilter> BlobHybridFactory::CreateCompactionFilter(
    const CompactionFilter::Context& context) {
  std::unique_ptr<CompactionFilter> user;
  if (options_.user_filter_factory != nullptr &&
      options_.user_filter_factory->ShouldFilterTableFileCreation(context.reason)) {
    user = options_.user_filter_factory->CreateCompactionFilter(context);
  }
  if (context.reason != TableFileCreationReason::kCompaction) {
    return user;  // memtables have no references
  }
  ForgetOutputLevel();
  BlobFiles files;
  if (!Databases::Instance()->FindBlobFiles(context, options_, &files)) {
    files = BlobFiles();
    if (options_.user_filter == nullptr) {
      return user;
    }
  }
  return std::make_unique<BlobHybridFilter>(std::move(files), options_.user_filter, std::move(user),
                                            counters_);
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
