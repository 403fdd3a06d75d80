// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/raw_wal_fs/power_device.h"

#include <cstring>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr uint64_t kSector = 512;

}  // namespace

IOStatus PowerDevice::Read(uint64_t offset, size_t size, char* to) const {
  std::lock_guard<std::mutex> lock(disk_->mutex);
  if (offset + size > disk_->bytes.size()) {
    return IOStatus::Corruption("power-device", "read behind the end");
  }
  memcpy(to, disk_->bytes.data() + offset, size);
  return IOStatus::OK();
}

void PowerDevice::Stall(Disk* disk, bool stalls) {
  std::lock_guard<std::mutex> lock(disk->mutex);
  disk->stalls = stalls;
  disk->well.notify_all();
}

IOStatus PowerDevice::Write(uint64_t offset, size_t size, const char* from, bool durable) {
  std::unique_lock<std::mutex> lock(disk_->mutex);
  disk_->well.wait(lock, [this] { return !disk_->stalls; });
  if (offset % kSector != 0 || size % kSector != 0 || offset + size > disk_->bytes.size()) {
    return IOStatus::InvalidArgument("power-device", "write is not aligned or behind the end");
  }
  disk_->writes++;
  for (uint64_t at = offset; at < offset + size; at += kSector) {
    if (durable) {
      disk_->old_sectors.erase(at);  // just these bytes, as with forced unit access
    } else {
      disk_->old_sectors.emplace(at, disk_->bytes.substr(at, kSector));
    }
  }
  memcpy(disk_->bytes.data() + offset, from, size);
  return IOStatus::OK();
}

IOStatus PowerDevice::Flush() {
  std::unique_lock<std::mutex> lock(disk_->mutex);
  disk_->well.wait(lock, [this] { return !disk_->stalls; });
  disk_->old_sectors.clear();
  disk_->flushes++;
  return IOStatus::OK();
}

std::shared_ptr<PowerDevice::Disk> PowerDevice::Copy(Disk* disk) {
  std::lock_guard<std::mutex> lock(disk->mutex);
  auto result = std::make_shared<Disk>();
  result->bytes = disk->bytes;
  result->old_sectors = disk->old_sectors;
  return result;
}

std::shared_ptr<PowerDevice::Disk> PowerDevice::LosePower(Disk* disk, std::mt19937_64* random) {
  std::lock_guard<std::mutex> lock(disk->mutex);
  auto result = std::make_shared<Disk>();
  result->bytes = disk->bytes;
  // Now and then nothing or everything arrives; else each sector for itself.
  const uint64_t kind = (*random)() % 4;
  for (const auto& [at, old] : disk->old_sectors) {
    if (kind == 0 || (kind > 1 && (*random)() % 2 == 0)) {
      result->bytes.replace(at, kSector, old);
    }
  }
  return result;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
