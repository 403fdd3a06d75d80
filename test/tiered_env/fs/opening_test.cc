// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Opening: by others, elsewhere, when something is missing, without the plugin.

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "plugin/tiered_env/files/stub.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/support/files.h"
#include "test/support/secondary.h"
#include "test/tiered_env/support/tiered_test.h"
#include "test_util/sync_point.h"
#include "utilities/counted_fs.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr char kFolder[] = "ROCKTIER_TEST_FOLDER";

class TieredOpeningTest : public TieredTest {
 protected:
  static constexpr char kPlacement[] = "0..1=fast;2..=slow";

  void FillTiers(const std::string& placement = kPlacement) {
    NewFs(Tiers(), placement);
    Open();
    Fill(20000);
    Settle();
    Fill(200);
    Close();
  }
  Status TryOpen(const Options& options) {
    db_.reset();
    return OpenDb(options, db_name_, &db_);
  }
  // All files of database and tiers with what is in them, but for those that each attempt writes.
  std::map<std::string, std::string> Everything() const {
    std::map<std::string, std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      const std::string base = entry.path().filename().string();
      if (entry.is_regular_file() && base.compare(0, 3, "LOG") != 0 && base != "LOCK" &&
          base.compare(0, 7, "OPTIONS") != 0) {
        result[entry.path().string()] = ReadFile(entry.path().string());
      }
    }
    return result;
  }
  std::string OneIn(const std::string& tier) const {
    for (const std::string& base : FilesOf(".sst")) {
      if (TierOf(base) == tier) {
        return base;
      }
    }
    ADD_FAILURE() << "none in " << tier;
    return "";
  }
};
constexpr char TieredOpeningTest::kPlacement[];

// The process that was to make the database died when it named its folder.
TEST_F(TieredOpeningTest, TemporaryFilesWithoutADatabase) {
  std::filesystem::create_directories(db_name_);
  const std::string left = db_name_ + "/TIERS.tiers-tmp";
  WriteFile(left, "half of");
  NewFs(Tiers(), "");
  Open();
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(TieredOpeningTest, ReadOnlyChangesNothing) {
  FillTiers();
  const auto before = Everything();
  NewFs(Tiers(), kPlacement);
  ASSERT_OK(OpenDbForReadOnly(DbOptions(), db_name_, &db_));
  Verify();
  Close();
  EXPECT_TRUE(Everything() == before);
  // Another placement moves nothing, either.
  NewFs(Tiers(), "0..=fast");
  ASSERT_OK(OpenDbForReadOnly(DbOptions(), db_name_, &db_));
  ASSERT_OK(WaitForMoves(fs_.get()));
  Verify();
  Close();
  EXPECT_TRUE(Everything() == before);
}

// Beside a database that is open for writing.
TEST_F(TieredOpeningTest, ReadOnlyWhileFilesMove) {
  FillTiers();
  NewFs(Tiers(), "0..=slow");
  const std::shared_ptr<FileSystem> writer_fs = fs_;
  const std::unique_ptr<Env> writer_env = NewCompositeEnv(writer_fs);
  Options options = DbOptions();
  options.env = writer_env.get();
  std::unique_ptr<DB> writer;
  ASSERT_OK(OpenDb(options, db_name_, &writer));
  for (int i = 0; i < 5; i++) {
    NewFs(Tiers(), kPlacement);
    options = DbOptions();
    options.max_open_files = 10;
    ASSERT_OK(OpenDbForReadOnly(options, db_name_, &db_));
    Verify();
  }
  Close();
  writer.reset();
}

// A reader in another process, started by the test below: reads what the writer has promised.
TEST(TieredChild, DISABLED_Secondary) {
  const char* folder = getenv(kFolder);
  ASSERT_NE(folder, nullptr);
  const std::string base = folder;
  TieredOptions tiered;
  tiered.tiers = "fast={path=" + base + "/fast};slow={path=" + base + "/slow}";
  tiered.placement = "0..1=fast;2..=slow";
  std::shared_ptr<FileSystem> fs;
  ASSERT_OK(NewTieredFileSystem(tiered, nullptr, &fs));
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  Options options;
  options.env = env.get();
  options.max_open_files = -1;
  std::unique_ptr<DB> db;
  ASSERT_OK(ReadAsSecondary(base + "/db", [&] {
    return OpenDbAsSecondary(options, base + "/db", base + "/secondary", &db);
  }));
  int rounds = 0;
  while (!std::filesystem::exists(base + "/stop")) {
    const std::string promised = ReadFile(base + "/promised");
    ASSERT_OK(ReadAsSecondary(base + "/db", [&] { return db->TryCatchUpWithPrimary(); }));
    std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    int seen = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      seen++;
    }
    ASSERT_OK(it->status());
    ASSERT_GE(seen, atoi(promised.c_str()));
    rounds++;
    WriteFile(base + "/rounds", std::to_string(rounds));
  }
  EXPECT_GT(rounds, 3);
}

