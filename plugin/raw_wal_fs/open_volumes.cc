// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/open_volumes.h"

#include <sys/stat.h>

#include <map>
#include <mutex>
#include <utility>

#include "plugin/raw_wal_fs/format_device.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

struct OpenVolumes {
  std::mutex mutex;
  std::map<std::pair<uint64_t, uint64_t>, std::weak_ptr<Volume>> volumes;  // open for writing
};

// Never destroyed: a FileSystem may be a static object that outlives it.
OpenVolumes& Volumes() {
  static auto* volumes = new OpenVolumes();
  return *volumes;
}

// Finds what tells devices and files apart, whatever their paths.
IOStatus IdentityOf(const std::string& path, std::pair<uint64_t, uint64_t>* identity) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    return PosixError("stat", path, errno);
  }
  *identity = S_ISBLK(status.st_mode)
                  ? std::make_pair(uint64_t{UINT64_MAX}, uint64_t{status.st_rdev})
                  : std::make_pair(uint64_t{status.st_dev}, uint64_t{status.st_ino});
  return IOStatus::OK();
}

// Returns null if this process does not have it open for writing. Requires Volumes().mutex.
std::shared_ptr<Volume> FindVolume(const std::string& path) {
  std::pair<uint64_t, uint64_t> identity;
  if (!IdentityOf(path, &identity).ok()) {
    return nullptr;
  }
  const auto it = Volumes().volumes.find(identity);
  return it == Volumes().volumes.end() ? nullptr : it->second.lock();
}

}  // namespace

IOStatus OpenForWriting(const RawWalOptions& options, std::shared_ptr<Volume>* result) {
  std::lock_guard<std::mutex> lock(Volumes().mutex);
  *result = FindVolume(options.device);
  if (*result != nullptr) {
    return IOStatus::OK();
  }
  IOStatus s = CheckOrCreateDevice(options);
  std::unique_ptr<Device> device;
  if (s.ok()) {
    s = OpenDevice(options.device, /*write=*/true, &device);
  }
  if (s.ok()) {
    s = Volume::Open(std::move(device), /*write=*/true, result);
  }
  std::pair<uint64_t, uint64_t> identity;
  if (s.ok()) {
    s = IdentityOf(options.device, &identity);
  }
  if (s.ok()) {
    Volumes().volumes[identity] = *result;
  }
  return s;
}

IOStatus OpenForDryRun(const RawWalOptions& options, std::shared_ptr<Volume>* result) {
  std::lock_guard<std::mutex> lock(Volumes().mutex);
  *result = FindVolume(options.device);
  if (*result != nullptr) {
    return IOStatus::OK();
  }
  IOStatus s = CheckDevice(options);
  std::unique_ptr<Device> device;
  if (s.ok()) {
    s = OpenDevice(options.device, /*write=*/true, &device);
  }
  return s.ok() ? Volume::Open(std::move(device), /*write=*/false, result) : s;
}

IOStatus OpenForReading(const RawWalOptions& options, std::shared_ptr<Volume>* result) {
  {
    std::lock_guard<std::mutex> lock(Volumes().mutex);
    *result = FindVolume(options.device);
  }
  if (*result != nullptr) {
    return IOStatus::OK();
  }
  std::unique_ptr<Device> device;
  IOStatus s = OpenDevice(options.device, /*write=*/false, &device);
  return s.ok() ? Volume::Open(std::move(device), /*write=*/false, result) : s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
