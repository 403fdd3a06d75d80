// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What an SST says about the values that it refers to; see FORMAT.md.

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "db/table_properties_collector.h"
#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/counters.h"
#include "plugin/blob_hybrid/sketch.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

extern const char kMediumValuesProperty[];
extern const char kMediumBytesProperty[];
extern const char kReferencesProperty[];
extern const char kSketchProperty[];
extern const char kEntitiesProperty[];

// What is read is bounded by these; beyond, an SST does not say.
constexpr size_t kMostReferences = 2048;  // of an SST, each with kMostBytes

// Numbers of the blob files that an SST refers to, ascending, with the bytes it refers to: of the
// values with their headers and keys. Not a map: an SST may refer to most blob files, and all SSTs'
// are kept.
using References = std::vector<std::pair<uint64_t, uint64_t>>;

// Finds the bytes of a blob file. 0: the SST does not refer to the blob file.
uint64_t BytesIn(const References& references, uint64_t blob);

// The factories of the database and one more, whose collectors count references; values below
// `large` bytes are medium. Values from `separated` on should have become references: those that
// did not are counted, too. 0: none.
InternalTblPropCollFactories WithClassCounter(const InternalTblPropCollFactories* others,
                                              uint64_t large, uint64_t separated,
                                              const std::shared_ptr<Counters>& counters);

// Bytes in blob files of the medium values that the SST refers to. 0 if it does not say.
uint64_t MediumBytesOf(const UserCollectedProperties& properties);

// Tells whether the references are all that it refers to: an SST with wide-column entities may have
// more.
bool SaysAll(const UserCollectedProperties& properties);

// The sample of its keys. Null if it does not say.
SketchPtr SketchOf(const UserCollectedProperties& properties);

// What the SST refers to. Null if it does not say.
std::shared_ptr<const References> ReferencesOf(const UserCollectedProperties& properties);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