TEST_F(TieredOpeningTest, SecondaryInAnotherProcessWhileFilesMove) {
  FillTiers();
  NewFs(Tiers(), kPlacement);
  Options options = DbOptions();
  options.num_levels = 5;
  Open(options);
  WriteFile(folder_ + "/promised", "0");
  ASSERT_EQ(setenv(kFolder, folder_.c_str(), 1), 0);
  ASSERT_EQ(unsetenv("GTEST_TOTAL_SHARDS"), 0);  // the child has one case to run
  ASSERT_EQ(unsetenv("GTEST_SHARD_INDEX"), 0);
  const char* arguments[] = {"tiered_env_db_test", "--gtest_filter=TieredChild.DISABLED_Secondary",
                             "--gtest_also_run_disabled_tests", nullptr};
  pid_t pid;
  ASSERT_EQ(
      posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(arguments), environ),
      0);
  int status = 0;
  bool ended = false;
  for (int i = 0; (i < 10 || atoi(ReadFile(folder_ + "/rounds").c_str()) < 5) && !ended; i++) {
    Fill(500);
    ASSERT_OK(db_->Flush(FlushOptions()));
    CompactRangeOptions to;
    to.change_level = true;
    to.target_level = i % 2 == 0 ? 4 : 1;
    to.bottommost_level_compaction = BottommostLevelCompaction::kSkip;
    ASSERT_OK(db_->CompactRange(to, nullptr, nullptr));
    Settle();
    WriteFile(folder_ + "/promised.new", std::to_string(model_.size()));
    std::filesystem::rename(folder_ + "/promised.new", folder_ + "/promised");
    ended = waitpid(pid, &status, WNOHANG) == pid;
  }
  EXPECT_FALSE(ended);
  WriteFile(folder_ + "/stop", "");
  if (!ended) {
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  Verify();
}

// A program locks a file of its own beside the database's.
TEST_F(TieredOpeningTest, AnotherLockInTheDirectory) {
  FillTiers();
  Open();
  FileLock* lock = nullptr;
  ASSERT_OK(env_->LockFile(db_name_ + "/of-a-program", &lock));
  Fill(5000);
  ASSERT_OK(env_->UnlockFile(lock));
  Fill(20000);
  Settle();
  ExpectUpperInFast();
  Verify();
  Close();
}

