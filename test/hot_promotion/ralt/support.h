// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Helpers of RALT's tests.

#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "plugin/hot_promotion/ralt/buffer.h"
#include "plugin/hot_promotion/ralt/key.h"
#include "plugin/hot_promotion/ralt/ralt.h"
#include "plugin/hot_promotion/ralt/tree.h"
#include "rocksdb/env.h"
#include "test/support/seed.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

using rocktier::Seed;

inline std::string Name(uint64_t number) {
  char name[32];
  snprintf(name, sizeof(name), "key%08llu", static_cast<unsigned long long>(number));
  return name;
}

inline std::string Whole(Space space, const std::string& key) {
  return Key(space, key).slice().ToString();
}

inline void MakeEmpty(Env* env, const std::string& folder) {
  EXPECT_OK(env->CreateDirIfMissing(folder));
  std::vector<std::string> files;
  EXPECT_OK(env->GetChildren(folder, &files));
  for (const std::string& file : files) {
    EXPECT_OK(env->DeleteFile(folder + "/" + file));
  }
}

// A folder that is empty.
inline std::string NewFolder(Env* env, const std::string& name) {
  std::string folder = test::PerThreadDBPath(env, name);
  MakeEmpty(env, folder);
  return folder;
}

// All records of a tree.
inline std::map<std::string, Record> RecordsOf(const Tree& tree) {
  std::map<std::string, Record> records;
  const std::unique_ptr<Merger> merger = tree.TEST_NewMerger();
  for (; merger->Valid(); merger->Next()) {
    records[merger->key().ToString()] = merger->record();
  }
  EXPECT_OK(merger->status());
  return records;
}

// A buffer whose chunks are in the order of the accesses of one thread.
class Feeder {
 public:
  void Access(Space space, const std::string& key, size_t value_size) {
    ASSERT_TRUE(buffer_.Add(space, key, value_size));
  }
  // Brings what was accessed into the tree.
  Status Feed(Tree* tree) {
    std::vector<Chunk> chunks = buffer_.Collect();
    const Status s = chunks.empty() ? Status::OK() : tree->Add(chunks);
    buffer_.Return(std::move(chunks));
    return s;
  }

 private:
  Buffer buffer_{1 << 20, UINT64_MAX};
};

inline bool Always() { return true; }

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
