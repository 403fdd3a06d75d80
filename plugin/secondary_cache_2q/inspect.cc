// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "plugin/secondary_cache_2q/format.h"
#include "plugin/secondary_cache_2q/layout.h"
#include "plugin/secondary_cache_2q/posix.h"
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

Status ReadAt(int fd, const std::string& path, uint64_t offset, size_t size, std::string* bytes) {
  bytes->resize(size);
  size_t done = 0;
  while (done < size) {
    const ssize_t n =
        pread(fd, bytes->data() + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return n < 0 ? PosixError("read", path, errno)
                   : Status::IOError("path=" + path + ": read", "end of file");
    }
    done += static_cast<size_t>(n);
  }
  return Status::OK();
}

// Reads a part of the file.
using Input = std::function<Status(uint64_t offset, size_t size, std::string* bytes)>;

std::string Hex(const std::string& bytes) { return Slice(bytes).ToString(/*hex=*/true); }

bool InDataArea(const Slot& slot, const Superblock& superblock) {
  return slot.offset % superblock.block_size == 0 && slot.offset < superblock.capacity &&
         slot.size <= superblock.capacity - slot.offset;
}

Status VerifyBlock(const Input& input, const Superblock& superblock, const Slot& slot,
                   CacheFileInfo* info) {
  std::string bytes;
  Status s = input(superblock.DataOffset() + slot.offset, slot.size, &bytes);
  if (s.ok()) {
    const bool intact = BlockChecksum(Slice(slot.key, Slot::kKeySize), bytes) == slot.checksum;
    (intact ? info->verified : info->corrupt)++;
  }
  return s;
}

using Visit = std::function<Status(const Slot&)>;

Status ScanIndex(const Input& input, const Superblock& superblock, CacheFileInfo* info,
                 const Visit& visit) {
  constexpr uint64_t kSlotsPerRead = 16384;
  Status s;
  for (uint64_t first = 0; s.ok() && first < superblock.slots; first += kSlotsPerRead) {
    const uint64_t n = std::min(kSlotsPerRead, superblock.slots - first);
    std::string bytes;
    s = input(superblock.IndexOffset() + first * Slot::kSize, n * Slot::kSize, &bytes);
    for (uint64_t i = 0; s.ok() && i < n; i++) {
      Slot slot;
      bool used;
      const bool sound =
          Slot::Decode(bytes.data() + i * Slot::kSize, superblock.uuid, &slot, &used);
      if (!sound || (used && !InDataArea(slot, superblock))) {
        info->bad_slots++;
      } else if (used) {
        info->blocks++;
        info->block_bytes += slot.size;
        s = visit(slot);
      }
    }
  }
  return s;
}

Status Scan(const std::string& path, bool verify, CacheFileInfo* info) {
  *info = CacheFileInfo();
  Superblock superblock;
  Status s = ReadSuperblock(path, &superblock);
  if (!s.ok()) {
    return s;
  }
  info->version = Superblock::kVersion;
  info->uuid = Hex(superblock.uuid);
  info->capacity = superblock.capacity;
  info->file_size = superblock.FileSize();
  info->block_size = superblock.block_size;
  info->shards = superblock.shards;
  info->slots = superblock.slots;
  info->read = verify;
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const Input input = [&](uint64_t offset, size_t size, std::string* bytes) {
    return ReadAt(fd.get(), path, offset, size, bytes);
  };
  return ScanIndex(input, superblock, info, [&](const Slot& slot) {
    return verify ? VerifyBlock(input, superblock, slot, info) : Status::OK();
  });
}

// Name, value and whether the value is text.
using Field = std::function<void(const char*, const std::string&, bool)>;

void ForEachField(const CacheFileInfo& info, const Field& field) {
  auto number = [&field](const char* name, uint64_t value) {
    field(name, std::to_string(value), false);
  };
  number("version", info.version);
  field("uuid", info.uuid, true);
  number("capacity", info.capacity);
  number("file_size", info.file_size);
  number("block_size", info.block_size);
  number("shards", info.shards);
  number("slots", info.slots);
  number("blocks", info.blocks);
  number("block_bytes", info.block_bytes);
  number("bad_slots", info.bad_slots);
  if (info.read) {
    number("verified", info.verified);
    number("corrupt", info.corrupt);
  }
}

}  // namespace

Status InspectCacheFile(const std::string& path, CacheFileInfo* info) {
  return Scan(path, /*verify=*/false, info);
}

Status VerifyCacheFile(const std::string& path, CacheFileInfo* info) {
  return Scan(path, /*verify=*/true, info);
}

std::string CacheFileInfo::ToString() const {
  std::string text;
  ForEachField(*this, [&text](const char* name, const std::string& value, bool) {
    text += std::string(name) + ": " + value + "\n";
  });
  return text;
}

std::string CacheFileInfo::ToJson() const {
  std::string json;
  ForEachField(*this, [&json](const char* name, const std::string& value, bool is_text) {
    const std::string quote = is_text ? "\"" : "";
    json += (json.empty() ? "{\"" : ",\"") + std::string(name) + "\":" + quote + value + quote;
  });
  return json + "}";
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
