// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A device that loses power. The fault model: what was flushed, or written durably, stays. Of what
// was written since, each write may be lost, arrive, or arrive in part, in units of 512 bytes,
// whatever became of the others. It can stall, too.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/device.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

class PowerDevice : public Device {
 public:
  // The bytes outlive the device object, as those of a disk do.
  struct Disk {
    std::mutex mutex;
    std::string bytes;  // as a reader sees them
    // What the cache of the disk holds: the last bytes that are on the medium, by sector, for those
    // that were written since.
    std::map<uint64_t, std::string> old_sectors;
    uint64_t writes = 0;
    uint64_t flushes = 0;
    // Writes and flushes that are begun wait as long as it stalls, and come later, one by one.
    bool stalls = false;
    std::condition_variable well;
  };

  explicit PowerDevice(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {
    info_.exists = true;
    info_.size = disk_->bytes.size();
  }

  static std::shared_ptr<Disk> NewDisk(uint64_t size) {
    auto disk = std::make_shared<Disk>();
    disk->bytes.assign(size, '\0');
    return disk;
  }
  static void Stall(Disk* disk, bool stalls);
  // Returns the disk as it is, with its cache.
  static std::shared_ptr<Disk> Copy(Disk* disk);
  // Returns the disk after a loss of power.
  static std::shared_ptr<Disk> LosePower(Disk* disk, std::mt19937_64* random);

  IOStatus Read(uint64_t offset, size_t size, char* to) const override;
  IOStatus Write(uint64_t offset, size_t size, const char* from, bool durable) override;
  IOStatus Flush() override;
  const std::string& path() const override { return path_; }
  const DeviceInfo& info() const override { return info_; }

 private:
  const std::string path_ = "power-device";
  DeviceInfo info_;
  const std::shared_ptr<Disk> disk_;
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
