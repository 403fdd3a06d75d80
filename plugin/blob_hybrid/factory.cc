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

BlobHybridFactory::BlobHybridFactory(const BlobHybridOptions& options) : settings_{options} {
  RegisterOptions(&settings_.options, &OptionTypes());
  RegisterOptions(&settings_, nullptr);  // for SettingsOf()
}

Status BlobHybridFactory::PrepareOptions(const ConfigOptions& config) {
  const Status s = Validate(settings_.options);
  return s.ok() ? CompactionFilterFactory::PrepareOptions(config) : s;
}

Status BlobHybridFactory::ParseOption(const ConfigOptions& config, const OptionTypeInfo& info,
                                      const std::string& name, const std::string& value,
                                      void* address) {
  return settings_.families > 0
             ? Status::InvalidArgument("BlobHybrid: " + name + "=" + value,
                                       "cannot be changed while a database is open with it")
             : CompactionFilterFactory::ParseOption(config, info, name, value, address);
}

Status BlobHybridFactory::ValidateOptions(const DBOptions& db,
                                          const ColumnFamilyOptions& family) const {
  Status s = Validate(settings_.options);
  const auto& factory = family.compaction_filter_factory;
  if (s.ok() && factory != nullptr && SettingsOf(factory) == nullptr) {
    // It would not be found, and a user's filter might not be asked.
    s = Status::InvalidArgument(
        "BlobHybrid: compaction_filter_factory",
        "must be BlobHybrid itself: it does nothing behind " + std::string(factory->Name()));
  }
  if (s.ok()) {
    s = ValidateFamily(settings_.options, db, family);
  }
  return s.ok() ? CompactionFilterFactory::ValidateOptions(db, family) : s;
}

bool BlobHybridFactory::ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
  return reason == TableFileCreationReason::kCompaction ||
         (settings_.options.user_filter_factory != nullptr &&
          settings_.options.user_filter_factory->ShouldFilterTableFileCreation(reason));
}

std::unique_ptr<CompactionFilter> BlobHybridFactory::CreateCompactionFilter(
    const CompactionFilter::Context& context) {
  std::unique_ptr<CompactionFilter> user;
  if (settings_.options.user_filter_factory != nullptr &&
      settings_.options.user_filter_factory->ShouldFilterTableFileCreation(context.reason)) {
    user = settings_.options.user_filter_factory->CreateCompactionFilter(context);
  }
  if (context.reason != TableFileCreationReason::kCompaction) {
    return user;  // memtables have no references
  }
  ForgetCompaction();
  BlobFiles files;
  if (!Databases::Instance()->FindBlobFiles(context, settings_.options, &files)) {
    files = BlobFiles();
    if (settings_.options.user_filter == nullptr) {
      return user;
    }
  }
  return std::make_unique<BlobHybridFilter>(std::move(files), settings_.options.user_filter,
                                            std::move(user), settings_.counters);
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
