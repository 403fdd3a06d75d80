// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "plugin/tiered_env/fs/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// InvalidArgument if `fs` is not a TieredFileSystem, and wraps none.
Status FindFs(FileSystem* fs, TieredFileSystem** result);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
