// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>

#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/tier/placement.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// FileRef: a path that a FileSystem was called with, and what there is to know of the file by its
// name.
struct FileRef {
  explicit FileRef(const std::string& its_path)
      : path(its_path),
        directory(DirectoryOf(its_path)),
        base(BaseOf(its_path)),
        kind(ContentOf(base, &number)) {}

  // Returns whether tiers have budgets for such files: SSTs and blob files.
  bool counts() const { return kind == Content::kTable || kind == Content::kBlob; }

  const std::string path;
  const std::string directory;
  const std::string base;
  uint64_t number = 0;  // set before `kind`, which comes with it
  const Content kind;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
