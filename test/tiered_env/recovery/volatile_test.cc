// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory: what they lose comes back.

#include "test/tiered_env/support/volatile.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "plugin/tiered_env/compat.h"
#include "plugin/tiered_env/fs/find.h"
#include "rocksdb/table.h"
#include "test/support/files.h"
#include "test/support/wait.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

constexpr auto kCopy = fs::copy_options::recursive | fs::copy_options::overwrite_existing;

// Until what runs in the background has made it so.
template <typename Condition>
bool Eventually(const Condition& condition) {
  return WaitFor(condition, std::chrono::seconds(120));
}

TEST_F(VolatileTest, ComesBack) {
  OpenMemory();
  Fill(20000);
  Settle();
  const VolatileStats before = Stats();

  EXPECT_GT(before.bytes, 100000u);
  EXPECT_GT(before.references,
            before.entries / 2);  // the others lost their sequence numbers at the bottom
  Close();
  for (int round = 0; round < 3; round++) {
    SCOPED_TRACE(round);
    LoseMemory();
    OpenMemory();
    ASSERT_FALSE(HasFailure());
    const VolatileStats after = Stats();
    EXPECT_GT(after.rebuilt_files, 0u);
    Verify();
    ASSERT_OK(db_->VerifyChecksum());
    Fill(3000);
    Settle();
    Verify();
    Close();
  }
}

// The newer version of a key is on durable storage, its log has been trimmed or deleted; an older
// version is in a log that is retained for the sake of another column family. Who replays logs
// brings the older one back.
TEST_F(VolatileTest, OlderVersionsAreNotResurrected) {
  for (const std::string trim : {"wal_amplification_high=1.1;wal_amplification_low=1",
                                 "wal_amplification_high=1e9;wal_amplification_low=1e9"}) {
    SCOPED_TRACE(trim);
    NewFs(MemoryTiers(), "0=memory;1..=slow", trim);
    Options options = DbOptions();
    options.write_buffer_size = 64 << 20;
    options.disable_auto_compactions = true;
    Open(options);
    ASSERT_FALSE(HasFailure());
    ColumnFamilyHandle* other = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(options, "other", &other));
    const std::vector<ColumnFamilyHandle*> both = {db_->DefaultColumnFamily(), other};
    std::map<std::string, std::string> others;
    for (int version = 0; version < 3; version++) {
      for (int i = 0; i < 3000; i++) {
        const std::string key = "key" + std::to_string(10000 + i);
        if (version == 2 && i % 2 == 0) {
          ASSERT_OK(db_->Delete(WriteOptions(), key));
          model_.erase(key);
        } else {
          model_[key] =
              std::to_string(version) + std::string(4000, 'v') + std::to_string(random_());
          ASSERT_OK(db_->Put(WriteOptions(), key, model_[key]));
        }
        if (i % 30 == 0) {
          const std::string mine = std::to_string(version) + key;
          others[mine] = std::to_string(random_());
          ASSERT_OK(db_->Put(WriteOptions(), other, mine, others[mine]));
        }
      }
      ASSERT_OK(db_->Flush(FlushOptions(), both));
    }
    CompactRangeOptions down;
    down.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(down, nullptr, nullptr));
    ASSERT_OK(WaitForMoves(fs_.get()));
    const bool trims = trim[23] == '1' && trim[24] == '.';
    if (trims) {
      EXPECT_TRUE(Eventually([&] { return Stats().retained_bytes <= (4 << 20); }))
          << Stats().retained_bytes;
      EXPECT_GT(Stats().trims, 0u);
    } else {
      EXPECT_GT(Stats().retained_bytes, 24000000u);
      EXPECT_EQ(Stats().trims, 0u);
    }
    ASSERT_OK(db_->DestroyColumnFamilyHandle(other));
    Close();
    LoseMemory();
    NewFs(MemoryTiers(), "0=memory;1..=slow", trim);
    std::vector<ColumnFamilyHandle*> handles;
    ASSERT_OK(OpenInto(&db_, [&](auto* result) {
      return DB::Open(DbOptions(), db_name_,
                      {{kDefaultColumnFamilyName, DbOptions()}, {"other", DbOptions()}}, &handles,
                      result);
    }));
    EXPECT_GE(Stats().rebuilt_files, 1u);
    Verify();
    for (const auto& [key, value] : others) {
      std::string got;
      ASSERT_OK(db_->Get(ReadOptions(), handles[1], key, &got));
      ASSERT_EQ(got, value);
    }
    for (ColumnFamilyHandle* handle : handles) {
      ASSERT_OK(db_->DestroyColumnFamilyHandle(handle));
    }
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions(), {{"other", DbOptions()}}));
    EXPECT_EQ(FilesIn("memory"), 0u);
    model_.clear();
  }
}

