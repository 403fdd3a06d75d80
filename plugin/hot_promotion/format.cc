// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/format.h"

#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

void AppendKeyHeader(const FileId& file, Tag tag, std::string* key) {
  PutFixed64(key, file[0]);
  PutFixed64(key, file[1]);
  key->push_back(static_cast<char>(tag));
}

std::string EncodeRecordKey(const FileId& file, const Slice& user_key) {
  std::string key;
  key.reserve(kKeyHeaderSize + user_key.size());
  AppendKeyHeader(file, Tag::kRecord, &key);
  key.append(user_key.data(), user_key.size());
  return key;
}

std::string EncodeFileKey(const FileId& file) {
  std::string key;
  AppendKeyHeader(file, Tag::kFile, &key);
  return key;
}

std::string FirstKeyOf(const FileId& file) { return EncodeFileKey(file); }

// No key has this tag, so that it comes after all.
std::string LastKeyOf(const FileId& file) {
  std::string key = EncodeFileKey(file);
  key.back() = '\xff';
  return key;
}

bool DecodeKey(const Slice& key, FileId* file, Tag* tag, Slice* user_key) {
  if (key.size() < kKeyHeaderSize) {
    return false;
  }
  const char kind = key[kFileIdSize];
  if (kind != static_cast<char>(Tag::kFile) && kind != static_cast<char>(Tag::kRecord)) {
    return false;
  }
  *file = {DecodeFixed64(key.data()), DecodeFixed64(key.data() + 8)};
  *tag = static_cast<Tag>(kind);
  *user_key = Slice(key.data() + kKeyHeaderSize, key.size() - kKeyHeaderSize);
  return *file != kNullUniqueId64x2 && (*tag == Tag::kRecord || user_key->empty());
}

std::string EncodeFileEntry(const FileEntry& entry) {
  std::string value;
  PutFixed64(&value, entry.space);
  PutLengthPrefixedSlice(&value, entry.file_system);
  PutLengthPrefixedSlice(&value, entry.path);
  return value;
}

bool DecodeFileEntry(const Slice& value, FileEntry* entry) {
  Slice input = value;
  Slice file_system;
  Slice path;
  if (!GetFixed64(&input, &entry->space) || !GetLengthPrefixedSlice(&input, &file_system) ||
      !GetLengthPrefixedSlice(&input, &path) || !input.empty()) {
    return false;
  }
  entry->file_system = file_system.ToString();
  entry->path = path.ToString();
  return true;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
