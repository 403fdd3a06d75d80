// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Writes superblocks anew that were lost: the headers of the segments say what was in them.

#include <map>
#include <string>
#include <utility>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "plugin/raw_wal_fs/superblock.h"
#include "plugin/raw_wal_fs/volume.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr uint64_t kStep = 64 << 10;  // the smallest segment
constexpr size_t kBlock = 4096;
// Files of logs may know of later openings than the headers do: nothing may have been written
// since.
constexpr uint64_t kEpochs = 1 << 20;

struct Candidate {
  Superblock superblock;
  uint64_t headers = 0;
};

// Collects what headers tell of their device, by uuid. A header counts if it is where it says.
IOStatus FindHeaders(const Device& device, const RawWalProgress& progress,
                     std::map<std::string, Candidate>* found) {
  const Buffer buffer = NewBuffer(kBlock);
  if (buffer == nullptr) {
    return IOStatus::IOError("raw_wal_fs", "no memory for a buffer");
  }
  const uint64_t end = device.info().size;
  IOStatus s;
  for (uint64_t at = Superblock::kDataOffset; s.ok() && at + kBlock <= end; at += kStep) {
    s = device.Read(at, kBlock, buffer.get());
    SegmentHeader header;
    Superblock superblock;
    if (s.ok() && SegmentHeader::DecodeAny(buffer.get(), &header, &superblock) &&
        header.segment < superblock.segments && superblock.SegmentOffset(header.segment) == at &&
        superblock.Size() <= end) {
      Candidate& candidate = (*found)[superblock.uuid];
      superblock.epoch = std::max(superblock.epoch, candidate.superblock.epoch);
      candidate.superblock = superblock;
      candidate.headers++;
    }
    if (progress != nullptr) {
      progress(at, end);
    }
  }
  return s;
}

IOStatus Choose(const std::string& device, const std::map<std::string, Candidate>& found,
                Superblock* superblock) {
  const std::string where = "device=" + device;
  if (found.empty()) {
    return IOStatus::NotFound(where, "has no segments of a log device; is it the right one?");
  }
  if (found.size() > 1) {
    std::string uuids;
    for (const auto& [uuid, candidate] : found) {
      uuids += (uuids.empty() ? "" : ", ") + Slice(uuid).ToString(/*hex=*/true) + " (" +
               std::to_string(candidate.headers) + " segments)";
    }
    return IOStatus::InvalidArgument(
        where, "has segments of several log devices, of which none is chosen: " + uuids);
  }
  *superblock = found.begin()->second.superblock;
  superblock->generation = 1;
  superblock->epoch += kEpochs;
  return IOStatus::OK();
}

}  // namespace

Status RecoverLogDevice(const RawWalOptions& options, RawWalDeviceInfo* info,
                        const RawWalProgress& progress) {
  std::unique_ptr<Device> device;
  const bool write = options.force && !options.dry_run;
  IOStatus s = OpenDevice(options.device, write, &device);
  Superblock superblock;
  if (s.ok()) {
    s = ReadSuperblock(*device, &superblock);
    if (s.ok()) {
      return IOStatus::InvalidArgument("device=" + options.device,
                                       "has a superblock: there is nothing to recover");
    }
    // A damaged superblock is what this is for.
    s = s.IsNotFound() || s.IsCorruption() ? IOStatus::OK() : s;
  }
  std::map<std::string, Candidate> found;
  if (s.ok()) {
    s = FindHeaders(*device, progress, &found);
  }
  if (s.ok()) {
    s = Choose(options.device, found, &superblock);
  }
  if (!s.ok()) {
    return s;
  }
  *info = RawWalDeviceInfo();
  info->uuid = Slice(superblock.uuid).ToString(/*hex=*/true);
  info->block_size = superblock.block_size;
  info->segment_size = superblock.segment_size;
  info->segments = superblock.segments;
  info->segments_used = found.begin()->second.headers;
  info->epoch = superblock.epoch;
  return write ? WriteSuperblock(device.get(), superblock) : s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