// A log loses its middle; what comes after it is gone, and its sequence numbers are used again.
TEST_F(VolatileTest, SequenceNumbersAreUsedAgain) {
  random_.seed(Seed());
  const auto open = [this] {
    MountMemory();
    Options options = DbOptions();
    options.wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
    options.write_buffer_size = 1 << 20;
    Open(options);
  };
  uint64_t rebuilt = 0;
  for (int round = 0; round < 6; round++) {
    SCOPED_TRACE(round);
    open();
    ASSERT_FALSE(HasFailure());
    std::vector<std::pair<std::string, std::string>> written;
    for (int i = 0; i < 2000; i++) {
      // Some as they were before, at the same sequence numbers.
      written.emplace_back("key" + std::to_string(i),
                           std::to_string(round * (i % 3)) + std::string(100, 'v'));
      ASSERT_OK(db_->Put(WriteOptions(), written.back().first, written.back().second));
    }
    Close();
    fs::path log;
    for (const std::string& base : FilesOf(".log")) {
      log =
          !IsKept(base) && (log.empty() || base > log.filename()) ? fs::path(db_name_) / base : log;
    }
    {
      std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(fs::file_size(log) / 4 +
                                             random_() % (fs::file_size(log) / 2)));
      file << "damage";
    }
    open();
    ASSERT_FALSE(HasFailure());
    size_t there = 0;
    std::string value;
    for (const auto& [key, expected] : written) {
      if (!db_->Get(ReadOptions(), key, &value).ok() || value != expected) {
        break;
      }
      model_[key] = expected;
      there++;
    }
    EXPECT_LT(there, written.size());
    Verify();
    for (size_t i = there; i < written.size(); i++) {  // again, and otherwise
      model_[written[i].first] = i % 2 == 0 ? written[i].second : "other" + std::to_string(round);
      ASSERT_OK(db_->Put(WriteOptions(), written[i].first, model_[written[i].first]));
    }
    Settle();
    Close();
    LoseMemory();
    open();
    ASSERT_FALSE(HasFailure());
    rebuilt += Stats().rebuilt_files;
    Verify();
    if (round % 2 == 0) {
      ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
      Verify();
    }
    ASSERT_OK(db_->VerifyChecksum());
    Close();
  }
  EXPECT_GT(rebuilt, 0u);
}

// The tier has files of another time, or other bytes under the names that stubs have.
TEST_F(VolatileTest, WhatIsThereIsNotTrusted) {
  random_.seed(Seed());
  OpenMemory();
  Fill(15000);
  Settle();
  Close();
  const auto then = model_;
  for (const char* name : {"db", "slow", "memory"}) {
    fs::copy(folder_ + "/" + name, folder_ + "/then-" + name, kCopy);
  }
  OpenMemory();
  Fill(15000);
  Settle();
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "true"}}));
  for (int i = 0; i < 4; i++) {  // however much of that is in memory
    Fill(300);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  Close();
  const auto take = [this](const std::string& name, const std::string& from) {
    fs::remove_all(folder_ + "/" + name);
    fs::copy(folder_ + "/" + from, folder_ + "/" + name, kCopy);
  };
  for (const char* name : {"db", "slow", "memory"}) {
    take(std::string("now-") + name, name);
  }
  const auto now = model_;

  take("memory", "then-memory");
  OpenMemory();
  EXPECT_GT(Stats().rebuilt_files, 0u);
  Verify();
  Close();

  take("db", "then-db");  // and the tier is of now
  take("slow", "then-slow");
  take("memory", "now-memory");
  model_ = then;
  MountMemory();
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  for (const auto& entry : fs::directory_iterator(TierPath("memory"))) {  // nothing tells then
    fs::remove(entry.path() / "OWNER");
  }
  OpenMemory();
  Verify();
  Close();

  take("db", "now-db");
  take("slow", "now-slow");
  take("memory", "now-memory");
  model_ = now;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(TierPath("memory"))) {
    if (entry.is_regular_file() && entry.path().extension() != "" && !IsOfFolder(entry)) {
      paths.push_back(entry.path());
    }
  }
  ASSERT_GT(paths.size(), 3u);
  for (size_t i = 0; i < paths.size(); i++) {
    if (i % 3 == 0) {
      fs::copy_file(paths[(i + 1) % paths.size()], paths[i], kCopy);
    } else if (i % 3 == 1) {
      std::fstream file(paths[i], std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(random_() % fs::file_size(paths[i])));
      file.put('\x55');
      file.put('\xaa');
    } else {
      fs::resize_file(paths[i], fs::file_size(paths[i]) + random_() % 100);
    }
  }
  OpenMemory();
  EXPECT_GT(Stats().rebuilt_files, paths.size() / 3);
  Verify();
  ASSERT_OK(db_->VerifyChecksum());
}

