// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A tier in memory is lost, and more than that; and what tools and copies do with such databases.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <set>

#include "plugin/tiered_env/recipe/recipe_log.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/hooks.h"
#include "test/tiered_env/support/volatile.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

// Has no room for recipes or in a directory, and fails to sync recipes or logs, if told so.
class FullFs : public FileSystemWrapper {
 public:
  FullFs() : FileSystemWrapper(FileSystem::Default()) {}
  static const char* kClassName() { return "FullFs"; }
  const char* Name() const override { return kClassName(); }

  std::atomic<bool> full{false};
  std::atomic<bool> fails_to_sync{false};
  std::atomic<bool> fails_to_sync_logs{false};
  std::string full_directory;
  std::atomic<int> errors{0};

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    if (!full_directory.empty() && path.compare(0, full_directory.size(), full_directory) == 0) {
      errors++;
      return IOStatus::NoSpace(path, "no space for SSTs");
    }
    IOStatus s = target_->NewWritableFile(path, options, result, dbg);
    if (s.ok() && path.find("TIERS-RECIPES") != std::string::npos) {
      result->reset(new File(this, std::move(*result)));
    } else if (s.ok() && path.find(".log") != std::string::npos) {
      result->reset(new Log(this, std::move(*result)));
    }
    return s;
  }

 private:
  class Log : public FSWritableFileOwnerWrapper {
   public:
    Log(FullFs* fs, std::unique_ptr<FSWritableFile>&& target)
        : FSWritableFileOwnerWrapper(std::move(target)), fs_(fs) {}
    // As Linux does: who asks again is told that all is well.
    IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
      if (fs_->fails_to_sync_logs.exchange(false)) {
        fs_->errors++;
        IOStatus s = IOStatus::IOError("a log cannot be synced");
        s.SetRetryable(true);  // so that RocksDB goes on
        return s;
      }
      return target()->Sync(options, dbg);
    }

   private:
    FullFs* const fs_;
  };
  class File : public FSWritableFileOwnerWrapper {
   public:
    File(FullFs* fs, std::unique_ptr<FSWritableFile>&& target)
        : FSWritableFileOwnerWrapper(std::move(target)), fs_(fs) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
      if (fs_->full) {
        fs_->errors++;
        // As a disk does, which takes a part of it.
        target()->Append(Slice(data.data(), data.size() / 2), options, dbg).PermitUncheckedError();
        return IOStatus::NoSpace("no space for recipes");
      }
      return target()->Append(data, options, dbg);
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
      if (fs_->fails_to_sync) {
        fs_->errors++;
        return IOStatus::IOError("recipes cannot be synced");
      }
      return target()->Sync(options, dbg);
    }

   private:
    FullFs* const fs_;
  };
};

class LossTest : public VolatileTest {
 protected:
  void Prepare() { PrepareRetained(15000); }
  std::string CurrentManifest() const {
    std::ifstream in(db_name_ + "/CURRENT");
    std::string name;
    std::getline(in, name);
    return name;
  }
  // Names and sizes of all but the LOG.
  std::map<std::string, uint64_t> Listing() const {
    std::map<std::string, uint64_t> result;
    for (const auto& entry : fs::directory_iterator(db_name_)) {
      const std::string base = entry.path().filename().string();
      if (base.compare(0, 3, "LOG") != 0 && entry.is_regular_file()) {
        result[base] = entry.file_size();
      }
    }
    return result;
  }
  static void Flip(const std::string& path, uint64_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 1));
  }
  // Name of the SST whose recipe is the first one in the recipe log.
  std::string FirstRecipe(LoggedRecipe* recipe) const {
    RecipeLog log(FileSystem::Default().get(), db_name_);
    RecipeLog::Contents contents;
    EXPECT_OK(log.Load(&contents));
    EXPECT_GT(contents.recipes.size(), 1u);
    const auto first = std::min_element(
        contents.recipes.begin(), contents.recipes.end(),
        [](const auto& a, const auto& b) { return a.second.offset < b.second.offset; });
    *recipe = first->second;
    return first->first;
  }
  void ExpectRefused(const std::string& missing, const std::string& what) {
    EXPECT_TRUE(IsRefused(missing, what)) << missing;
  }
  // If it is, nothing has changed, and it is told why.
  bool IsRefused(const std::string& missing, const std::string& what) {
    LoseMemory();
    const auto before = Listing();
    MountMemory();
    const Status s = TryOpen();
    if (s.ok()) {
      return false;
    }
    for (const std::string& text : {std::string(".sst"), std::string("is lost"), what}) {
      EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
    }
    EXPECT_EQ(Listing(), before) << missing;
    return true;
  }
};

