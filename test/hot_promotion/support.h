// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugin/hot_promotion/engine/engine.h"
#include "plugin/hot_promotion/factory.h"
#include "plugin/hot_promotion/hot_promotion.h"
#include "rocksdb/db.h"
#include "test/support/open_db.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

std::string KeyOf(int i);
// Values of different versions differ in all bytes but for chance.
std::string ValueOf(int i, int version = 0);

// A database whose SSTs are all on slow storage, with a hot_promotion directory of its own; no
// compactions but those that are asked for. Both are removed with it.
class HotDb : public testing::Test {
 protected:
  HotDb();
  ~HotDb() override;

  // With options_, hot_ and table_options_ as they are; again after Close().
  void Open();
  void Close();
  // Closes, and forgets the options' table factory, so that the directory is closed too.
  void CloseAll();
  void Reopen() {
    CloseAll();
    Open();
  }

  void Fill(int from, int to, int version = 0);
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  void Compact();

  // Reads keys so often that they are hot, copied to the store, and served from there.
  void Heat(int from, int to);
  // The store may be without room until its compactions have caught up. A damaged one is opened
  // anew in some seconds.
  void Settle();

  std::string Get(const Slice& key, const ReadOptions& options = ReadOptions());
  std::string Get(int i, const ReadOptions& options = ReadOptions()) {
    return Get(KeyOf(i), options);
  }
  std::vector<std::string> MultiGet(const std::vector<std::string>& keys,
                                    const ReadOptions& options = ReadOptions());

  HotPromotionStats Stats() const;
  // Of reads since the last call.
  struct Served {
    uint64_t memory = 0;
    uint64_t store = 0;
    uint64_t fast = 0;
    uint64_t slow = 0;
    uint64_t bypassed = 0;
    bool operator==(const Served& other) const {
      return memory == other.memory && store == other.store && fast == other.fast &&
             slow == other.slow && bypassed == other.bypassed;
    }
  };
  Served TakeServed();

  virtual void NewFactory();

  const std::string root_;
  const std::string path_;  // of the database
  Options options_;
  HotPromotionOptions hot_;
  bool may_be_damaged_ = false;  // the store
  BlockBasedTableOptions table_options_;
  std::unique_ptr<DB> db_;
  Served before_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
