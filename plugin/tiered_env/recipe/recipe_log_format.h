// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The codec of the recipe log, version 2: pure functions, without I/O and thread-safe. FORMAT.md
// says what the log is for, and what its records mean. Integers are little-endian.
//
//   offset size  of the file
//        0    8  "rktrecip"
//        8    4  version
//       12   16  id of the database, random bytes; version 1 has zeros here
//       28    4  CRC-32C of the 28 bytes before, masked
//       32       records
//
//   offset size  of a record
//        0    4  CRC-32C of all that follows, masked
//        4    4  length of name and body
//        8    1  kind
//        9    n  name, its length before it as a varint
//             n  body

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "rocksdb/io_status.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

constexpr uint64_t kNoLog = 0;  // a number that no log has: the id is another home's

// A write-ahead log that recipes refer to.
struct LoggedSegment {
  uint64_t id = 0;          // never that of another one in this database
  uint64_t log_number = 0;  // its name, while RocksDB has it
  uint64_t entries = 0;     // that it has
  uint64_t digest = 0;      // Segment::digest()
  // Bytes of the log that were read: what is behind may have been appended since.
  uint64_t bytes = 0;
};

// The place of a recipe in the file.
struct LoggedRecipe {
  uint64_t offset = 0;
  uint64_t size = 0;  // bytes
};

// What a recipe log says, once all its records are applied.
struct RecipeLogContents {
  std::string database;                         // its id, random bytes; empty: there is none yet
  bool knows_database = true;                   // false: the header is damaged, so the id may be
  std::map<std::string, LoggedRecipe> recipes;  // by name of the SST
  std::map<uint64_t, LoggedSegment> segments;   // by id
  uint64_t next_segment = 1;                    // the least id that was never used
  std::set<std::string> directories;            // NameOfLogDirectory() of others, with logs
  std::set<std::string> tiers;                  // names of those that are memory
  // What there is to say of records that are not sound, in which file; empty: all are sound.
  std::string damage;
};

namespace recipe_log {

constexpr size_t kHeaderSize = 32;
constexpr size_t kIdSize = 16;             // bytes of a database's id
constexpr size_t kFrameSize = 9;           // of a record: checksum, length, kind
constexpr uint64_t kMostRecord = 1 << 30;  // bytes: the log ends before a longer one
constexpr size_t kMostNamePrefix = 5;      // bytes of a name's length

enum class Kind : char {
  kRecipe = 1,
  kDrop = 2,
  kSegment = 3,
  kForget = 4,
  kNext = 5,
  kDirectory = 6,
  kTier = 7
};

// What stands before the name and the body of a record.
struct Frame {
  explicit Frame(const Slice& bytes);  // kFrameSize of them
  // Whether the checksum is that of the frame and what follows.
  bool IsSound(const Slice& record) const;

  uint32_t checksum;
  uint32_t length;
  char kind;

 private:
  const std::string checked_;  // length and kind, as they are in the file
};

// Whether there is a sound record anywhere in some bytes. What is before it is damaged then, and no
// end of the log that a crash has torn.
bool HasRecord(const Slice& bytes);

// The name of a file, and its number; 0 of what is no recipe log.
std::string NameOf(uint64_t number);
uint64_t NumberOf(const std::string& name);

std::string EncodeHeader(const std::string& id);
// Corruption, NotSupported: as for all formats. *id is empty in the first version, and what stands
// in its place after Corruption.
IOStatus DecodeHeader(const Slice& header, const std::string& path, std::string* id);

std::string EncodeSegment(const LoggedSegment& segment);

// `body_at`: where the body begins in the record.
std::string EncodeRecord(Kind kind, const Slice& name, const Slice& body, uint64_t* body_at);
// Does what a record says; `body_at`: where its body is in the file. Corruption: there is no such
// kind of record.
IOStatus Apply(char kind, const Slice& name, const Slice& body, uint64_t body_at,
               RecipeLogContents* contents);

}  // namespace recipe_log
}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