// A file that is durable has a recipe still, of when it was in memory.
TEST_F(VolatileTest, ARecipeThatIsOldHarmsNobody) {
  OpenMemory();
  Fill(10000);
  Settle();
  Close();
  MountMemory();
  std::vector<std::string> moved;
  for (const std::string& base : FilesOf(".sst")) {
    if (TierOf(base) == "memory" && moved.size() < 3) {
      std::string later;
      ASSERT_OK(MoveToTier(fs_.get(), db_name_, base, moved.empty() ? "home" : "slow", &later));
      moved.push_back(base);
    }
  }
  ASSERT_FALSE(moved.empty());
  LoseMemory();
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  Verify();
  for (const std::string& base : moved) {
    EXPECT_NE(TierOf(base), "memory");
  }
  Fill(5000);
  Settle();
  LoseAndVerify();
}

TEST_F(VolatileTest, PersistsWhenItIsClosed) {
  OpenMemory("on_close=persist");
  Fill(15000);
  Settle();
  EXPECT_GT(Stats().bytes, 0u);
  Close();
  EXPECT_EQ(FilesIn("memory"), 0u);
  LoseMemory();
  NewFs("slow={path=" + TierPath("slow") + "}", "0..=slow");  // there is no such tier any more
  Open();
  ASSERT_FALSE(HasFailure());
  Verify();
  Close();
  EXPECT_TRUE(Kept("RECIPES").empty());
  EXPECT_TRUE(Kept(".log").empty());
  EXPECT_TRUE(Kept(".seg").empty());
}

