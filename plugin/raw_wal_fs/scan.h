// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <vector>

#include "plugin/raw_wal_fs/extent_map.h"
#include "plugin/raw_wal_fs/volume.h"
#include "plugin/raw_wal_fs/window.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Collects frames of a log, each whole.
struct Frames {
  std::vector<Extent> extents;       // as they are on the device
  std::vector<FrameHeader> headers;  // one for each extent
  uint64_t claimed = 0;  // the frames say that so many bytes of the log were durable at some time
};

// Finds the frames of a log in one of its segments and adds them to `frames`. The window is used to
// read; it holds all of the segment afterwards if that has Window::kMax bytes at most.
IOStatus ScanSegment(const Volume& volume, LogId log, uint64_t segment, Window* window,
                     Frames* frames);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
