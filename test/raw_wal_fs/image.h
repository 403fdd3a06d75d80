// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A small log device with its logs' stubs, in memory, to be damaged and then found and read. For
// the fuzzer and for the test that stands in for it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/format.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

struct LogImage {
  LogId id;
  std::string path;
  std::string stub;  // the file
  std::string appended;
  uint64_t synced = 0;
};

struct Image {
  Superblock superblock;
  std::string device;
  // One of several segments that was closed, one that was written when the image was made, one that
  // found the device full. What a deleted one wrote is there, too.
  std::vector<LogImage> logs;
};

enum class Fault : uint8_t {
  kDamaged,  // bytes have changed or are gone
  kMoved,    // and blocks are where they were not written
  kForged,   // and their checksums were made right again
};

// Always the same. `folder`: for the stubs, as long as this runs.
Image MakeImage(const std::string& folder);

// Finds and reads all logs, or one, of a damaged image. What is wrong, "" if nothing is:
// - a byte is neither what was appended there nor the filler, unless the fault is kForged;
// - with kDamaged, a byte is the filler although a whole frame holds it, or the log ends before the
//   end of its whole frames, or before what one of them, or the stub, says was durable. Errors are
//   right: they report the damage.
std::string CheckImage(const Image& original, const Image& damaged, Fault fault, int only = -1);

// Damages the image as the input says, and checks it: the entry point of the fuzzer.
std::string CheckInput(const Image& original, const uint8_t* data, size_t size);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