// RocksDB puts options back that were refused, and makes a target anew for that. The one that is
// there is in use.
TEST_F(TieredOpeningTest, OptionsStayWhileADatabaseIsOpen) {
  NewFs(Tiers(), "0..=fast", "target=TimedFS");
  Open();
  Fill(2000);
  const FileSystem* const target = (*fs_->GetOptions<std::shared_ptr<FileSystem>>("")).get();
  for (const std::string text : {"placement={0..=slow}", "placement={0..=nowhere}", "mover=false",
                                 "target=CountedFileSystem", "no_such_option=1"}) {
    EXPECT_FALSE(fs_->ConfigureFromString(ConfigOptions(), text).ok()) << text;
    EXPECT_EQ((*fs_->GetOptions<std::shared_ptr<FileSystem>>("")).get(), target) << text;
    EXPECT_EQ(fs_->GetOptions<TieredOptions>()->placement, "0..=fast") << text;
    EXPECT_TRUE(fs_->GetOptions<TieredOptions>()->mover) << text;
  }
  const Status s = fs_->ConfigureOption(ConfigOptions(), "placement", "0..=slow");
  EXPECT_NE(s.ToString().find("close its databases"), std::string::npos) << s.ToString();
  EXPECT_EQ(fs_->GetOptions<TieredOptions>()->placement, "0..=fast");
  ExpectQuiet();
  Verify();
  EXPECT_EQ(Moves(), 0u);
  EXPECT_EQ(FilesIn("slow"), 0u);
  Close();
  ASSERT_OK(fs_->ConfigureFromString(ConfigOptions(), "placement={0..=slow}"));
  Open();
  ExpectQuiet();
  Verify();
  EXPECT_EQ(FilesIn("fast"), 0u);
  EXPECT_GT(FilesIn("slow"), 0u);
}

// It works with them before it is in the list of open databases, and after that.
TEST_F(TieredOpeningTest, OptionsStayWhileADatabaseIsOpenedOrClosed) {
  FillTiers();
  for (const char* point :
       {"TieredFileSystem::LockFile:Locked", "TieredFileSystem::LockFile:Opened",
        "TieredFileSystem::UnlockFile:Removed"}) {
    SCOPED_TRACE(point);
    NewFs(Tiers(), kPlacement);
    int tries = 0;
    SyncPoint::GetInstance()->SetCallBack(point, [&](void*) {
      tries++;
      const Status s = fs_->ConfigureOption(ConfigOptions(), "placement", "0..=slow");
      EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
      EXPECT_NE(s.ToString().find("close its databases"), std::string::npos) << s.ToString();
      EXPECT_EQ(fs_->GetOptions<TieredOptions>()->placement, kPlacement);
    });
    SyncPoint::GetInstance()->EnableProcessing();
    Open();
    Verify();
    Close();
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    EXPECT_EQ(tries, 1);
    ASSERT_OK(fs_->ConfigureOption(ConfigOptions(), "placement", "0..=slow"));
  }
}

