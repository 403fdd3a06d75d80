// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Keys and values of the hot store; see FORMAT.md. No I/O.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "table/unique_id_impl.h"
#include "util/hash.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// FileId: an SST, by its internal unique id, which its properties give. Never null where one is
// expected.
using FileId = UniqueId64x2;

constexpr size_t kFileIdSize = 16;
constexpr size_t kKeyHeaderSize = 1 + kFileIdSize + 1;

// Way: how a copy came to the store; the first byte of its key. A file of the store with retained
// records has those of one SST only, so that it is written once and deleted with the SST.
enum class Way : char {
  kPromoted = 1,  // when it was read
  kRetained = 2   // when its SST was written
};

// Tag: what follows the id in a key.
enum class Tag : char {
  kFile = 0,    // what is known of the SST; the key ends here
  kRecord = 1,  // a record of it; its user key follows
};

// The one key without an SST's id, and what it must have: another store is not read.
constexpr char kFormatKey[] = "format";
constexpr char kFormat[] = "hot_promotion 3";
// The former format. Such a store is read, and becomes one of the current format. An SST had one
// place there.
constexpr char kFormerFormat[] = "hot_promotion 2";

// NotSupported: the store at `path` has this format, which is none of the two.
Status OtherFormat(const std::string& path, const std::string& format);

// Writes kKeyHeaderSize bytes.
void EncodeKeyHeader(Way way, const FileId& file, Tag tag, char* bytes);
std::string EncodeRecordKey(Way way, const FileId& file, const Slice& user_key);
std::string EncodeFileKey(Way way, const FileId& file);
// Bounds of all keys of an SST, both inclusive.
std::string FirstKeyOf(Way way, const FileId& file);
std::string LastKeyOf(Way way, const FileId& file);

// StoreKey: a key of the store that names an SST.
struct StoreKey {
  Way way = Way::kPromoted;
  FileId file{};
  Tag tag = Tag::kFile;
  Slice user_key;  // empty for Tag::kFile
};

// False if it is none.
bool DecodeKey(const Slice& bytes, StoreKey* key);

// Returns the user key in the key of a record.
inline Slice UserKeyOf(const Slice& key) {
  return Slice(key.data() + kKeyHeaderSize, key.size() - kKeyHeaderSize);
}

// Whether a key is that of a record, and not of what is known of its SST. `key` is one of an SST.
inline bool IsRecord(const Slice& key) {
  return key[kKeyHeaderSize - 1] == static_cast<char>(Tag::kRecord);
}

// Returns a hash that is the same for all copies of a record, however they came. `key` is one of an
// SST.
inline uint64_t HashOfKey(const Slice& key) {
  return GetSliceNPHash64(Slice(key.data() + 1, key.size() - 1));
}

// Place: where an SST is.
struct Place {
  std::string file_system;  // name of the FileSystem that has it
  std::string path;
  bool operator==(const Place& other) const {
    return file_system == other.file_system && path == other.path;
  }
};

// FileEntry: what is known of an SST. An SST has more than one place if it is in a database and its
// checkpoint, say, or if a family was imported.
struct FileEntry {
  // More are not stored.
  static constexpr size_t kMostPlaces = 8;

  uint64_t space = 0;         // of its records in the access table
  std::vector<Place> places;  // one at least
};

std::string EncodeFileEntry(const FileEntry& entry);
bool DecodeFileEntry(const Slice& value, FileEntry* entry);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
