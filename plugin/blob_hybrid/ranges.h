// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What range deletions hide: by the bounds of older SSTs, and by their indexes where they are
// hidden in part.

#pragma once

#include <cstdint>
#include <functional>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyData;
class Version;
struct FileMetaData;

namespace blob_hybrid {

using EntriesOf = std::function<uint64_t(const FileMetaData& file)>;

// Counts the entries of older SSTs that the range deletions of an SST may hide, whose level is
// `level`. What they hide gets less with time, so that this need not be done again. Reads the SST's
// range deletions and the others' indexes.
Status CountCovered(ColumnFamilyData* family, Version* version, const FileMetaData& file, int level,
                    const EntriesOf& entries_of, uint64_t* covered);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