// Nothing else is changed with it.
TEST_F(TieredOpeningTest, ATargetIsChangedBetweenTwoOpenings) {
  NewFs(Tiers(), "0..=fast", "target=TimedFS");
  Open();
  Close();
  ASSERT_OK(fs_->ConfigureFromString(ConfigOptions(), "target=CountedFileSystem"));
  const auto* counted =
      (*fs_->GetOptions<std::shared_ptr<FileSystem>>(""))->CheckedCast<CountedFileSystem>();
  ASSERT_NE(counted, nullptr);
  Open();
  Fill(2000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  const uint64_t before = counted->counters()->writes.bytes;
  Fill(2000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  const uint64_t logged = 2000 * 100;  // the log has that once, and the SST again
  EXPECT_GT(counted->counters()->writes.bytes, before + 3 * logged / 2);
  Verify();
}

// They are set, and before they are in force a database is opened: they never were.
TEST_F(TieredOpeningTest, OptionsThatADatabaseOvertakesAreNotShown) {
  NewFs(Tiers(), "0..=fast");
  ConfigOptions config;
  config.invoke_prepare_options = false;
  ASSERT_OK(fs_->ConfigureOption(config, "placement", "0..=slow"));
  Open();
  const Status s = fs_->PrepareOptions(ConfigOptions());
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(fs_->GetOptions<TieredOptions>()->placement, "0..=fast");
  Fill(2000);
  ExpectQuiet();
  EXPECT_EQ(FilesIn("slow"), 0u);
}

// RocksDB gives a pointer to the options. What is written there later is not in force.
TEST_F(TieredOpeningTest, OptionsThatAreSetThroughAPointerAreNotInForce) {
  NewFs(Tiers(), "0..=fast");
  Open();
  Fill(2000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  auto* const options = fs_->GetOptions<TieredOptions>();
  options->checkpoints = "linked";
  options->tiers = Tiers("budget=1M");
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  const std::string copy = folder_ + "/checkpoint";
  ASSERT_OK(checkpoint->CreateCheckpoint(copy));
  size_t ssts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(copy)) {
    Stub stub;
    const std::string path = entry.path().string();
    if (entry.path().extension() == ".sst") {
      EXPECT_FALSE(Stub::Decode(ReadFile(path), path, &stub).ok()) << path;
      ssts++;
    }
  }
  EXPECT_GT(ssts, 0u);
  EXPECT_EQ(StatsOf("fast").budget, 0u);
}

TEST_F(TieredOpeningTest, AMovedDirectory) {
  FillTiers();
  const std::string old = db_name_;
  std::filesystem::rename(db_name_, folder_ + "/elsewhere");
  db_name_ = folder_ + "/elsewhere";
  NewFs(Tiers(), "0..=slow");
  Open();
  Verify();
  ExpectQuiet();
  EXPECT_EQ(FilesIn("fast"), 0u);
  // A new one at the old place has nothing to do with it.
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(DbOptions(), old, &other));
  ASSERT_OK(other->Put(WriteOptions(), "a", "b"));
  ASSERT_OK(other->Flush(FlushOptions()));
  other.reset();
  ASSERT_OK(DestroyDB(old, DbOptions()));
  Verify();
  Open();
  Verify();
}

TEST_F(TieredOpeningTest, ACopiedDirectoryIsRefused) {
  FillTiers();
  std::filesystem::copy(db_name_, folder_ + "/copy", std::filesystem::copy_options::recursive);
  const auto before = Everything();
  NewFs(Tiers(), kPlacement);
  const std::string original = db_name_;
  db_name_ = folder_ + "/copy";
  const Status s = TryOpen(DbOptions());
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find(original), std::string::npos) << s.ToString();
  EXPECT_FALSE(DestroyDB(db_name_, DbOptions()).ok());
  EXPECT_FALSE(RepairDB(db_name_, DbOptions()).ok());
  EXPECT_TRUE(Everything() == before);
  db_name_ = original;
  Open();
  Verify();
  // When the original is gone the copy is what is left: of an earlier time.
  Close();
  std::filesystem::remove_all(db_name_);
  db_name_ = folder_ + "/copy";
  NewFs(Tiers(), kPlacement);
  EXPECT_TRUE(TryOpen(DbOptions()).IsInvalidArgument());
  TieredAdoption adoption;
  ASSERT_OK(AdoptTiers(fs_.get(), db_name_, /*force=*/true, &adoption));
  EXPECT_TRUE(adoption.adopted);
}

TEST_F(TieredOpeningTest, ANewDatabaseWantsItsTiers) {
  std::filesystem::remove(TierPath("slow"));
  NewFs(Tiers(), kPlacement);
  const Status s = TryOpen(DbOptions());
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find(TierPath("slow")), std::string::npos) << s.ToString();
  std::filesystem::create_directory(TierPath("slow"));
  Open();
  Fill(100);
  Settle();
  Verify();
}

// Its device is not mounted, or was unmounted to nothing.
TEST_F(TieredOpeningTest, ATierIsMissing) {
  FillTiers();
  for (const bool empty : {false, true}) {
    for (const int open_files : {-1, 100}) {
      std::filesystem::rename(TierPath("slow"), folder_ + "/away");
      if (empty) {
        std::filesystem::create_directory(TierPath("slow"));
      }
      const auto before = Everything();
      const std::string base = OneIn("slow");
      NewFs(Tiers(), kPlacement);
      Options options = DbOptions();
      options.max_open_files = open_files;
      const Status s = TryOpen(options);
      EXPECT_FALSE(s.ok());
      EXPECT_NE(s.ToString().find(TierPath("slow")), std::string::npos) << s.ToString();
      EXPECT_NE(s.ToString().find(".sst"), std::string::npos) << s.ToString();
      EXPECT_NE(ReadFile(db_name_ + "/LOG").find(base), std::string::npos);
      for (const auto& [path, contents] : before) {
        EXPECT_TRUE(std::filesystem::exists(path)) << path;
      }
      NewFs(Tiers(), kPlacement);
      options.env = env_.get();
      ASSERT_FALSE(OpenDbForReadOnly(options, db_name_, &db_).ok());
      std::filesystem::remove_all(TierPath("slow"));
      std::filesystem::rename(folder_ + "/away", TierPath("slow"));
      Reopen(Tiers(), kPlacement);
      Verify();
      ExpectQuiet();
      Fill(100);
      Close();
    }
  }
}

