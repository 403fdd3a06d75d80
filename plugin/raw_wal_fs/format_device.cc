// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/format_device.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/probe.h"
#include "plugin/raw_wal_fs/standby.h"
#include "plugin/raw_wal_fs/superblock.h"
#include "plugin/raw_wal_fs/sync_points.h"
#include "plugin/raw_wal_fs/volume.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr size_t kChunk = 1 << 20;  // bytes that are written at once

IOStatus Invalid(const RawWalOptions& options, const std::string& reason) {
  return IOStatus::InvalidArgument("device=" + options.device, reason);
}

IOStatus CheckBlockSize(const RawWalOptions& options, const Superblock& plan,
                        const DeviceInfo& info) {
  return plan.block_size >= info.logical_block
             ? IOStatus::OK()
             : IOStatus::InvalidArgument("block_size=" + std::to_string(plan.block_size),
                                         "is less than the " + std::to_string(info.logical_block) +
                                             " bytes that are the smallest unit of direct I/O to "
                                             "device=" +
                                             options.device);
}

IOStatus Plan(const RawWalOptions& options, const DeviceInfo& info, Superblock* plan) {
  const uint64_t size = info.exists ? info.size : options.size;
  IOStatus s = RandomBytes(kUuidSize, &plan->uuid);
  if (!s.ok()) {
    return s;
  }
  plan->segment_size = options.segment_size;
  plan->block_size =
      options.block_size != 0 ? options.block_size : (info.physical_block <= 512 ? 512 : 4096);
  plan->segments =
      size < Superblock::kDataOffset ? 0 : (size - Superblock::kDataOffset) / plan->segment_size;
  s = CheckBlockSize(options, *plan, info);
  if (!s.ok()) {
    return s;
  }
  const std::string sizes =
      "size=" + std::to_string(size) + ", segment_size=" + std::to_string(plan->segment_size);
  if (plan->segments > Superblock::kMaxSegments) {
    return Invalid(options, "would have more than " + std::to_string(Superblock::kMaxSegments) +
                                " segments; choose a larger segment_size: " + sizes);
  }
  return plan->segments == 0 ? Invalid(options, "has no room for a segment: " + sizes)
                             : IOStatus::OK();
}

// Writes zeros over a range.
IOStatus Clear(Device* device, uint64_t offset, uint64_t size, const char* zeros) {
  for (uint64_t done = 0; done < size; done += kChunk) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(kChunk, size - done));
    IOStatus s = device->Write(offset + done, n, zeros, /*durable=*/false);
    if (!s.ok()) {
      return s;
    }
  }
  return IOStatus::OK();
}

// Writes zeros, then the superblocks. A block device keeps what is between the headers: without
// headers it is never read.
IOStatus WriteEmpty(Device* device, const Superblock& plan, bool all,
                    const RawWalProgress& progress) {
  const Buffer zeros = NewBuffer(kChunk);
  if (zeros == nullptr) {
    return IOStatus::IOError("raw_wal_fs", "no memory for a buffer");
  }
  memset(zeros.get(), 0, kChunk);
  IOStatus s = Clear(device, 0, Superblock::kDataOffset, zeros.get());
  const uint64_t each = all ? plan.segment_size : plan.block_size;
  for (uint64_t i = 0; s.ok() && i < plan.segments; i++) {
    s = Clear(device, plan.SegmentOffset(i), each, zeros.get());
    if (progress != nullptr) {
      progress(plan.SegmentOffset(i + 1), plan.Size());
    }
  }
  if (s.ok()) {
    s = device->Flush();
  }
  return s.ok() ? WriteSuperblock(device, plan) : s;
}

