// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "test/tiered_env/support/volatile.h"

namespace rocktier {

// Databases with a tier in memory that cannot be recovered.
class SalvageTest : public VolatileTest {
 protected:
  void Prepare() { PrepareRetained(8000); }
  // Then some of its SSTs cannot be rebuilt.
  void PrepareLoss() {
    Prepare();
    ASSERT_GT(Kept(".log").size(), 1u);
    std::filesystem::remove(Kept(".log").front());
    LoseMemory();
    MountMemory();
  }
  void ExpectRefused(const ROCKSDB_NAMESPACE::Status& s) {
    EXPECT_FALSE(s.ok());
    EXPECT_NE(s.ToString().find("--salvage"), std::string::npos) << s.ToString();
  }
  // What a record has, of RocksDB's format of logs: a wrong length would be taken for an end that a
  // crash has torn.
  static void DamageInTheMiddle(const std::string& path) {
    constexpr size_t kHeader = 7;
    std::string bytes;
    ASSERT_OK(ReadFileToString(ROCKSDB_NAMESPACE::Env::Default(), path, &bytes));
    ASSERT_LT(bytes.size(), 32768u);  // of one block
    size_t at = 0;
    while (at < bytes.size() / 2) {
      at += kHeader + static_cast<unsigned char>(bytes[at + 4]) +
            256 * static_cast<size_t>(static_cast<unsigned char>(bytes[at + 5]));
    }
    ASSERT_LT(at + kHeader, bytes.size());
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at + kHeader));
    file.put(static_cast<char>(bytes[at + kHeader] ^ 1));
  }
  size_t FilesInDatabase() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
      const std::string base = entry.path().filename().string();
      count += base.compare(0, 3, "LOG") != 0 && base != "LOCK" ? 1 : 0;
    }
    return count;
  }
  void ExpectNothingOfMemory() {
    EXPECT_EQ(FilesIn("memory"), 0u);
    EXPECT_TRUE(Kept("RECIPES").empty());
    EXPECT_TRUE(Kept(".log").empty());
    EXPECT_TRUE(Kept(".seg").empty());
  }
};

}  // namespace rocktier
