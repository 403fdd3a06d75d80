// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/posix.h"

#ifdef RAW_WAL_LIBBLKID
#include <blkid/blkid.h>
#endif

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// Contents that libblkid does not name are told by their first and last bytes. The first segment of
// a log device whose superblocks are gone begins at 1 MiB.
constexpr size_t kHead = Superblock::kDataOffset + SegmentHeader::kSize;
constexpr size_t kEnd = 1 << 20;
// The magic of a partition table's copy, in the last block of a disk.
constexpr char kGptMagic[] = "EFI PART";

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

IOStatus ReadAt(int fd, const std::string& path, off_t offset, size_t size, std::string* bytes) {
  bytes->resize(size);
  size_t done = 0;
  while (done < size) {
    const ssize_t n =
        pread(fd, bytes->data() + done, size - done, offset + static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return PosixError("read", path, errno);
    }
    if (n == 0) {
      break;
    }
    done += static_cast<size_t>(n);
  }
  bytes->resize(done);
  return IOStatus::OK();
}

bool HasGptAtEnd(const std::string& end) {
  for (const size_t block : {512, 4096}) {
    if (end.size() >= block &&
        end.compare(end.size() - block, sizeof(kGptMagic) - 1, kGptMagic) == 0) {
      return true;
    }
  }
  return false;
}

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
  const off_t size = lseek(fd.get(), 0, SEEK_END);
  std::string head;
  std::string end;
  s = size < 0 ? PosixError("ask for the size", path, errno) : IOStatus::OK();
  if (s.ok()) {
    s = ReadAt(fd.get(), path, 0, kHead, &head);
  }
  if (s.ok()) {
    s = ReadAt(fd.get(), path, std::max<off_t>(size - off_t{kEnd}, 0), kEnd, &end);
  }
  if (!s.ok()) {
    return s;
  }
  if (head.size() == kHead && SegmentHeader::Resembles(head.data() + Superblock::kDataOffset)) {
    *contents = "a log device whose superblocks are gone, with logs; see 'rocktier wal recover'";
  } else if (HasGptAtEnd(end)) {
    *contents = "the copy of a partition table";
  } else if (!IsZero(head.data(), head.size()) || !IsZero(end.data(), end.size())) {
    *contents = "unknown data";
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