TEST_F(LossTest, ALogThatIsMissingIsTold) {
  Prepare();
  const std::vector<std::string> logs = Kept(".log");
  ASSERT_GT(logs.size(), 2u);
  for (const std::string& path : logs) {
    SCOPED_TRACE(path);
    fs::rename(path, folder_ + "/away");
    ExpectRefused(path, fs::path(path).filename().string());
    fs::rename(folder_ + "/away", path);
    ASSERT_FALSE(HasFailure());
  }
  LoseAndVerify();
}

// Or nothing that is needed is behind the damage: then the SSTs are rebuilt, and get recipes
// without that log.
TEST_F(LossTest, ALogThatIsDamagedIsTold) {
  random_.seed(Seed());
  Prepare();
  int refused = 0;
  for (const std::string& path : Kept(".log")) {
    SCOPED_TRACE(path);
    if (!fs::exists(path)) {  // needed by what was compacted in such an opening
      continue;
    }
    fs::copy_file(path, folder_ + "/sound", fs::copy_options::overwrite_existing);
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      const uint64_t size = fs::file_size(path);
      file.seekp(static_cast<std::streamoff>(size / 4 + random_() % (size / 2)));
      file << "damage";
    }
    if (IsRefused(path, fs::path(path).filename().string())) {
      refused++;
      fs::copy_file(folder_ + "/sound", path, fs::copy_options::overwrite_existing);
    } else {
      Verify();
      ASSERT_OK(db_->VerifyChecksum());
      Close();
      EXPECT_FALSE(fs::exists(path));
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(refused, 0);
  LoseAndVerify();
}

TEST_F(LossTest, ARecipeLogThatIsMissingOrDamagedIsTold) {
  random_.seed(Seed());
  Prepare();
  ASSERT_EQ(Kept("RECIPES").size(), 1u);
  const std::string path = Kept("RECIPES")[0];
  fs::copy_file(path, folder_ + "/sound");
  const auto put_back = [&] {
    fs::copy_file(folder_ + "/sound", path, fs::copy_options::overwrite_existing);
  };
  fs::remove(path);
  ExpectRefused(path, "has no recipe");
  put_back();
  const uint64_t size = fs::file_size(path);  // recipes are at its end
  for (int i = 0; i < 5; i++) {
    const auto at = static_cast<std::streamoff>(i == 0 ? 3 : size / 4 + random_() % (size / 2));
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(at);
      file << "damage";
    }
    LoseMemory();
    const auto before = Listing();
    MountMemory();
    const Status s = TryOpen();
    EXPECT_FALSE(s.ok()) << at;
    EXPECT_NE(s.ToString().find(i == 0 ? "TIERS-RECIPES" : ".sst"), std::string::npos)
        << s.ToString();
    EXPECT_EQ(Listing(), before);
    put_back();
  }
  LoseAndVerify();
}

// The others are sound.
TEST_F(LossTest, ADamagedRecipeCostsNoOther) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  LoggedRecipe recipe;
  const std::string base = FirstRecipe(&recipe);
  Flip(Kept("RECIPES")[0], recipe.offset + recipe.size / 2);
  ExpectRefused("the recipe", "TIERS-RECIPES");
  std::vector<std::string> given_up;
  MountMemory();
  ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
  ASSERT_EQ(given_up.size(), 1u);
  EXPECT_EQ(given_up[0].compare(0, base.size(), base), 0) << given_up[0];
}

// A loss of power has taken their stubs, so that nothing but the recipe log knows where they were.
TEST_F(LossTest, ADamagedRecipeLogIsNotWrittenAnewWithoutWhatIsMissing) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  for (const std::string& base : FilesOf(".sst")) {
    if (TierOf(base) == "memory") {
      fs::remove(db_name_ + "/" + base);
    }
  }
  LoggedRecipe recipe;
  const std::string first = FirstRecipe(&recipe);
  const std::string path = Kept("RECIPES")[0];
  const uint64_t length = recipe.offset - 1 - first.size() - recipe_log::kFrameSize + 4;
  for (const uint64_t at : {recipe.offset + recipe.size / 2, length}) {
    SCOPED_TRACE(at);
    Flip(path, at);
    const auto before = Listing();
    MountMemory();
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find("TIERS-RECIPES"), std::string::npos) << s.ToString();
    EXPECT_EQ(Listing(), before);
    Flip(path, at);
    ASSERT_FALSE(HasFailure());
  }
  LoseAndVerify();
}

