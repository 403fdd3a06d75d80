// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <fcntl.h>

#include <memory>

#include "plugin/raw_wal_fs/layout.h"

#ifdef RAW_WAL_LIBBLKID
#include <blkid/blkid.h>
#endif

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// What nobody has a name for is told by its first bytes.
constexpr size_t kHead = 1 << 20;

#ifdef RAW_WAL_LIBBLKID

struct FreeProbe {
  void operator()(blkid_probe probe) const { blkid_free_probe(probe); }
};
using Probe = std::unique_ptr<std::remove_pointer_t<blkid_probe>, FreeProbe>;

std::string ValueOf(const Probe& probe, const char* name) {
  const char* value = nullptr;
  return blkid_probe_lookup_value(probe.get(), name, &value, nullptr) == 0 && value != nullptr
             ? value
             : "";
}

IOStatus ProbeSignatures(int fd, const std::string& path, std::string* contents) {
  const Probe probe(blkid_new_probe());
  if (probe == nullptr || blkid_probe_set_device(probe.get(), fd, 0, 0) != 0) {
    return IOStatus::IOError("device=" + path, "cannot be probed for file systems");
  }
  blkid_probe_enable_superblocks(probe.get(), 1);
  blkid_probe_set_superblocks_flags(probe.get(), BLKID_SUBLKS_TYPE);
  blkid_probe_enable_partitions(probe.get(), 1);
  const int found = blkid_do_safeprobe(probe.get());
  if (found == 0) {
    const std::string type = ValueOf(probe, "TYPE");
    *contents = type.empty() ? "partition table " + ValueOf(probe, "PTTYPE") : type;
  } else if (found == -2) {
    *contents = "several signatures";
  } else if (found < 0) {
    return IOStatus::IOError("device=" + path, "cannot be probed for file systems");
  }
  return IOStatus::OK();
}

#else

IOStatus ProbeSignatures(int /*fd*/, const std::string& /*path*/, std::string* /*contents*/) {
  return IOStatus::OK();
}

#endif

}  // namespace

IOStatus IdentifyContents(const std::string& path, std::string* contents) {
  contents->clear();
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    return PosixError("open", path, errno);
  }
  IOStatus s = ProbeSignatures(fd.get(), path, contents);
  if (!s.ok() || !contents->empty()) {
    return s;
  }
  std::string head(kHead, '\0');
  const ssize_t n = pread(fd.get(), head.data(), head.size(), 0);
  if (n < 0) {
    return PosixError("read", path, errno);
  }
  if (!IsZero(head.data(), static_cast<size_t>(n))) {
    *contents = "unknown data";
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