// Makes the name of a device's file durable, where directories can be synced.
IOStatus SyncDirectoryOf(const std::string& path) {
  IOStatus s;
  TEST_SYNC_POINT_CALLBACK("FormatDevice::SyncDirectoryOf", &s);
  const Descriptor fd(open(DirectoryOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (s.ok() && (fd.get() < 0 || (fsync(fd.get()) != 0 && errno != EINVAL))) {
    s = PosixError("fsync of the directory", path, errno);
  }
  return s;
}

// A file without a name, or, where the file system has none, of a name that nobody has: what
// somebody else calls DEVICE.tmp is not ours.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& device)
      : fd_(open(DirectoryOf(device).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644)) {
    if (fd_.get() < 0) {
      std::string random;
      if (RandomBytes(8, &random).ok()) {
        name_ = device + "." + Slice(random).ToString(/*hex=*/true) + ".tmp";
        fd_ = Descriptor(open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
      }
    }
  }
  ~TemporaryFile() {
    if (!name_.empty() && fd_.get() >= 0) {
      unlink(name_.c_str());
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int fd() const { return fd_.get(); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }
  // Gives the file a name. Fails if there is a file of this name, or a link.
  bool Link(const std::string& name) const {
    return linkat(AT_FDCWD, path().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  }

 private:
  Descriptor fd_;
  std::string name_;  // empty if it has none
};

// Makes the file without its name first, so that a crash leaves nothing that looks like a log
// device.
IOStatus CreateFile(const RawWalOptions& options, const Superblock& plan,
                    const RawWalProgress& progress) {
  const TemporaryFile file(options.device);
  if (file.fd() < 0) {
    return PosixError("create", options.device, errno);
  }
  const int error = posix_fallocate(file.fd(), 0, static_cast<off_t>(plan.Size()));
  if (error != 0) {
    return PosixError("preallocate " + std::to_string(plan.Size()) + " bytes", options.device,
                      error);
  }
  std::unique_ptr<Device> device;
  DeviceInfo info;
  IOStatus s = InspectDevice(file.path(), &info);
  if (s.ok()) {  // what the file system asks for is not known before
    s = CheckBlockSize(options, plan, info);
  }
  if (s.ok()) {
    s = OpenDevice(file.path(), /*write=*/true, &device);
  }
  if (s.ok()) {
    s = WriteEmpty(device.get(), plan, /*all=*/true, progress);
  }
  // Fails if another process made a file of that name meanwhile.
  if (s.ok() && !file.Link(options.device)) {
    s = PosixError("create", options.device, errno);
  }
  return s.ok() ? SyncDirectoryOf(options.device) : s;
}

// Returns OK for a log device, or a file that may be created.
IOStatus CheckUsable(const RawWalOptions& options, const DeviceInfo& info) {
  if (!info.exists) {
    return options.size > 0 ? IOStatus::OK()
                            : Invalid(options, "does not exist; give size= to create a file");
  }
  std::unique_ptr<Device> device;
  IOStatus s = OpenDevice(options.device, /*write=*/false, &device);
  Superblock found;
  if (s.ok()) {
    s = ReadSuperblock(*device, &found);
  }
  if (!s.IsNotFound()) {
    return s;
  }
  std::string contents;
  s = IdentifyContents(options.device, &contents);
  if (s.ok()) {
    s = Invalid(options, contents.empty()
                             ? "is blank, and no log device; 'rocktier wal format' makes it one"
                             : "is not a log device and not blank: " + contents);
  }
  return s;
}

// Returns OK if nothing is lost when the device is formatted.
IOStatus CheckBlank(const RawWalOptions& options) {
  std::unique_ptr<Device> device;
  IOStatus s = OpenDevice(options.device, /*write=*/false, &device);
  Superblock found;
  if (s.ok()) {
    s = ReadSuperblock(*device, &found);
  }
  if (!s.IsNotFound()) {
    return s.ok() ? Invalid(options, "is a log device already; --force would destroy its logs") : s;
  }
  std::string contents;
  s = IdentifyContents(options.device, &contents);
  return !s.ok() || contents.empty()
             ? s
             : Invalid(options, "is not blank: " + contents + "; --force would destroy that");
}

IOStatus Format(const RawWalOptions& options, const DeviceInfo& info,
                const RawWalProgress& progress, Superblock* plan) {
  IOStatus s = Plan(options, info, plan);
  if (!s.ok() || (!info.exists && options.dry_run)) {
    return s;
  }
  if (!info.exists) {
    return CreateFile(options, *plan, progress);
  }
  std::unique_ptr<Device> device;
  s = OpenDevice(options.device, /*write=*/true, &device);
  return s.ok() && !options.dry_run
             ? WriteEmpty(device.get(), *plan, !info.is_block_device, progress)
             : s;
}

}  // namespace

IOStatus CheckDevice(const RawWalOptions& options) {
  DeviceInfo info;
  IOStatus s = InspectDevice(options.device, &info);
  return s.ok() ? CheckUsable(options, info) : s;
}

IOStatus CheckOrCreateDevice(const RawWalOptions& options) {
  DeviceInfo info;
  IOStatus s = InspectDevice(options.device, &info);
  if (s.ok()) {
    s = CheckUsable(options, info);
  }
  if (s.ok() && !info.exists && !options.standby.empty() &&
      access((options.standby + Standby::kMarkName).c_str(), F_OK) == 0) {
    return Invalid(options, "does not exist, and standby=" + options.standby +
                                " is that of another log device: is its disk mounted? If it is "
                                "lost, 'rocktier wal export --force' takes what the standby has");
  }
  Superblock made;
  if (!s.ok() || !info.exists) {
    return s.ok() ? Format(options, info, nullptr, &made) : s;
  }
  // Who made the file may have failed, or have been killed, before its name was durable: power
  // could take it, with all logs. A directory that may not be read is taken as it is.
  const bool is_taken =
      info.is_block_device || access(DirectoryOf(options.device).c_str(), R_OK) != 0;
  return is_taken ? s : SyncDirectoryOf(options.device);
}

IOStatus FormatDevice(const RawWalOptions& options, const RawWalProgress& progress,
                      Superblock* made) {
  DeviceInfo info;
  IOStatus s = InspectDevice(options.device, &info);
  if (!s.ok()) {
    return s;
  }
  if (info.exists && options.size > 0) {
    return Invalid(options, "exists and has " + std::to_string(info.size) +
                                " bytes; --size is for a file that is created");
  }
  if (!info.exists) {
    s = CheckUsable(options, info);
  } else if (!options.force) {
    s = CheckBlank(options);
  }
  return s.ok() ? Format(options, info, progress, made) : s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