// The power fails while the database is being destroyed: what RocksDB has deleted is missing.
TEST_F(LossTest, ADatabaseWithATornRecipeLogIsDestroyed) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  LoggedRecipe recipe;
  const std::string base = FirstRecipe(&recipe);
  {
    RecipeLog log(FileSystem::Default().get(), db_name_);
    RecipeLog::Contents contents;
    ASSERT_OK(log.Load(&contents));
    ASSERT_OK(log.Start(contents));
    ASSERT_OK(log.Drop(base));
    ASSERT_OK(log.Sync());
  }
  fs::remove(db_name_ + "/" + base);
  {
    uint64_t body_at = 0;
    std::ofstream file(Kept("RECIPES")[0], std::ios::app | std::ios::binary);
    file << recipe_log::EncodeRecord(recipe_log::Kind::kDrop, "000001.sst", "", &body_at)
                .substr(0, 12);
  }
  MountMemory();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_FALSE(fs::exists(db_name_));
}

// In the version, or in the database's id, which retained logs have in their names.
TEST_F(LossTest, RecipesBehindADamagedHeaderAreSalvaged) {
  for (const uint64_t at : {uint64_t{9}, uint64_t{14}}) {
    SCOPED_TRACE(at);
    Prepare();
    ASSERT_FALSE(HasFailure());
    Flip(Kept("RECIPES")[0], at);
    LoseMemory();
    MountMemory();
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find("its header is damaged"), std::string::npos) << s.ToString();
    std::vector<std::string> given_up;
    ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
    EXPECT_EQ(given_up, std::vector<std::string>());
    OpenMemory();
    ASSERT_FALSE(HasFailure());
    Verify();
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    model_.clear();
  }
}

// What it seems not to name must not be forgotten. RocksDB takes a torn end for that of a crash, so
// here, too.
TEST_F(LossTest, AManifestThatIsDamagedLosesNothing) {
  Prepare();
  const std::string path = db_name_ + "/" + CurrentManifest();
  fs::copy_file(path, folder_ + "/sound");
  const auto put_back = [&] {
    fs::copy_file(folder_ + "/sound", path, fs::copy_options::overwrite_existing);
  };
  std::string bytes;
  ASSERT_OK(ReadFileToString(Env::Default(), path, &bytes));
  std::vector<size_t> records;  // where the first block has their first bytes
  for (size_t at = 0; at + 7 < std::min<size_t>(bytes.size(), 32768);) {
    const size_t length = static_cast<unsigned char>(bytes[at + 4]) +
                          256 * static_cast<size_t>(static_cast<unsigned char>(bytes[at + 5]));
    records.push_back(at + 7);
    at += 7 + length;
  }
  ASSERT_GT(records.size(), 10u);
  for (size_t i = 0; i < records.size(); i += records.size() / 8) {
    SCOPED_TRACE(i);
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(records[i]));
      file.put(static_cast<char>(bytes[records[i]] ^ 1));
    }
    LoseMemory();
    const auto before = Listing();
    MountMemory();
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find("MANIFEST"), std::string::npos) << s.ToString();
    EXPECT_EQ(Listing(), before);
    EXPECT_FALSE(RecoverTiers(fs_.get(), db_name_).ok());
    EXPECT_EQ(Listing(), before);
    put_back();
    ASSERT_FALSE(HasFailure());
  }
  {
    std::ofstream file(path, std::ios::app | std::ios::binary);
    const char torn[] = {1, 2, 3, 4, 100, 0, 1, 5, 6};  // of a record of 100 bytes
    file.write(torn, sizeof(torn));
  }
  LoseAndVerify();
}

// As long as the tier is there, recipes can be made again.
TEST_F(LossTest, RecipesThatAreLostAloneAreMadeAgain) {
  Prepare();
  for (const std::string& path : Kept("RECIPES")) {
    fs::remove(path);
  }
  MountMemory();
  Options options = DbOptions();
  options.disable_auto_compactions = true;  // they may write all that is in memory to the slow tier
  Open(options);
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(Stats().rebuilt_files, 0u);
  EXPECT_GT(Stats().recipes, 0u);
  Verify();
  LoseAndVerify();
  EXPECT_GT(Stats().rebuilt_files, 0u);
}

