// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/layout.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "plugin/secondary_cache_2q/device.h"
#include "plugin/secondary_cache_2q/posix.h"
#include "rocksdb/env.h"
#include "util/hash.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// One index entry for each 2 KiB of data: enough unless blocks are smaller, 3% of the file.
constexpr uint64_t kBytesPerSlot = 2048;

std::string RandomUuid() {
  const std::string text = Env::Default()->GenerateUniqueId();
  std::string uuid(Superblock::kUuidSize, '\0');
  const uint64_t halves[2] = {Hash64(text.data(), text.size(), 1),
                              Hash64(text.data(), text.size(), 2)};
  memcpy(uuid.data(), halves, sizeof(halves));
  return uuid;
}

Superblock Plan(const TwoQSecondaryCacheOptions& options, uint32_t shards, uint32_t block_size) {
  Superblock plan;
  plan.block_size = block_size;
  plan.shards = shards;
  const uint64_t step = uint64_t{shards} * 4096;
  plan.capacity = options.capacity / step * step;
  const uint64_t slots_per_shard = std::max<uint64_t>(plan.capacity / kBytesPerSlot / shards, 1);
  plan.slots = slots_per_shard * shards;
  return plan;
}

Status SyncDirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Descriptor fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || fsync(fd.get()) != 0) {
    return PosixError("fsync of the directory", path, errno);
  }
  return Status::OK();
}

// Writes an empty cache file of this plan to `path`.
Status WriteEmpty(const std::string& path, const Superblock& plan) {
  Descriptor fd(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (fd.get() < 0) {
    return PosixError("create", path, errno);
  }
  const int error = posix_fallocate(fd.get(), 0, static_cast<off_t>(plan.FileSize()));
  if (error != 0) {
    return PosixError("preallocate " + std::to_string(plan.FileSize()) + " bytes", path, error);
  }
  const std::string bytes = plan.Encode();
  const ssize_t written = pwrite(fd.get(), bytes.data(), bytes.size(), 0);
  if (written != static_cast<ssize_t>(bytes.size()) || fdatasync(fd.get()) != 0) {
    return PosixError("write the superblock", path, errno);
  }
  return Status::OK();
}

// Formats under another name first, so that a crash leaves the old file or a whole new one.
Status Format(const TwoQSecondaryCacheOptions& options, uint32_t shards, Superblock* result) {
  const std::string temporary = options.path + ".tmp";
  {
    Descriptor probe(open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (probe.get() < 0) {
      return PosixError("create", options.path, errno);
    }
    const std::string zeros(4096, '\0');
    if (pwrite(probe.get(), zeros.data(), zeros.size(), 0) != 4096) {
      const int error = errno;
      unlink(temporary.c_str());
      return PosixError("write", options.path, error);
    }
  }
  const uint32_t block_size = options.direct_io ? Device::BlockSize(temporary) : 512;
  Superblock plan = Plan(options, shards, block_size);
  plan.uuid = RandomUuid();
  Status s = WriteEmpty(temporary, plan);
  if (s.ok() && rename(temporary.c_str(), options.path.c_str()) != 0) {
    s = PosixError("rename", options.path, errno);
  }
  if (s.ok()) {
    s = SyncDirectoryOf(options.path);
  }
  if (s.ok()) {
    *result = plan;
  } else {
    unlink(temporary.c_str());
  }
  return s;
}

bool Fits(const Superblock& found, const TwoQSecondaryCacheOptions& options, uint32_t shards) {
  const uint32_t needed = options.direct_io ? Device::BlockSize(options.path) : 512;
  const Superblock wanted = Plan(options, shards, needed);
  return found.capacity == wanted.capacity && found.shards == wanted.shards &&
         found.slots == wanted.slots && found.block_size >= needed;
}

}  // namespace

Status ReadSuperblock(const std::string& path, Superblock* result) {
  Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    return errno == ENOENT ? Status::NotFound("path=" + path, "no such file")
                           : PosixError("open", path, errno);
  }
  struct stat info;
  if (fstat(fd.get(), &info) != 0) {
    return PosixError("stat", path, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return Status::InvalidArgument("path=" + path, "is not a regular file");
  }
  std::string bytes(Superblock::kSize, '\0');
  const ssize_t n = pread(fd.get(), bytes.data(), bytes.size(), 0);
  if (n < 0) {
    return PosixError("read the superblock", path, errno);
  }
  Status s =
      Superblock::Decode(Slice(bytes.data(), static_cast<size_t>(n)), "path=" + path, result);
  if (s.ok() && static_cast<uint64_t>(info.st_size) < result->FileSize()) {
    s = Status::Corruption("path=" + path, "is shorter than its superblock says; delete it");
  }
  return s;
}

Status PrepareFile(const TwoQSecondaryCacheOptions& options, uint32_t shards, Superblock* result) {
  Status s = ReadSuperblock(options.path, result);
  if (s.IsNotFound() || (s.ok() && !Fits(*result, options, shards))) {
    return Format(options, shards, result);
  }
  return s;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
