// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "plugin/secondary_cache_2q/crc32c.h"
#include "plugin/secondary_cache_2q/format.h"
#include "plugin/secondary_cache_2q/opening.h"
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
                   : Status::IOError("read: " + path, "end of file");
    }
    done += static_cast<size_t>(n);
  }
  return Status::OK();
}

// Reads a part of the file.
using Input = std::function<Status(uint64_t offset, size_t size, std::string* bytes)>;

std::string Hex(const std::string& bytes) { return Slice(bytes).ToString(/*hex=*/true); }

// Reads a block in parts, since a slot may claim much. A block that cannot be read counts as
// corrupt.
void VerifyBlock(const Input& input, const Superblock& superblock, const Slot& slot,
                 CacheFileInfo* info) {
  constexpr uint64_t kPart = 1 << 20;
  const uint64_t begin = superblock.DataOffset() + slot.offset;
  std::string bytes;
  Status s = input(begin, BlockHeader::kSize, &bytes);
  BlockHeader header;
  uint32_t checksum = 0;
  bool intact = s.ok() && BlockHeader::DecodeHead(bytes.data(), &header, &checksum) &&
                header.size == slot.size && header.Key() == Slice(slot.key, Slot::kKeySize);
  Crc32c crc;
  crc.Add(bytes.data() + 4, bytes.size() - 4);
  for (uint64_t at = 0; intact && at < slot.size; at += kPart) {
    s = input(begin + BlockHeader::kSize + at, std::min(kPart, slot.size - at), &bytes);
    crc.Add(bytes.data(), bytes.size());
    intact = s.ok();
  }
  intact = intact && crc.Masked() == checksum;
  (intact ? info->verified : info->corrupt)++;
}

using Visit = std::function<void(const Slot&)>;

// `bytes`: entries from number `first` on.
void ScanSlots(const Superblock& superblock, uint64_t first, const std::string& bytes,
               CacheFileInfo* info, const Visit& visit) {
  for (uint64_t i = 0; i < bytes.size() / Slot::kSize; i++) {
    Slot slot;
    bool used;
    const bool sound = Slot::Decode(bytes.data() + i * Slot::kSize, superblock.uuid, &slot, &used);
    if (!sound || (used && !Belongs(slot, first + i, superblock))) {
      info->bad_slots++;
    } else if (used) {
      info->blocks++;
      info->block_bytes += slot.size;
      visit(slot);
    }
  }
}

using Progress = std::function<void(uint64_t done, uint64_t total)>;

// Looks at all entries. Those that cannot be read count as bad.
void ScanIndex(const Input& input, const Superblock& superblock, CacheFileInfo* info,
               const Visit& visit, const Progress& progress) {
  constexpr uint64_t kSlotsPerPage = 4096 / Slot::kSize;
  constexpr uint64_t kSlotsPerRead = 256 * kSlotsPerPage;
  uint64_t step = kSlotsPerRead;
  for (uint64_t first = 0; first < superblock.slots;) {
    const uint64_t n = std::min(step, superblock.slots - first);
    std::string bytes;
    const Status s = input(superblock.IndexOffset() + first * Slot::kSize, n * Slot::kSize, &bytes);
    if (!s.ok() && step > kSlotsPerPage) {
      step = kSlotsPerPage;
      continue;
    }
    if (s.ok()) {
      ScanSlots(superblock, first, bytes, info, visit);
    } else {
      info->bad_slots += n;
    }
    first += n;
    if (progress != nullptr) {
      progress(first, superblock.slots);
    }
    if (first % kSlotsPerRead == 0) {
      step = kSlotsPerRead;
    }
  }
}

Status Scan(const std::string& path, bool verify, CacheFileInfo* info, const Progress& progress) {
  *info = CacheFileInfo();
  Superblock superblock;
  Descriptor fd;
  Status s = OpenForReading(path, &fd, &superblock);
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
  const Input input = [&](uint64_t offset, size_t size, std::string* bytes) {
    return ReadAt(fd.get(), path, offset, size, bytes);
  };
  const Visit visit = [&](const Slot& slot) {
    if (verify) {
      VerifyBlock(input, superblock, slot, info);
    }
  };
  ScanIndex(input, superblock, info, visit, progress);
  return Status::OK();
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
  return Scan(path, /*verify=*/false, info, nullptr);
}

Status VerifyCacheFile(const std::string& path, CacheFileInfo* info, const Progress& progress) {
  return Scan(path, /*verify=*/true, info, progress);
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