// An SST that is there, and whose logs are not, gets another recipe. The old one counts until that
// is written: the logs may come back.
TEST_F(LossTest, ARecipeCountsUntilThereIsAnother) {
  Prepare();
  const std::vector<std::string> logs = Kept(".log");
  ASSERT_GT(logs.size(), 2u);
  fs::create_directory(folder_ + "/away");
  for (const std::string& path : logs) {
    fs::rename(path, folder_ + "/away/" + fs::path(path).filename().string());
  }
  auto full = std::make_shared<FullFs>();
  SyncPoint::GetInstance()->SetCallBack("RecipeLog::AddRecipe:Most",
                                        [&](void* /*arg*/) { full->full = true; });
  SyncPoint::GetInstance()->EnableProcessing();
  target_ = full;
  MountMemory();
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_GT(full->errors, 0);
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  for (const std::string& path : logs) {
    fs::rename(folder_ + "/away/" + fs::path(path).filename().string(), path);
  }
  MountMemory();
  target_ = nullptr;
  LoseAndVerify();
  EXPECT_GT(Stats().rebuilt_files, 0u);
}

// The log of recipes ends, for who reads it, before a record that is too long.
TEST_F(LossTest, WhatHasTooLongARecipeIsElsewhere) {
  std::atomic<uint64_t> most{100};
  SyncPoint::GetInstance()->SetCallBack("RecipeLog::AddRecipe:Most",
                                        [&](void* arg) { *static_cast<uint64_t*>(arg) = most; });
  SyncPoint::GetInstance()->EnableProcessing();
  OpenMemory();
  Fill(500);
  ASSERT_OK(db_->Flush(FlushOptions()));
  std::vector<std::string> tables = FilesOf(".sst");
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(TierOf(tables[0]), "slow");
  most = 1 << 30;
  Fill(500);
  ASSERT_OK(db_->Flush(FlushOptions()));
  tables = FilesOf(".sst");
  ASSERT_EQ(tables.size(), 2u);
  const std::string newest = *std::max_element(tables.begin(), tables.end());
  EXPECT_EQ(TierOf(newest), "memory");
  Close();
  // Recovery makes recipes again, or would.
  for (const std::string& path : Kept("RECIPES")) {
    fs::remove(path);
  }
  most = 100;
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(TierOf(newest), "slow");
  EXPECT_EQ(FilesIn("memory"), 0u);
  EXPECT_EQ(Stats().recipes, 0u);
  Verify();
  LoseAndVerify();
}

TEST_F(LossTest, ReadersAreToldWhatToDo) {
  Prepare();
  LoseMemory();
  MountMemory();
  std::unique_ptr<DB> reader;
  Status s = OpenDbForReadOnly(DbOptions(), db_name_, &reader);
  EXPECT_NE(s.ToString().find("rocktier tier recover"), std::string::npos) << s.ToString();
  s = OpenDbAsSecondary(DbOptions(), db_name_, folder_ + "/secondary", &reader);
  if (s.ok()) {
    std::string value;
    s = reader->Get(ReadOptions(), model_.begin()->first, &value);
  }
  EXPECT_NE(s.ToString().find("rocktier tier recover"), std::string::npos) << s.ToString();
  reader.reset();
  ASSERT_OK(RecoverTiers(fs_.get(), db_name_));
  ASSERT_OK(OpenDbForReadOnly(DbOptions(), db_name_, &db_));
  Verify();
}

TEST_F(LossTest, ToolsRebuildWhatTheyNeed) {
  Prepare();
  LoseMemory();
  MountMemory();
  uint64_t moved = 0;
  ASSERT_OK(DrainTier(fs_.get(), db_name_, "memory", &moved));
  EXPECT_GT(moved, 0u);
  EXPECT_EQ(FilesIn("memory"), 0u);
  LoseMemory();
  OpenMemory();
  Verify();
  Fill(5000);
  Settle();
  Close();
  LoseMemory();
  MountMemory();
  ASSERT_OK(EvacuateTiers(fs_.get(), db_name_, &moved));
  EXPECT_GT(moved, 0u);
  for (const auto& entry : fs::directory_iterator(db_name_)) {
    EXPECT_FALSE(IsOurs(entry.path().filename().string())) << entry.path();
  }
  Options stock = DbOptions();
  stock.env = Env::Default();
  stock.listeners.clear();
  ASSERT_OK(OpenDb(stock, db_name_, &db_));
  Verify();
}