TEST_F(TieredOpeningTest, ATierWithoutName) {
  FillTiers();
  const auto before = Everything();
  NewFs("fast={path=" + TierPath("fast") + "};other={path=" + TierPath("slow") + "}", "0..=fast");
  const Status s = TryOpen(DbOptions());
  EXPECT_FALSE(s.ok());
  EXPECT_NE(s.ToString().find("slow"), std::string::npos) << s.ToString();
  EXPECT_NE(s.ToString().find("tiers="), std::string::npos) << s.ToString();
  EXPECT_FALSE(OpenDbForReadOnly(DbOptions(), db_name_, &db_).ok());
  EXPECT_TRUE(Everything() == before);
  // Tiers may have other paths, as long as the files are there.
  std::filesystem::rename(TierPath("slow"), folder_ + "/moved");
  NewFs("fast={path=" + TierPath("fast") + "};slow={path=" + folder_ + "/moved}", kPlacement);
  Open();
  Verify();
  Close();
  std::filesystem::rename(folder_ + "/moved", TierPath("slow"));
}

TEST_F(TieredOpeningTest, DamagedStubs) {
  FillTiers();
  const std::string base = OneIn("slow");
  const std::string path = db_name_ + "/" + base;
  const std::string whole = ReadFile(path);
  ASSERT_EQ(whole.size(), Stub::kSize);
  std::vector<std::string> damaged = {"", whole.substr(0, 10), whole.substr(0, 60),
                                      std::string(Stub::kSize, '\0'), whole + "more"};
  for (const size_t at : {0, 4, 6, 7, 19, 20, 30, 40, 60}) {
    damaged.push_back(whole);
    damaged.back()[at] ^= 0x10;
  }
  for (const std::string& bytes : damaged) {
    WriteFile(path, bytes);
    const auto before = Everything();
    NewFs(Tiers(), kPlacement);
    Status s = TryOpen(DbOptions());
    EXPECT_FALSE(s.ok()) << bytes.size();
    EXPECT_NE(s.ToString().find(base), std::string::npos) << s.ToString();
    const auto after = Everything();
    for (const auto& [name, contents] : before) {  // all that the database has is as it was
      const std::string file = std::filesystem::path(name).filename().string();
      if (file == "TIERS" || file == "OWNER") {
        continue;  // they have the id of the attempt
      }
      const auto it = after.find(name);
      EXPECT_TRUE(it != after.end() && it->second == contents) << name;
    }
    WriteFile(path, whole);
    NewFs(Tiers(), kPlacement);
    Open();
    Verify();
    Close();
    if (HasFailure()) {
      return;
    }
    WriteFile(path, whole);
  }
}

// What is after the directory's name in a stub is not looked at.
TEST_F(TieredOpeningTest, LostStubs) {
  FillTiers();
  const std::string base = OneIn("slow");
  const std::string path = db_name_ + "/" + base;
  const std::string whole = ReadFile(path);
  std::filesystem::remove(path);
  const size_t in_tier = FilesIn("slow");
  NewFs(Tiers(), kPlacement);
  EXPECT_FALSE(TryOpen(DbOptions()).ok());
  EXPECT_EQ(FilesIn("slow"), in_tier);
  EXPECT_NE(ReadFile(db_name_ + "/LOG").find("whose stub is lost"), std::string::npos);
  WriteFile(path, whole);
  Reopen(Tiers(), kPlacement);
  Verify();
}

