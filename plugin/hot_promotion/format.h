// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Keys and values of the hot store; see FORMAT.md. No I/O.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/slice.h"
#include "table/unique_id_impl.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// An SST: its internal unique id, which its properties give. Never null where one is expected.
using FileId = UniqueId64x2;

constexpr size_t kFileIdSize = 16;
constexpr size_t kKeyHeaderSize = kFileIdSize + 1;

// What follows the id in a key.
enum class Tag : char {
  kFile = 0,    // what is known of the SST; the key ends here
  kRecord = 1,  // a record of it; its user key follows
};

// The one key without an SST's id, and what it must have: another store is not read.
constexpr char kFormatKey[] = "format";
constexpr char kFormat[] = "hot_promotion 1";

void AppendKeyHeader(const FileId& file, Tag tag, std::string* key);
std::string EncodeRecordKey(const FileId& file, const Slice& user_key);
std::string EncodeFileKey(const FileId& file);
// Bounds of all keys of an SST, both inclusive.
std::string FirstKeyOf(const FileId& file);
std::string LastKeyOf(const FileId& file);

// False if that is no key of an SST.
bool DecodeKey(const Slice& key, FileId* file, Tag* tag, Slice* user_key);

// What is known of an SST.
struct FileEntry {
  uint64_t space = 0;       // of its records in the access table
  std::string file_system;  // name of the FileSystem that has it
  std::string path;
};

std::string EncodeFileEntry(const FileEntry& entry);
bool DecodeFileEntry(const Slice& value, FileEntry* entry);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
