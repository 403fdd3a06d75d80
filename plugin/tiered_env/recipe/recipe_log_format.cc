// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recipe/recipe_log_format.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "util/coding.h"
#include "util/crc32c.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {
namespace recipe_log {

namespace {

constexpr char kPrefix[] = "TIERS-RECIPES-";
constexpr char kMagic[] = "rktrecip";
constexpr uint32_t kVersion = 2;
constexpr size_t kIdAt = 12;
constexpr size_t kSegmentSize = 40;  // bytes of EncodeSegment()

bool DecodeSegment(Slice bytes, LoggedSegment* segment) {
  return GetFixed64(&bytes, &segment->id) && GetFixed64(&bytes, &segment->log_number) &&
         GetFixed64(&bytes, &segment->entries) && GetFixed64(&bytes, &segment->digest) &&
         GetFixed64(&bytes, &segment->bytes);
}

// Whether a frame, which may be any bytes, can be of a record: so that few checksums are computed.
bool MayBeRecord(const Frame& frame, const Slice& record) {
  const auto name = static_cast<uint8_t>(record[0]);  // its length, where it is that of an SST
  switch (static_cast<Kind>(frame.kind)) {
    case Kind::kRecipe:
    case Kind::kDrop:
      return record.size() > name && Slice(record.data() + 1, name).ends_with(".sst");
    case Kind::kSegment:
    case Kind::kForget:
    case Kind::kNext:
      return name == 0 && record.size() == 1 + kSegmentSize;
    default:  // stands at the beginning, and tells of no recipe
      return false;
  }
}

}  // namespace

bool HasRecord(const Slice& bytes) {
  for (size_t at = 0; at + kFrameSize < bytes.size(); at++) {
    const Frame frame(Slice(bytes.data() + at, kFrameSize));
    const Slice rest(bytes.data() + at + kFrameSize, bytes.size() - at - kFrameSize);
    if (frame.length > 0 && frame.length <= rest.size() &&
        MayBeRecord(frame, Slice(rest.data(), frame.length)) &&
        frame.IsSound(Slice(rest.data(), frame.length))) {
      return true;
    }
  }
  return false;
}

std::string NameOf(uint64_t number) {
  char name[32];
  snprintf(name, sizeof(name), "%s%06llu", kPrefix, static_cast<unsigned long long>(number));
  return name;
}

uint64_t NumberOf(const std::string& name) {
  uint64_t number = 0;
  Slice digits(name);
  if (!digits.starts_with(kPrefix)) {
    return 0;
  }
  digits.remove_prefix(sizeof(kPrefix) - 1);
  return ConsumeDecimalNumber(&digits, &number) && digits.empty() ? number : 0;
}

std::string EncodeHeader(const std::string& id) {
  std::string header(kMagic, 8);
  PutFixed32(&header, kVersion);
  header += id;
  PutFixed32(&header, crc32c::Mask(crc32c::Value(header.data(), header.size())));
  return header;
}

IOStatus DecodeHeader(const Slice& header, const std::string& path, std::string* id) {
  if (header.size() >= kHeaderSize) {
    id->assign(header.data() + kIdAt, kIdSize);
  }
  if (header.size() < kHeaderSize || memcmp(header.data(), kMagic, 8) != 0 ||
      DecodeFixed32(header.data() + kHeaderSize - 4) !=
          crc32c::Mask(crc32c::Value(header.data(), kHeaderSize - 4))) {
    return IOStatus::Corruption(path, "is no recipe log, or its header is damaged");
  }
  const uint32_t version = DecodeFixed32(header.data() + 8);
  if (version != kVersion) {
    id->clear();
  }
  return version == kVersion || version == 1
             ? IOStatus::OK()
             : IOStatus::NotSupported(path, "is of version " + std::to_string(version));
}

std::string EncodeSegment(const LoggedSegment& segment) {
  std::string bytes;
  for (const uint64_t value :
       {segment.id, segment.log_number, segment.entries, segment.digest, segment.bytes}) {
    PutFixed64(&bytes, value);
  }
  return bytes;
}

std::string EncodeRecord(Kind kind, const Slice& name, const Slice& body, uint64_t* body_at) {
  std::string prefix;
  PutLengthPrefixedSlice(&prefix, name);
  std::string record(4, '\0');
  PutFixed32(&record, static_cast<uint32_t>(prefix.size() + body.size()));
  record += static_cast<char>(kind);
  record += prefix;
  *body_at = record.size();
  record.append(body.data(), body.size());
  EncodeFixed32(record.data(), crc32c::Mask(crc32c::Value(record.data() + 4, record.size() - 4)));
  return record;
}

Frame::Frame(const Slice& bytes)
    : checksum(DecodeFixed32(bytes.data())),
      length(DecodeFixed32(bytes.data() + 4)),
      kind(bytes[kFrameSize - 1]),
      checked_(bytes.data() + 4, kFrameSize - 4) {}

bool Frame::IsSound(const Slice& record) const {
  const uint32_t crc = crc32c::Value(checked_.data(), checked_.size());
  return checksum == crc32c::Mask(crc32c::Extend(crc, record.data(), record.size()));
}

IOStatus Apply(char kind, const Slice& name, const Slice& body, uint64_t body_at,
               RecipeLogContents* contents) {
  LoggedSegment segment;
  switch (static_cast<Kind>(kind)) {
    case Kind::kRecipe: {
      LoggedRecipe& recipe = contents->recipes[name.ToString()];
      recipe.offset = body_at;
      recipe.size = body.size();
      break;
    }
    case Kind::kDrop:
      contents->recipes.erase(name.ToString());
      break;
    case Kind::kSegment:
      if (DecodeSegment(body, &segment)) {
        contents->segments[segment.id] = segment;
        contents->next_segment = std::max(contents->next_segment, segment.id + 1);
      }
      break;
    case Kind::kForget:
      if (DecodeSegment(body, &segment)) {
        contents->segments.erase(segment.id);
      }
      break;
    case Kind::kNext:
      if (DecodeSegment(body, &segment)) {
        contents->next_segment = std::max(contents->next_segment, segment.id);
      }
      break;
    case Kind::kDirectory:
      contents->directories.insert(name.ToString());
      break;
    case Kind::kTier:
      contents->tiers.insert(name.ToString());
      break;
    default:
      return IOStatus::Corruption("has a record of an unknown kind");
  }
  return IOStatus::OK();
}

}  // namespace recipe_log
}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