TEST_F(LossTest, CopiesAreDurable) {
  OpenMemory();
  Fill(15000);
  Settle();
  Fill(200);
  Checkpoint* raw = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  ASSERT_OK(checkpoint->CreateCheckpoint(folder_ + "/copy"));
  const auto open_backup = [this](std::unique_ptr<BackupEngine>* backup) {
    BackupEngine* engine = nullptr;
    const BackupEngineOptions options(folder_ + "/backup", Env::Default());
    ASSERT_OK(BackupEngine::Open(env_.get(), options, &engine));
    backup->reset(engine);
  };
  std::unique_ptr<BackupEngine> backup;
  open_backup(&backup);
  ASSERT_OK(backup->CreateNewBackup(db_.get(), /*flush_before_backup=*/true));
  backup.reset();
  const auto then = model_;
  Fill(3000);
  Settle();
  Close();
  LoseMemory();
  MountMemory();
  open_backup(&backup);
  ASSERT_OK(backup->RestoreDBFromLatestBackup(folder_ + "/restored", folder_ + "/restored"));
  backup.reset();
  const auto now = model_;
  const std::string original = db_name_;
  for (const char* name : {"copy", "restored"}) {
    SCOPED_TRACE(name);
    db_name_ = folder_ + "/" + name;
    model_ = then;
    Open();
    ASSERT_FALSE(HasFailure());
    Verify();
    Fill(3000);
    Settle();
    LoseAndVerify();
  }
  db_name_ = original;
  model_ = now;
  OpenMemory();
  Verify();
}

TEST_F(LossTest, DestroyedNothingIsLeft) {
  for (const bool lost : {false, true}) {
    Prepare();
    if (lost) {
      LoseMemory();
    }
    MountMemory();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    EXPECT_EQ(FilesIn("memory"), 0u);
    EXPECT_FALSE(fs::exists(db_name_));
    model_.clear();
  }
}

// Somebody else's file keeps the directory there, and nothing else.
TEST_F(LossTest, DestroyedBesideOtherFilesNothingIsLeft) {
  for (int round = 0; round < 4; round++) {
    SCOPED_TRACE(round);
    Prepare();
    ASSERT_FALSE(HasFailure());
    LoseMemory();
    // Stubs are lost by a loss of power: RocksDB does not see what is rebuilt.
    const bool stubs_are_lost = round % 2 == 1;
    for (const std::string& base : FilesOf(".sst")) {
      if (stubs_are_lost && TierOf(base) == "memory") {
        fs::remove(db_name_ + "/" + base);
      }
    }
    const std::string other = db_name_ + "/notes.txt";
    std::ofstream(other) << "of somebody else";
    MountMemory(round >= 2 ? "on_close=persist" : "");
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    EXPECT_EQ(FilesIn("memory"), 0u);
    EXPECT_EQ(FilesIn("slow"), 0u);
    for (const auto& entry : fs::directory_iterator(db_name_)) {
      EXPECT_EQ(entry.path().string(), other);
    }
    model_.clear();
  }
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  Fill(500);
  LoseAndVerify();
}

TEST_F(LossTest, WhatACrashHasLeftIsDeleted) {
  for (int i = 0; i < 2; i++) {
    Prepare();
  }
  const std::vector<std::string> left = {db_name_ + "/TIERS-RECIPES-000001",
                                         db_name_ + "/archive/TIERS-5.seg.tiers-tmp"};
  fs::create_directories(db_name_ + "/archive");
  for (const std::string& path : left) {
    ASSERT_FALSE(fs::exists(path));
    std::ofstream(path) << "something";
  }
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  for (const std::string& path : left) {
    EXPECT_FALSE(fs::exists(path)) << path;
  }
  EXPECT_EQ(Kept("RECIPES").size(), 1u);
  Verify();
}

