// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Entries that tests keep, and where they get them from: logs, SSTs, chance.

#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "db/dbformat.h"
#include "plugin/tiered_env/wal/log_reader.h"
#include "rocksdb/file_system.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_reader.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// An entry that owns its bytes.
struct Kept {
  Ordinal ordinal = 0;
  SequenceNumber sequence = 0;
  SequenceNumber batch = 0;
  ValueType type = kTypeValue;
  std::string key;
  std::string value;

  Kept() = default;
  Kept(Ordinal o, const Entry& e)
      : ordinal(o),
        sequence(e.sequence),
        batch(e.batch),
        type(e.type),
        key(e.key.ToString()),
        value(e.value.ToString()) {}

  Entry AsEntry() const {
    Entry entry;
    entry.sequence = sequence;
    entry.batch = batch;
    entry.type = type;
    entry.key = key;
    entry.value = value;
    return entry;
  }
  uint64_t fingerprint() const { return FingerprintOf(type, key, value); }
};

inline bool operator==(const Kept& a, const Kept& b) {
  return a.ordinal == b.ordinal && a.sequence == b.sequence && a.batch == b.batch &&
         a.type == b.type && a.key == b.key && a.value == b.value;
}

inline std::ostream& operator<<(std::ostream& out, const Kept& kept) {
  return out << "#" << kept.ordinal << " " << kept.batch << "/" << kept.sequence << " type "
             << static_cast<int>(kept.type) << " " << kept.key.substr(0, 30) << "="
             << kept.value.substr(0, 30);
}

// Keeps a copy of each entry that it visits.
class EntryCollector : public EntryVisitor {
 public:
  void OnEntry(Ordinal ordinal, const Entry& entry) override { kept.emplace_back(ordinal, entry); }

  std::vector<Kept> kept;
};

inline std::vector<Kept> EntriesOfLog(const std::string& path, uint64_t number) {
  EntryCollector manager;
  EXPECT_OK(ReadLog(FileSystem::Default().get(), path, number, &manager)) << path;
  return manager.kept;
}

inline bool IsPrefix(const std::vector<Kept>& part, const std::vector<Kept>& all) {
  return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
}

inline std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// A new file: a file system may write one that is cut off and written again to the disk at once.
inline void WriteBytes(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
}

struct LogFile {
  uint64_t number = 0;
  std::string path;
};

// The logs of a database, by their numbers; copies in `folder`, which the database does not delete.
inline std::vector<LogFile> CopyLogs(const std::string& database, const std::string& folder) {
  std::vector<LogFile> result;
  std::filesystem::create_directories(folder);
  for (const auto& file : std::filesystem::directory_iterator(database)) {
    if (file.path().extension() == ".log") {
      LogFile log;
      log.number = std::stoull(file.path().stem());
      log.path = folder + "/" + file.path().filename().string();
      std::filesystem::copy_file(file.path(), log.path,
                                 std::filesystem::copy_options::overwrite_existing);
      result.push_back(log);
    }
  }
  std::sort(result.begin(), result.end(),
            [](const LogFile& a, const LogFile& b) { return a.number < b.number; });
  return result;
}

// All entries in the data blocks of all SSTs; `ordinal` and `batch` mean nothing.
inline std::vector<Kept> EntriesOfTables(const Options& options, const std::string& database) {
  std::vector<Kept> result;
  for (const auto& file : std::filesystem::directory_iterator(database)) {
    if (file.path().extension() != ".sst") {
      continue;
    }
    SstFileReader reader(options);
    EXPECT_OK(reader.Open(file.path().string()));
    const std::unique_ptr<Iterator> it = reader.NewTableIterator();
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      ParsedInternalKey parsed;
      EXPECT_OK(ParseInternalKey(it->key(), &parsed, /*log_err_key=*/true));
      Kept kept;
      kept.sequence = parsed.sequence;
      kept.type = parsed.type;
      kept.key = parsed.user_key.ToString();
      kept.value = it->value().ToString();
      result.push_back(kept);
    }
    EXPECT_OK(it->status());
  }
  return result;
}

inline std::string RandomText(std::mt19937_64* random, size_t most) {
  std::string result((*random)() % (most + 1), '\0');
  for (char& c : result) {
    c = static_cast<char>('a' + (*random)() % 16);
  }
  return result;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