// The mover may be at it when the database is closed, or when a log that it needs is damaged.
TEST_F(VolatileTest, TwoMovesOfOneFileHome) {
  const auto mount = [this] {
    NewFs("memory={kind=memory;path=" + TierPath("memory") + "}", "0..=memory", "mover=false");
  };
  mount();
  Options options = DbOptions();
  options.write_buffer_size = 32 << 20;
  options.disable_auto_compactions = true;
  Open(options);
  ASSERT_FALSE(HasFailure());
  Fill(4000, 1000000, 1000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Close();
  const std::string base = FilesOf(".sst").front();
  const std::string path = db_name_ + "/" + base;
  ASSERT_EQ(TierOf(base), "memory");

  TieredFileSystem* ours = nullptr;
  ASSERT_OK(FindFs(fs_.get(), &ours));
  Place place;
  ASSERT_OK(ours->names()->Resolve(path, &place));
  const std::string contents = ReadFile(place.path);
  auto database = std::make_unique<Database>(ours, db_name_);
  Database::Misplaced file;
  file.base = base;
  file.size = contents.size();
  file.from = place.tier;
  file.to = file.wanted = ours->names()->policy().home_tier();
  const int chunks = static_cast<int>((contents.size() + (1 << 20) - 1) >> 20);
  ASSERT_GT(chunks, 2);

  enum Move { kNone, kFirst, kSecond };
  static thread_local Move move = kNone;
  static thread_local int chunk = 0;  // of this move
  std::atomic<bool> first_at_its_end{false};
  std::atomic<bool> second_has_begun{false};
  std::atomic<bool> first_is_home{false};
  SyncPoint::GetInstance()->SetCallBack("Copy:Chunk", [&](void*) {
    chunk++;
    if (move == kFirst && chunk == chunks) {
      first_at_its_end = true;
      WaitFor([&] { return second_has_begun.load(); });
    } else if (move == kSecond && chunk == 2) {  // it has written the first one
      second_has_begun = true;
      WaitFor([&] { return first_is_home.load(); });
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  const auto bring_home = [&](Move which, Status* result) {
    move = which;
    *result = ours->relocator()->Move(database.get(), file, nullptr, /*anyway=*/true);
  };
  Status results[2];
  std::thread first(bring_home, kFirst, &results[0]);
  EXPECT_TRUE(WaitFor([&] { return first_at_its_end.load(); }));
  std::thread second(bring_home, kSecond, &results[1]);
  first.join();
  const std::string home = ReadFile(path);
  EXPECT_TRUE(second_has_begun);
  first_is_home = true;
  second.join();
  SyncPoint::GetInstance()->DisableProcessing();
  EXPECT_OK(results[0]);
  EXPECT_TRUE(results[1].IsAborted()) << results[1].ToString();
  EXPECT_TRUE(home == contents);
  EXPECT_TRUE(ReadFile(path) == contents);
  EXPECT_TRUE(FilesOf(kTemporary).empty());
  database.reset();  // it needs the FileSystem that is replaced next
  mount();
  Open(options);
  ASSERT_FALSE(HasFailure());
  Verify();
}

TEST_F(VolatileTest, ATierThatIsTakenOutOfTheOptionsIsMissed) {
  OpenMemory();
  Fill(15000);
  Settle();
  Close();
  NewFs("slow={path=" + TierPath("slow") + "}", "0..=slow");
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("memory"), std::string::npos) << s.ToString();
  LoseAndVerify();
}

// More is overwritten than fits, again and again.
TEST_F(VolatileTest, TrimmingHoldsTheAmplification) {
  for (const std::string codec : {"none", "zstd"}) {
    SCOPED_TRACE(codec);
    NewFs(MemoryTiers(), "0..=memory", "wal_compression=" + codec);
    Options options = DbOptions();
    options.write_buffer_size = 1 << 20;
    options.max_bytes_for_level_base = 4 << 20;
    options.target_file_size_base = 1 << 20;
    Open(options);
    for (int i = 0; i < 4; i++) {
      Fill(10000, 6000, 1000);
      Settle();
    }
    EXPECT_TRUE(Eventually([&] {
      const VolatileStats stats = Stats();
      return stats.retained_bytes + stats.needed_bytes <=
             std::max<uint64_t>(stats.bytes * 15 / 10, 4 << 20) + (2 << 20);
    })) << Stats().retained_bytes
        << " " << Stats().needed_bytes << " " << Stats().bytes;
    Close();
    LoseMemory();
    NewFs(MemoryTiers(), "0..=memory", "wal_compression=" + codec);
    Open(options);
    ASSERT_FALSE(HasFailure());
    Verify();
  }
}

TEST_F(VolatileTest, RetainedLogsKeepToTheirBudget) {
  const std::string more =
      "wal_amplification_high=1e9;wal_amplification_low=1e9;wal_budget=4194304";
  OpenMemory(more);
  uint64_t most = 0;
  for (int i = 0; i < 15; i++) {
    Fill(2000, 100000, 500);
    Settle();
    Eventually([&] { return Stats().retained_bytes + Stats().needed_bytes <= (4 << 20); });
    most = std::max(most, Stats().retained_bytes + Stats().needed_bytes);
  }
  EXPECT_LE(most, uint64_t{4 << 20});
  EXPECT_GT(Stats().tables, 0u);
  Verify();
  LoseAndVerify(more);
}

// Compressed blocks are literal, which the LOG says once.
TEST_F(VolatileTest, CompressedLevelsAreWarnedOfOnce) {
  MountMemory();
  Options options = DbOptions();
  options.compression = kLZ4Compression;
  Open(options);
  for (int i = 0; i < 20000; i++) {
    const std::string key = "key" + std::to_string(random_() % 5000);
    model_[key] = std::string(200, static_cast<char>('a' + i % 26));
    ASSERT_OK(db_->Put(WriteOptions(), key, model_[key]));
  }
  Settle();
  std::ifstream in(db_name_ + "/LOG");
  int warnings = 0;
  for (std::string line; std::getline(in, line);) {
    warnings +=
        line.find("as others will") != std::string::npos && line.find("[WARN]") != std::string::npos
            ? 1
            : 0;
  }
  EXPECT_EQ(warnings, 1);
  LoseAndVerify();
}

#ifdef TIERED_HAS_SUBMIT_READ_ASYNC  // since the version that has it
TEST_F(VolatileTest, LogsThatAreMadeAheadAreRead) {
  MountMemory();
  Options options = DbOptions();
  options.async_wal_precreate = true;
  options.disable_auto_compactions = true;
  Open(options);
  ASSERT_FALSE(HasFailure());
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 100; i++) {
      const std::string key = "key" + std::to_string(round * 100 + i);
      model_[key] = std::string(200, 'v') + key;
      ASSERT_OK(db_->Put(WriteOptions(), key, model_[key]));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  EXPECT_EQ(Stats().references, 300u);
  EXPECT_EQ(BytesIn("slow"), 0u);
  LoseAndVerify();
}
#endif

// RocksDB calls them db//archive/000007.log when it deletes them.
TEST_F(VolatileTest, ArchivedLogsAreKept) {
  const auto open = [&](const std::string& more) {
    NewFs(MemoryTiers(), "0..2=memory;3..=slow", more);
    Options options = DbOptions();
    options.WAL_ttl_seconds = 100000;
    Open(options);
  };
  open("on_close=persist");
  Fill(20000);
  Close();
  open("");
  Fill(2000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Settle();
  ASSERT_GT(Stats().references, 0u);
  std::vector<std::string> names;
  ASSERT_OK(env_->GetChildren(db_name_ + "/archive", &names));
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) {
    ASSERT_OK(env_->DeleteFile(db_name_ + "//archive/" + name));
  }
  EXPECT_TRUE(Eventually([this] { return Stats().segments > 0; }));  // under names of ours
  Close();
  LoseMemory();
  open("");
  ASSERT_FALSE(HasFailure());
  Verify();
}

}  // namespace

}  // namespace rocktier
