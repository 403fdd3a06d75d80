// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What an SST says about the medium values that it refers to; see FORMAT.md.

#pragma once

#include <cstdint>
#include <memory>

#include "db/table_properties_collector.h"
#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/counters.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

extern const char kMediumValuesProperty[];
extern const char kMediumBytesProperty[];

// The factories of the database and one more, whose collectors count references. In flushes they also count
// values that should have become references and did not.
InternalTblPropCollFactories WithClassCounter(const InternalTblPropCollFactories* others,
                                              const ValueClasses& classes, bool flush,
                                              const std::shared_ptr<Counters>& counters);

// Bytes in blob files of the medium values that the SST refers to. 0 if it does not say.
uint64_t MediumBytesOf(const UserCollectedProperties& properties);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
