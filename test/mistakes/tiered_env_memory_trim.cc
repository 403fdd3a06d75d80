// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory: how much of logs is retained, whatever the sizes of values are, and how soon
// they are let go.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "plugin/tiered_env/files/names.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/hooks.h"
#include "test/tiered_env/support/volatile.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

class MemoryTrim : public VolatileTest {
 protected:
  MemoryTrim() {
    SyncPoint::GetInstance()->SetCallBack("RecoveryManager::Trim:Small",
                                          [](void* small) { *static_cast<uint64_t*>(small) = 0; });
    SyncPoint::GetInstance()->EnableProcessing();
  }
  // All levels are in memory, and keep their sequence numbers.
  void OpenAllInMemory(const std::string& more = "", bool compactions = true) {
    more_ = more;
    NewFs(MemoryTiers(), "0..=memory", more);
    Options options = DbOptions();
    options.write_buffer_size = 4 << 20;
    options.target_file_size_base = 2 << 20;
    options.max_bytes_for_level_base = 8 << 20;
    options.preserve_internal_time_seconds = 1000000;
    options.disable_auto_compactions = !compactions;
    Open(options);
  }
  void Put(const std::string& key, size_t size) {
    std::string value(size, '\0');
    for (char& c : value) {
      c = static_cast<char>('a' + random_() % 26);
    }
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
    model_[key] = std::move(value);
  }
  // Records of 1,000 bytes.
  void WriteAndFlush(const std::string& prefix, int count) {
    for (int i = 0; i < count; i++) {
      Put(prefix + std::to_string(1000 + i), 1000);
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  void ExpectThresholdHolds() {
    Settle();
    EXPECT_TRUE(WaitFor([this] { return Stats().wal_amplification() <= 1.5; }));
    const VolatileStats stats = Stats();
    EXPECT_LE(stats.retained_bytes, stats.bytes * 3 / 2);
    EXPECT_GT(stats.trims, 0u);
    EXPECT_GT(stats.live_bytes, 0u);
    printf("%llu bytes in memory, %llu retained, %llu trims, %llu bytes written for them\n",
           static_cast<unsigned long long>(stats.bytes),
           static_cast<unsigned long long>(stats.retained_bytes),
           static_cast<unsigned long long>(stats.trims),
           static_cast<unsigned long long>(stats.archived_bytes));
  }
  // What was retained brings all of it back.
  void LoseAll(bool compactions = true) {
    Close();
    LoseMemory();
    OpenAllInMemory(more_, compactions);
    ASSERT_FALSE(HasFailure());
    EXPECT_GT(Stats().rebuilt_files, 0u);
    Verify();
    ASSERT_OK(db_->VerifyChecksum());
  }
  size_t LiveSsts() const {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    return files.size();
  }
  // Three SSTs of the same 1,000 keys in level 0, and nothing compacts by itself.
  void WriteThrice() {
    OpenAllInMemory("", /*compactions=*/false);
    ASSERT_FALSE(HasFailure());
    for (int version = 0; version < 3; version++) {
      for (int i = 0; i < 1000; i++) {
        Put("key" + std::to_string(1000 + i), 100);
      }
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    ASSERT_EQ(LiveSsts(), 3u);
    ASSERT_EQ(FilesIn("memory"), 3u);
    ASSERT_EQ(Stats().live_entries, 3000u);
  }

  std::string more_;
};

// Of each log 19 of 20 entries are live, and next to none of its bytes. With ROCKTIER_ROUNDS=6200
// as it was found.
TEST_F(MemoryTrim, SmallPutsBesideALargeOverwrite) {
  OpenAllInMemory();
  for (int round = 0; round < Rounds(600) && !HasFailure(); round++) {
    for (int i = 0; i < 19; i++) {
      Put("small" + std::to_string(1000000 + round * 19 + i), 100);
    }
    Put("large", 256 << 10);
  }
  ExpectThresholdHolds();
  EXPECT_GT(Stats().bytes, 1000000u);
  LoseAll();
}

// Small ones stay, any others are overwritten.
TEST_F(MemoryTrim, SizesFrom10BytesTo1Megabyte) {
  random_.seed(Seed());
  for (const std::string codec : {"none", "zstd"}) {
    SCOPED_TRACE(codec);
    OpenAllInMemory("wal_compression=" + codec);
    for (int i = 0; i < Rounds(12000) && !HasFailure(); i++) {
      const double exponent = static_cast<double>(random_() % 1000001) / 1e6;
      const bool is_small = random_() % 20 != 0;
      const auto size = static_cast<size_t>(10 * std::pow(is_small ? 100 : 1e5, exponent));
      Put(is_small ? "small" + std::to_string(i) : "any" + std::to_string(random_() % 12), size);
    }
    ExpectThresholdHolds();
    LoseAll();
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    model_.clear();
  }
}

// Of each log a few bytes are left, less than the headers around them: that is not written again
// and again.
TEST_F(MemoryTrim, WhatCannotShrinkIsLeftAlone) {
  OpenAllInMemory("wal_amplification_high=1.1;wal_amplification_low=1");
  ASSERT_FALSE(HasFailure());
  for (int i = 0; i < 100; i++) {
    Put("key" + std::to_string(i), 10);
    Put("large", i < 99 ? 10000 : 10);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_TRUE(WaitFor([this] { return Stats().trims > 80; }));
  uint64_t trims = 0;
  EXPECT_TRUE(WaitFor([&] {
    trims = Stats().trims;
    std::this_thread::sleep_for(std::chrono::seconds(1));  // the recovery manager looks five times
    return Stats().trims == trims;
  })) << trims;
  EXPECT_GT(Stats().wal_amplification(), 1.1) << "it would go on if it could";
  LoseAll();
}

// What needs it cannot leave the memory. The others are trimmed nevertheless, and the threshold
// holds.
TEST_F(MemoryTrim, ADamagedLogIsLeftOut) {
  const auto hooks = std::make_shared<HookedFs>();
  std::atomic<bool> fails{true};
  hooks->before_create = [&](const std::string& path) {
    const bool is_copy = path.compare(0, TierPath("slow").size(), TierPath("slow")) == 0 ||
                         path.find(kTemporary) != std::string::npos;  // at home
    const bool leaves = is_copy && path.find(".sst") != std::string::npos;
    return leaves && fails ? IOStatus::IOError(path, "injected") : IOStatus::OK();
  };
  target_ = hooks;
  OpenAllInMemory("", /*compactions=*/false);
  ASSERT_FALSE(HasFailure());
  WriteAndFlush("a", 300);
  ASSERT_TRUE(WaitFor([this] { return Kept(".log").size() == 1; }));
  const std::string damaged = Kept(".log").front();
  {
    std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(damaged) / 2));
    file << "something else";
  }
  WriteAndFlush("b", 300);
  WriteAndFlush("c", 300);
  WriteAndFlush("a", 250);  // the least is left of the damaged one: it is tried first
  WriteAndFlush("b", 200);
  WriteAndFlush("c", 200);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_TRUE(WaitFor([this] { return Stats().damaged_logs == 1; }));
  EXPECT_TRUE(WaitFor([this] { return Stats().trims >= 2; })) << Stats().trims;
  EXPECT_TRUE(WaitFor([this] { return Stats().wal_amplification() <= 1.5; }))
      << Stats().wal_amplification();
  EXPECT_TRUE(std::filesystem::exists(damaged));
  EXPECT_GT(Stats().bytes, 0u);
  EXPECT_EQ(BytesIn("slow"), 0u);
  fails = false;
  EXPECT_TRUE(WaitFor([&] { return !std::filesystem::exists(damaged); })) << "nothing needs it";
  EXPECT_EQ(Stats().damaged_logs, 1u);
  WriteAndFlush("d", 300);
  LoseAll(/*compactions=*/false);
  Close();
  hooks->before_create = nullptr;
}

// A disk that cannot read retained logs for a while.
class UnreadableFs : public HookedFs {
 public:
  std::atomic<int> left{0};  // errors
  std::atomic<int> failed{0};

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    if (left > 0 && IsKept(BaseOf(path)) && EndsWith(path, ".log")) {
      left--;
      failed++;
      return IOStatus::IOError(path, "injected");
    }
    return HookedFs::NewSequentialFile(path, options, result, dbg);
  }
};

// It counts as damaged when it cannot be read again and again.
TEST_F(MemoryTrim, ALogThatCannotBeReadOnceIsTriedAgain) {
  const auto disk = std::make_shared<UnreadableFs>();
  target_ = disk;
  OpenAllInMemory("", /*compactions=*/false);
  ASSERT_FALSE(HasFailure());
  WriteAndFlush("a", 300);
  WriteAndFlush("a", 250);
  disk->left = 1;
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_TRUE(WaitFor([this] { return Stats().trims >= 1 || Stats().damaged_logs > 0; }));
  EXPECT_EQ(disk->failed, 1);
  EXPECT_EQ(Stats().damaged_logs, 0u);
  EXPECT_EQ(BytesIn("slow"), 0u);

  SyncPoint::GetInstance()->SetCallBack("WalSegments::NoteUnread:Pause", [](void* pause) {
    *static_cast<std::chrono::milliseconds*>(pause) = std::chrono::milliseconds(0);
  });
  WriteAndFlush("b", 900);
  WriteAndFlush("b", 800);
  disk->left = 1000;
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_TRUE(WaitFor([this] { return Stats().damaged_logs > 0; }));
  EXPECT_GE(disk->failed, 1 + 3);
  disk->left = 0;
  WriteAndFlush("c", 300);
  LoseAll(/*compactions=*/false);
}

// An iterator keeps them from being deleted.
TEST_F(MemoryTrim, BitmapsFollowTheCompactionNotTheDeletion) {
  WriteThrice();
  const auto before = model_;
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  for (int i = 0; i < 500; i++) {
    Put("key" + std::to_string(1000 + i), 200);
  }
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  const size_t live = LiveSsts();
  EXPECT_GE(FilesIn("memory"), live + 3) << "the iterator has them";
  EXPECT_EQ(Stats().recipes, live);
  EXPECT_EQ(Stats().live_entries, 1000u);
  auto expected = before.begin();
  for (; it->Valid(); it->Next(), ++expected) {
    ASSERT_NE(expected, before.end());
    ASSERT_EQ(it->key(), expected->first);
    ASSERT_EQ(it->value(), expected->second);
  }
  ASSERT_OK(it->status());
  EXPECT_EQ(expected, before.end());
  it.reset();
  ASSERT_TRUE(WaitFor([&] { return FilesIn("memory") == live; }));
  EXPECT_EQ(Stats().live_entries, 1000u) << "nothing is released twice";
  EXPECT_EQ(Stats().recipes, live);
  LoseAll(/*compactions=*/false);
}

// The process dies before they are deleted: their stubs are there.
TEST_F(MemoryTrim, WhatWasRewrittenNeedsNoRecipeAfterACrash) {
  for (const bool lost : {true, false}) {
    SCOPED_TRACE(lost);
    WriteThrice();
    ASSERT_OK(db_->DisableFileDeletions());
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    EXPECT_EQ(Stats().live_entries, 1000u);
    const size_t live = LiveSsts();
    EXPECT_EQ(FilesIn("memory"), live + 3);
    Close();
    ASSERT_EQ(FilesOf(".sst").size(), live + 3);
    if (lost) {
      LoseMemory();
    }
    OpenAllInMemory("", /*compactions=*/false);
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(Stats().rebuilt_files, lost ? live : 0u);
    Verify();
    EXPECT_EQ(FilesOf(".sst").size(), live);
    LoseAll(/*compactions=*/false);
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    model_.clear();
  }
}

// A checkpoint that has listed them gets them.
TEST_F(MemoryTrim, ACheckpointHasWhatWasRewrittenMeanwhile) {
  WriteThrice();
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  ASSERT_OK(db_->DisableFileDeletions());
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(Stats().live_entries, 1000u);
  for (const LiveFileMetaData& file : files) {
    const std::string copy = folder_ + file.name;
    ASSERT_OK(env_->LinkFile(db_name_ + file.name, copy));
    uint64_t size = 0;
    ASSERT_OK(Env::Default()->GetFileSize(copy, &size));
    EXPECT_EQ(size, file.size);
  }
  ASSERT_OK(db_->EnableFileDeletions());
  LoseAll(/*compactions=*/false);
}

// It names the file as its input, and needs it.
TEST_F(MemoryTrim, WhatWasMovedKeepsItsRecipe) {
  OpenAllInMemory("", /*compactions=*/false);
  for (int i = 0; i < 1000 && !HasFailure(); i++) {
    Put("key" + std::to_string(1000 + i), 100);
  }
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_GT(files[0].level, 0);
  EXPECT_EQ(Stats().recipes, 1u);
  EXPECT_EQ(Stats().live_entries, 1000u);
  LoseAll(/*compactions=*/false);
}

// Nobody knows whether the MANIFEST names its inputs or its outputs.
TEST_F(MemoryTrim, WhatCouldNotBeInstalledKeepsItsRecipes) {
  WriteThrice();
  SyncPoint::GetInstance()->SetCallBack(
      "VersionSet::ProcessManifestWrites:AfterSyncManifest",
      [](void* status) { *static_cast<IOStatus*>(status) = IOStatus::IOError("no sync"); });
  EXPECT_FALSE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  SyncPoint::GetInstance()->ClearCallBack("VersionSet::ProcessManifestWrites:AfterSyncManifest");
  EXPECT_GE(Stats().recipes, 3u);
  EXPECT_EQ(Stats().live_entries, 3000u);
  LoseAll(/*compactions=*/false);
}

}  // namespace

}  // namespace rocktier