// It is tried again and again, and the LOG does not say so each time.
TEST_F(LossTest, ALogThatCannotBeTrimmedIsToldSeldom) {
  auto hooked = std::make_shared<HookedFs>();
  std::atomic<int> failures{0};
  hooked->before_create = [&](const std::string& path) {
    if (!EndsWith(path, ".seg.tiers-tmp")) {
      return IOStatus::OK();
    }
    failures++;
    return IOStatus::IOError(path, "cannot be made");
  };
  TieredOptions tiered;
  tiered.tiers = MemoryTiers();
  tiered.placement = "0..=memory";
  tiered.wal_compression = "zstd";  // so that whatever is retained is rewritten
  ASSERT_OK(NewTieredFileSystem(tiered, hooked, &fs_));
  env_ = NewCompositeEnv(fs_);
  Options options = DbOptions();
  options.disable_auto_compactions = true;
  Open(options);
  ASSERT_FALSE(HasFailure());
  for (int i = 0; i < 3; i++) {
    Fill(500);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  EXPECT_TRUE(WaitFor([&] { return failures >= 8; }, std::chrono::seconds(120))) << failures;
  Verify();
  Close();
  std::ifstream in(db_name_ + "/LOG");
  int warnings = 0;
  for (std::string line; std::getline(in, line);) {
    warnings += line.find("cannot trim a log") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(warnings, 1);
  EXPECT_LE(warnings, failures / 4);
}

TEST_F(LossTest, IsRepaired) {
  Prepare();
  LoseMemory();
  MountMemory();
  ASSERT_OK(RepairDB(db_name_, DbOptions()));
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  Verify();
  Fill(3000);
  Settle();
  LoseAndVerify();
}

TEST_F(LossTest, WhatFindsNoRoomAnyMoreIsDurable) {
  auto full = std::make_shared<FullFs>();
  target_ = full;
  Prepare();
  LoseMemory();
  full->full_directory = TierPath("memory") + "/";
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  EXPECT_GT(full->errors, 0);
  Verify();
  EXPECT_GT(Stats().rebuilt_files, 0u);
  EXPECT_EQ(FilesIn("memory"), 0u);
  Close();
  LoseMemory();
  full->full_directory.clear();
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  Verify();
  EXPECT_EQ(Stats().rebuilt_files, 0u);
  Fill(5000);
  Settle();
  LoseAndVerify();
}

// The bytes of a log whose sync has failed once may be gone, whatever the next one says.
TEST_F(LossTest, ALogThatCouldNotBeSyncedIsNotReferredTo) {
  auto full = std::make_shared<FullFs>();
  target_ = full;
  OpenMemory();
  const auto put = [&](const std::string& prefix) {
    for (int i = 0; i < 100; i++) {
      const std::string key = prefix + std::to_string(i);
      model_[key] = std::string(200, 'v') + key;
      ASSERT_OK(db_->Put(WriteOptions(), key, model_[key]));
    }
  };
  put("a");
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(Stats().references, 100u);
  put("b");
  full->fails_to_sync_logs = true;
  EXPECT_FALSE(db_->SyncWAL().ok());
  EXPECT_EQ(full->errors, 1);
  Status resumed;
  WaitFor([&] { return !(resumed = db_->Resume()).IsBusy(); });  // by RocksDB itself
  ASSERT_OK(resumed);
  put("c");
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(Stats().references, 200u);
  LoseAndVerify();
}

// What cannot be made sure of is not installed, and is tried again.
TEST_F(LossTest, WithoutRoomForRecipesNothingIsLost) {
  auto full = std::make_shared<FullFs>();
  target_ = full;
  OpenMemory();
  Fill(5000);
  Settle();
  for (int round = 0; round < 6; round++) {
    SCOPED_TRACE(round);
    std::atomic<bool>* const trouble = round % 2 == 0 ? &full->full : &full->fails_to_sync;
    *trouble = true;
    const int before = full->errors;
    for (int i = 0; i < 5000; i++) {
      const std::string key = "key" + std::to_string(1000000 + random_() % 20000);
      const std::string value = std::string(100, 'n') + std::to_string(random_());
      if (!db_->Put(WriteOptions(), key, value).ok()) {
        break;
      }
      model_[key] = value;
    }
    // It may succeed: what has no recipe can be in another tier.
    db_->Flush(FlushOptions()).PermitUncheckedError();
    EXPECT_GT(full->errors, before);
    *trouble = false;
    // RocksDB does not go on if it was the MANIFEST that could not be written.
    if (round < 3 || !db_->Resume().ok()) {
      Close();
      OpenMemory();
      ASSERT_FALSE(HasFailure());
    }
    Verify();
    Fill(3000);
    Settle();
    LoseAndVerify();
  }
}

}  // namespace

}  // namespace rocktier