// The database's directory was put back to what it was before a file was moved.
TEST_F(TieredOpeningTest, AnOldStub) {
  FillTiers();
  const std::string base = OneIn("slow");
  const std::string path = db_name_ + "/" + base;
  const std::string old = ReadFile(path);
  Reopen(Tiers(), "0..=fast");
  Settle();
  Close();
  const std::string now = ReadFile(path);
  ASSERT_NE(now, old);
  WriteFile(path, old);
  const size_t in_tier = FilesIn("fast");
  NewFs(Tiers(), "0..=fast");
  EXPECT_FALSE(TryOpen(DbOptions()).ok());
  EXPECT_EQ(FilesIn("fast"), in_tier);
  EXPECT_NE(ReadFile(db_name_ + "/LOG").find("whose stub is lost"), std::string::npos);
  WriteFile(path, now);
  Reopen(Tiers(), kPlacement);
  Verify();
}

TEST_F(TieredOpeningTest, LostFiles) {
  FillTiers();
  const std::string base = OneIn("slow");
  std::string victim;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TierPath("slow"))) {
    if (entry.path().filename().string().compare(0, base.size(), base) == 0) {
      victim = entry.path().string();
    }
  }
  std::filesystem::rename(victim, folder_ + "/away");
  NewFs(Tiers(), kPlacement);
  Status s = TryOpen(DbOptions());
  EXPECT_FALSE(s.ok());
  EXPECT_NE(s.ToString().find(victim), std::string::npos) << s.ToString();
  // Cut off: it must not be moved to where it is whole.
  std::filesystem::copy(folder_ + "/away", victim);
  std::filesystem::resize_file(victim, 1000);
  NewFs(Tiers(), "0..=fast");
  s = TryOpen(DbOptions());
  EXPECT_FALSE(s.ok());
  std::filesystem::rename(folder_ + "/away", victim);
  Reopen(Tiers(), kPlacement);
  Verify();
}

TEST_F(TieredOpeningTest, FilesThatNothingNamesArePutAside) {
  FillTiers();
  std::string folder;
  for (const auto& entry : std::filesystem::directory_iterator(TierPath("slow"))) {
    folder = entry.path().string();
  }
  const size_t before = FilesIn("slow");
  WriteFile(folder + "/000999.sst.0123456789abcdef", "what is left of a crash");
  WriteFile(folder + "/000001.log.0123456789abcdef", "what is left of a crash");
  WriteFile(db_name_ + "/000002.sst.tiers-tmp", "what is left of a crash");
  // What is not of this database stays.
  std::filesystem::create_directory(TierPath("slow") + "/other");
  WriteFile(TierPath("slow") + "/other/000002.sst.0123456789abcdef", "of another one");
  NewFs(Tiers(), kPlacement);
  EXPECT_OK(OpenDbForReadOnly(DbOptions(), db_name_, &db_));
  EXPECT_EQ(FilesIn("slow"), before + 3);
  Close();
  Open();
  EXPECT_EQ(FilesIn("slow"), before + 1);
  size_t lost = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/lost")) {
    const std::string base = entry.path().filename().string().substr(0, 10);
    lost += base == "000999.sst" || base == "000001.log" ? 1 : 0;
  }
  EXPECT_EQ(lost, 2u);
  EXPECT_FALSE(std::filesystem::exists(db_name_ + "/000002.sst.tiers-tmp"));
  Verify();
}

// Power failed when they were being deleted.
TEST_F(TieredOpeningTest, StubsOfDeletedFiles) {
  FillTiers();
  const std::string stub = ReadFile(db_name_ + "/" + OneIn("slow"));
  Stub gone;
  ASSERT_OK(Stub::Decode(stub, "", &gone));
  gone.path += "0";
  for (const char* base : {"/000003.sst", "/000003.blob", "/000002.sst.trash"}) {
    WriteFile(db_name_ + base, gone.Encode());
  }
  Reopen(Tiers(), kPlacement);
  Verify();
  ExpectQuiet();
  for (const char* base : {"/000003.sst", "/000003.blob", "/000002.sst.trash"}) {
    EXPECT_FALSE(std::filesystem::exists(db_name_ + base)) << base;
  }
  // DestroyDB() lists what is there before it locks the database.
  Close();
  WriteFile(db_name_ + "/000003.sst", gone.Encode());
  NewFs(Tiers(), kPlacement);
  EXPECT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_FALSE(std::filesystem::exists(db_name_));
}

