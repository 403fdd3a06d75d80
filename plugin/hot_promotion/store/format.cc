// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/store/format.h"

#include <algorithm>

#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

Status OtherFormat(const std::string& path, const std::string& format) {
  constexpr size_t kMost = 32;  // of what nobody has checked
  return Status::NotSupported(path, "has format " + format.substr(0, kMost) +
                                        "; this build reads " + kFormerFormat + " and " + kFormat);
}

void EncodeKeyHeader(Way way, const FileId& file, Tag tag, char* bytes) {
  bytes[0] = static_cast<char>(way);
  EncodeFixed64(bytes + 1, file[0]);
  EncodeFixed64(bytes + 9, file[1]);
  bytes[1 + kFileIdSize] = static_cast<char>(tag);
}

namespace {

std::string EncodeKey(Way way, const FileId& file, Tag tag, const Slice& user_key) {
  std::string key(kKeyHeaderSize, '\0');
  key.reserve(kKeyHeaderSize + user_key.size());
  EncodeKeyHeader(way, file, tag, key.data());
  key.append(user_key.data(), user_key.size());
  return key;
}

}  // namespace

std::string EncodeRecordKey(Way way, const FileId& file, const Slice& user_key) {
  return EncodeKey(way, file, Tag::kRecord, user_key);
}

std::string EncodeFileKey(Way way, const FileId& file) {
  return EncodeKey(way, file, Tag::kFile, Slice());
}

std::string FirstKeyOf(Way way, const FileId& file) { return EncodeFileKey(way, file); }

// No key has this tag, so that it comes after all.
std::string LastKeyOf(Way way, const FileId& file) {
  std::string key = EncodeFileKey(way, file);
  key.back() = '\xff';
  return key;
}

bool DecodeKey(const Slice& bytes, StoreKey* key) {
  if (bytes.size() < kKeyHeaderSize) {
    return false;
  }
  key->way = static_cast<Way>(bytes[0]);
  key->file = {DecodeFixed64(bytes.data() + 1), DecodeFixed64(bytes.data() + 9)};
  key->tag = static_cast<Tag>(bytes[1 + kFileIdSize]);
  key->user_key = Slice(bytes.data() + kKeyHeaderSize, bytes.size() - kKeyHeaderSize);
  return (key->way == Way::kPromoted || key->way == Way::kRetained) &&
         key->file != kNullUniqueId64x2 &&
         (key->tag == Tag::kRecord || (key->tag == Tag::kFile && key->user_key.empty()));
}

std::string EncodeFileEntry(const FileEntry& entry) {
  std::string value;
  PutFixed64(&value, entry.space);
  for (size_t i = 0; i < std::min(entry.places.size(), FileEntry::kMostPlaces); i++) {
    PutLengthPrefixedSlice(&value, entry.places[i].file_system);
    PutLengthPrefixedSlice(&value, entry.places[i].path);
  }
  return value;
}

bool DecodeFileEntry(const Slice& value, FileEntry* entry) {
  Slice input = value;
  entry->places.clear();
  if (!GetFixed64(&input, &entry->space) || input.empty()) {
    return false;
  }
  while (!input.empty()) {
    Slice file_system;
    Slice path;
    if (entry->places.size() == FileEntry::kMostPlaces ||
        !GetLengthPrefixedSlice(&input, &file_system) || !GetLengthPrefixedSlice(&input, &path)) {
      return false;
    }
    entry->places.push_back({file_system.ToString(), path.ToString()});
  }
  return true;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
