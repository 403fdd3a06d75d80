// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/lost_device.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "plugin/raw_wal_fs/standby.h"
#include "plugin/raw_wal_fs/superblock.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// The newest log in the standby may be older than the one that is looked for.
constexpr uint64_t kEpochs = 1 << 20;

// A device that has superblocks, in memory, and zeros behind them.
class MemoryDevice : public Device {
 public:
  MemoryDevice(std::string path, uint64_t size)
      : path_(std::move(path)), bytes_(Superblock::kDataOffset, '\0') {
    info_.exists = true;
    info_.size = size;
  }

  IOStatus Read(uint64_t offset, size_t size, char* to) const override {
    if (offset >= Superblock::kDataOffset) {
      memset(to, 0, size);
      return IOStatus::OK();
    }
    std::lock_guard<std::mutex> lock(mutex_);
    if (size > bytes_.size() - offset) {
      return IOStatus::IOError("device=" + path_, "is not there");
    }
    memcpy(to, bytes_.data() + offset, size);
    return IOStatus::OK();
  }
  IOStatus Write(uint64_t offset, size_t size, const char* from, bool) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      return IOStatus::IOError("device=" + path_, "is not there");
    }
    memcpy(bytes_.data() + offset, from, size);
    return IOStatus::OK();
  }
  IOStatus Flush() override { return IOStatus::OK(); }
  const std::string& path() const override { return path_; }
  const DeviceInfo& info() const override { return info_; }

 private:
  const std::string path_;
  DeviceInfo info_;
  mutable std::mutex mutex_;
  std::string bytes_;  // guarded by mutex_
};

}  // namespace

IOStatus OpenLostDevice(const std::string& path, const std::string& directory,
                        std::shared_ptr<Volume>* result) {
  std::shared_ptr<Standby> standby;
  IOStatus s = Standby::OpenForReading(FileSystem::Default(), directory, /*uuid=*/"", &standby);
  Superblock superblock;
  if (s.ok()) {
    s = standby->DescribeDevice(&superblock);
  }
  if (!s.ok()) {
    return s;
  }
  // The size stays: logs may have been as long. But block_size is that of files in the standby.
  superblock.generation = 1;
  superblock.epoch += kEpochs;
  auto device = std::make_unique<MemoryDevice>(path, superblock.Size());
  s = WriteSuperblock(device.get(), superblock);
  return s.ok() ? Volume::Open(std::move(device), /*write=*/true, result) : s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