struct Fence {
  const char* name;
  const char* placement;
};

const Fence kFences[] = {{"Tables", "0..=fast"},
                         {"UpperTables", "0..1=fast"},
                         {"Logs", "wal=fast"},
                         {"Meta", "meta=fast"},
                         {"Everything", "0..=fast;blob=fast;wal=fast;meta=fast"}};

class TieredFenceTest : public TieredOpeningTest, public ::testing::WithParamInterface<int> {};

// RocksDB alone refuses it, says why, and changes nothing.
TEST_P(TieredFenceTest, WithoutThePlugin) {
  FillTiers(kFences[GetParam()].placement);
  const auto before = Everything();
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    for (const bool few_files : {false, true}) {
      Options options = DbOptions();
      options.env = Env::Default();
      options.listeners.clear();
      options.wal_recovery_mode = mode;
      options.max_open_files = few_files ? 10 : -1;
      Status s = TryOpen(options);
      EXPECT_FALSE(s.ok()) << static_cast<int>(mode);
      printf("%s\n", s.ToString().c_str());
      EXPECT_FALSE(OpenDbForReadOnly(options, db_name_, &db_).ok());
      EXPECT_TRUE(Everything() == before);
    }
  }
  NewFs(Tiers(), kFences[GetParam()].placement);
  Open();
  Verify();
}

INSTANTIATE_TEST_CASE_P(Kinds, TieredFenceTest,
                        ::testing::Range(0, static_cast<int>(std::size(kFences))),
                        [](const auto& each) { return std::string(kFences[each.param].name); });

// RocksDB does not look at blob files when it opens a database: reading what is there is refused.
TEST_F(TieredOpeningTest, BlobFilesWithoutThePlugin) {
  NewFs(Tiers(), "blob=fast");
  Options options = DbOptions();
  options.enable_blob_files = true;
  options.min_blob_size = 10;
  Open(options);
  Fill(1000);
  Settle();
  Close();
  const auto before = Everything();
  options.env = Env::Default();
  options.listeners.clear();
  ASSERT_OK(OpenDbForReadOnly(options, db_name_, &db_));
  std::string value;
  const Status s = db_->Get(ReadOptions(), model_.begin()->first, &value);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  Close();
  EXPECT_TRUE(Everything() == before);
}

TEST_F(TieredOpeningTest, AboveRawWal) {
  ConfigOptions config;
  const std::string uri =
      "id=TieredFileSystem;tiers={" + Tiers() +
      "};placement={0..1=fast;2..=slow};target={id=RawWalFileSystem;device=" + folder_ +
      "/device;size=64M}";
  const auto make = [&] {
    Close();
    env_.reset();
    fs_.reset();
    const Status s = FileSystem::CreateFromString(config, uri, &fs_);
    if (s.ok()) {
      env_ = NewCompositeEnv(fs_);
    }
    return s;
  };
  Status s = make();
  if (!s.ok() && s.ToString().find("RawWalFileSystem") != std::string::npos &&
      !s.IsInvalidArgument()) {
    ROCKTIER_SKIP("raw_wal_fs is not built: " + s.ToString());
  }
  ASSERT_OK(s);
  for (int i = 0; i < 3; i++) {
    Open();
    Verify();
    Fill(20000);
    Settle();
    ExpectUpperInFast();
    Fill(100);
    ASSERT_OK(make());
  }
  Open();
  Verify();
  ExpectQuiet();
  Close();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_EQ(FilesIn("fast") + FilesIn("slow"), 0u);
}

}  // namespace

}  // namespace rocktier
