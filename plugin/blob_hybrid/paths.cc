// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/paths.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

uint32_t PathOf(const std::vector<DbPath>& paths, const MutableCFOptions& options, bool dynamic,
                int level) {
  uint32_t path = 0;
  uint64_t room = paths[0].target_size;
  uint64_t size = options.max_bytes_for_level_base;  // of level 0, too
  int at = 0;
  while (path < paths.size() - 1) {
    if (size > room) {
      path++;
      room = paths[path].target_size;
    } else if (at == level) {
      return path;
    } else {
      room -= size;
      if (at > 0) {
        const int additional = dynamic ? 1 : options.MaxBytesMultiplerAdditional(at);
        size = static_cast<uint64_t>(static_cast<double>(size) *
                                     options.max_bytes_for_level_multiplier * additional);
      }
      at++;
    }
  }
  return path;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
