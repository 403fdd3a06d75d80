// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory, in the hands of operators: what is in memory is acknowledged, and its recipes
// and logs are the only copies of it once the power fails.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "plugin/tiered_env/files/names.h"
#include "test/mistakes/samples.h"
#include "test/tiered_env/support/volatile.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

class MemoryMistakes : public VolatileTest {
 protected:
  // A database that is closed, with SSTs in memory, a retained log, and a last write in a log.
  void Prepare(const std::string& more = "") {
    OpenMemory(more);
    ASSERT_FALSE(HasFailure());
    for (int i = 0; i < 3; i++) {
      Fill(300);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    Fill(50);
    ASSERT_GT(Stats().bytes, 0u);
    Close();
    ASSERT_FALSE(Kept(".log").empty());
  }
  // Names and sizes of all but LOG, LOCK and statistics.
  std::map<std::string, uint64_t> Listing() const {
    std::map<std::string, uint64_t> result;
    for (const auto& entry : fs::recursive_directory_iterator(db_name_)) {
      const std::string base = entry.path().filename().string();
      if (base.compare(0, 3, "LOG") != 0 && base != "LOCK" && base != kStatisticsName &&
          entry.is_regular_file()) {
        result[entry.path().string()] = entry.file_size();
      }
    }
    return result;
  }
  // The database cannot be opened as it is now; nothing changes by that.
  void ExpectRefused(const Options& options, const std::string& mentions) {
    const auto before = Listing();
    db_.reset();
    const Status s = OpenDb(options, db_name_, &db_);
    EXPECT_FALSE(s.ok());
    EXPECT_NE(s.ToString().find(mentions), std::string::npos) << s.ToString();
    EXPECT_EQ(Listing(), before);
  }
};

TEST_F(MemoryMistakes, WithoutCurrentAndManifestNothingIsThrownAway) {
  for (const bool lost : {false, true}) {
    SCOPED_TRACE(lost);
    Prepare();
    std::map<std::string, std::string> taken;
    for (const auto& entry : fs::directory_iterator(db_name_)) {
      const std::string base = entry.path().filename().string();
      if (base == "CURRENT" || base.compare(0, 8, "MANIFEST") == 0) {
        ASSERT_OK(ReadFileToString(Env::Default(), entry.path().string(), &taken[base]));
      }
    }
    ASSERT_EQ(taken.size(), 2u);
    for (const auto& [base, contents] : taken) {
      fs::remove(db_name_ + "/" + base);
    }
    if (lost) {
      LoseMemory();
    }
    for (const bool create : {false, true}) {
      MountMemory();
      Options options = DbOptions();
      options.create_if_missing = create;
      ExpectRefused(options, "--salvage");
    }
    const auto before = Listing();
    for (const Status& s : {RepairDB(db_name_, DbOptions()), DestroyDB(db_name_, DbOptions())}) {
      EXPECT_FALSE(s.ok());
      EXPECT_NE(s.ToString().find("--salvage"), std::string::npos) << s.ToString();
    }
    EXPECT_EQ(Listing(), before);
    for (const auto& [base, contents] : taken) {
      ASSERT_OK(WriteStringToFile(Env::Default(), contents, db_name_ + "/" + base));
    }
    LoseAndVerify();
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    EXPECT_FALSE(fs::exists(db_name_));
    model_.clear();
  }
}

// Neither with an old recipe log gone, too.
TEST_F(MemoryMistakes, WithoutManifestAndRecipesRetainedLogsStay) {
  Prepare();
  for (const auto& entry : fs::directory_iterator(db_name_)) {
    const std::string base = entry.path().filename().string();
    if (base == "CURRENT" || base.compare(0, 8, "MANIFEST") == 0 ||
        base.find("RECIPES") != std::string::npos) {
      fs::rename(entry.path(), folder_ + "/" + base);
    }
  }
  MountMemory();
  ExpectRefused(DbOptions(), "--salvage");
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.is_regular_file()) {
      fs::rename(entry.path(), db_name_ + "/" + entry.path().filename().string());
    }
  }
  LoseAndVerify();
}

TEST_F(MemoryMistakes, SalvageWithoutManifestBringsAllAway) {
  Prepare();
  for (const auto& entry : fs::directory_iterator(db_name_)) {
    const std::string base = entry.path().filename().string();
    if (base == "CURRENT" || base.compare(0, 8, "MANIFEST") == 0) {
      fs::remove(entry.path());
    }
  }
  LoseMemory();
  MountMemory();
  std::vector<std::string> given_up;
  ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
  EXPECT_TRUE(given_up.empty());
  ASSERT_OK(RepairDB(db_name_, DbOptions()));
  LoseMemory();
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  Verify();
}

TEST_F(MemoryMistakes, ADirectoryOfATierIsMadeWithThoseAbove) {
  const std::string path = TierPath("ram") + "/of/databases";
  const std::string tiers =
      "memory={kind=memory;path=" + path + "};slow={path=" + TierPath("slow") + "}";
  for (int i = 0; i < 2; i++) {
    NewFs(tiers, "0..2=memory;3..=slow");
    Open();
    ASSERT_FALSE(HasFailure());
    Verify();
    Fill(200);
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_GT(Stats().bytes, 0u);
    Close();
    fs::remove_all(TierPath("ram"));
  }
}

// With its logs in a directory that had another path then.
TEST_F(MemoryMistakes, ADatabaseOfTheFirstVersionIsOpened) {
  const std::string sample = SamplePath("tiered_env_memory_1");
  fs::copy(sample, folder_, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  std::ifstream contents(folder_ + "/contents");
  for (std::string key, value; contents >> key >> value;) {
    model_[key] = value;
  }
  ASSERT_GT(model_.size(), 50u);
  for (int i = 0; i < 2; i++) {
    LoseMemory();
    MountMemory();
    Options options = DbOptions();
    options.wal_dir = db_name_ + "/logs";
    options.disable_auto_compactions = true;
    Open(options);
    ASSERT_FALSE(HasFailure());
    EXPECT_GT(Stats().rebuilt_files, 0u);
    Verify();
    ASSERT_OK(db_->VerifyChecksum());
    Fill(100, 100);
    ASSERT_OK(db_->Flush(FlushOptions()));
    Close();
  }
}

// By a URI that has the tier, but not what it is.
TEST_F(MemoryMistakes, ATierThatIsNotMemoryAnyMoreIsRefused) {
  for (const bool lost : {false, true}) {
    SCOPED_TRACE(lost);
    Prepare();
    if (lost) {
      LoseMemory();
      fs::create_directories(TierPath("memory"));
    }
    NewFs("memory={path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}",
          "0..2=memory;3..=slow");
    ExpectRefused(DbOptions(), "kind=memory");
    const auto before = Listing();
    EXPECT_FALSE(RecoverTiers(fs_.get(), db_name_).ok());
    uint64_t moved = 0;
    EXPECT_FALSE(EvacuateTiers(fs_.get(), db_name_, &moved).ok());
    EXPECT_EQ(Listing(), before);
    NewFs("slow={path=" + TierPath("slow") + "}", "0..=slow");
    ExpectRefused(DbOptions(), "tier memory");
    LoseAndVerify();
    Close();
    MountMemory();
    ASSERT_OK(DrainTier(fs_.get(), db_name_, "memory", &moved));
    NewFs("slow={path=" + TierPath("slow") + "}", "0..=slow");
    Open();
    ASSERT_FALSE(HasFailure());
    Verify();
    Close();
    EXPECT_TRUE(Kept(".log").empty());
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    model_.clear();
  }
}

// The recipe log of the first version does not know: there a tmpfs tells.
TEST_F(MemoryMistakes, ATierOfTheFirstVersionThatIsNotMemoryAnyMoreIsRefused) {
  const fs::path memory = "/dev/shm/tiered_env_mistakes_" + std::to_string(getpid());
  std::error_code error;
  if (!fs::create_directories(memory, error)) {
    ROCKTIER_SKIP("/dev/shm cannot be written");
  }
  const std::string sample = SamplePath("tiered_env_memory_1");
  fs::copy(sample, folder_, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  const std::string slow = "slow={path=" + TierPath("slow") + "}";
  NewFs("memory={path=" + memory.string() + "};" + slow, "0..2=memory;3..=slow");
  ExpectRefused(DbOptions(), "kind=memory");
  fs::remove_all(memory);
}

// What the MANIFEST names is missing: RocksDB may say so, but nothing that could help is deleted.
TEST_F(MemoryMistakes, WhileAnSstIsMissingNothingIsDeleted) {
  Prepare();
  MountMemory();
  uint64_t moved = 0;
  const std::string base = FilesOf(".sst").front();
  std::string later;
  ASSERT_OK(MoveToTier(fs_.get(), db_name_, base, "slow", &later));
  fs::rename(TierPath("slow"), TierPath("away"));
  fs::create_directories(TierPath("slow"));
  const size_t logs = Kept(".log").size();
  ASSERT_GT(logs, 0u);
  for (int i = 0; i < 2; i++) {
    LoseMemory();
    MountMemory();
    EXPECT_FALSE(TryOpen().ok());
    EXPECT_EQ(Kept(".log").size(), logs);
    EXPECT_EQ(Kept("RECIPES").size(), 1u);
  }
  fs::remove_all(TierPath("slow"));
  fs::rename(TierPath("away"), TierPath("slow"));
  LoseAndVerify();
  Close();
  MountMemory();
  ASSERT_OK(EvacuateTiers(fs_.get(), db_name_, &moved));
}

// However a wal_dir is called, it is one directory.
TEST_F(MemoryMistakes, AWalDirByOtherSpellings) {
  fs::create_directories(folder_ + "/logs");
  fs::create_directory_symlink(folder_ + "/logs", folder_ + "/link");
  fs::create_directory_symlink(db_name_, folder_ + "/home");
  const std::string relative = fs::relative(folder_ + "/logs").string();
  const std::vector<std::vector<std::string>> kCases = {
      {folder_ + "/logs", folder_ + "/link", folder_ + "/logs"},
      {folder_ + "/logs", folder_ + "//logs", relative, folder_ + "/logs/"},
      {relative, folder_ + "/logs", relative},
      {db_name_, folder_ + "/home", "", folder_ + "/home"},
      {folder_ + "/home", db_name_},
  };
  for (const auto& spellings : kCases) {
    uint64_t references = 0;
    for (size_t i = 0; i < 2 * spellings.size(); i++) {
      const std::string& spelling = spellings[i / 2];
      SCOPED_TRACE(spellings[0] + " " + spelling);
      LoseMemory();
      MountMemory();
      Options options = DbOptions();
      options.disable_auto_compactions = true;
      options.wal_dir = spelling;
      Open(options);
      ASSERT_FALSE(HasFailure());
      Verify();
      Fill(200);
      ASSERT_OK(db_->Flush(FlushOptions()));
      references += Stats().references;
      Fill(20);
      Close();
    }
    EXPECT_GT(references, spellings.size() * 150);  // all but what opening has written
    MountMemory();
    Options options = DbOptions();
    options.wal_dir = spellings.back();
    ASSERT_OK(DestroyDB(db_name_, options));
    fs::create_directories(folder_ + "/logs");
    for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/logs")) {
      EXPECT_FALSE(entry.is_regular_file()) << entry.path();
    }
    model_.clear();
  }
}

TEST_F(MemoryMistakes, AHomeThatIsRenamedWithItsWalDir) {
  for (const bool below : {true, false}) {
    SCOPED_TRACE(below);
    fs::create_directories(folder_ + "/logs");
    const std::string first = db_name_;
    for (int i = 0; i < 3; i++) {
      LoseMemory();
      MountMemory();
      Options options = DbOptions();
      options.wal_dir = below ? db_name_ + "/logs" : folder_ + "/logs";
      Open(options);
      ASSERT_FALSE(HasFailure());
      Verify();
      Fill(300);
      ASSERT_OK(db_->Flush(FlushOptions()));
      EXPECT_GT(Stats().references, 0u);
      Fill(30);
      Close();
      const std::string to = folder_ + "/renamed" + std::to_string(i);
      fs::rename(db_name_, to);
      db_name_ = to;
    }
    Options options = DbOptions();
    options.wal_dir = below ? db_name_ + "/logs" : folder_ + "/logs";
    ASSERT_OK(DestroyDB(db_name_, options));
    db_name_ = first;
    model_.clear();
  }
}

// Another database is at the path that logs had: what it retains is not touched.
TEST_F(MemoryMistakes, LogsOfAnotherDatabaseAreLeftAlone) {
  std::string names[] = {db_name_, folder_ + "/other"};
  std::map<std::string, std::string> models[2];
  for (int i = 0; i < 6; i++) {
    db_name_ = names[i % 2];
    model_.swap(models[i % 2]);
    LoseMemory();
    MountMemory();
    Options options = DbOptions();
    options.wal_dir = db_name_ + "/logs";
    options.disable_auto_compactions = true;
    Open(options);
    ASSERT_FALSE(HasFailure());
    Verify();
    Fill(200);
    ASSERT_OK(db_->Flush(FlushOptions()));
    Fill(20);
    Close();
    model_.swap(models[i % 2]);
    if (i == 0) {  // the other one takes its place
      fs::rename(names[0], names[0] + ".old");
      names[1] = names[0];
      names[0] += ".old";
    }
  }
}

// A file system that keeps sizes and loses bytes, when the power fails, of what was not synced.
class ForgetfulFs : public FileSystemWrapper {
 public:
  ForgetfulFs() : FileSystemWrapper(FileSystem::Default()) {}
  static const char* kClassName() { return "ForgetfulFs"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus s = target_->NewWritableFile(path, options, result, dbg);
    if (s.ok()) {
      std::lock_guard<std::mutex> lock(mutex_);
      unsynced_.insert(path);
      result->reset(new File(this, path, std::move(*result)));
    }
    return s;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    IOStatus s = target_->RenameFile(from, to, options, dbg);
    std::lock_guard<std::mutex> lock(mutex_);
    if (s.ok() && unsynced_.erase(from) > 0) {
      unsynced_.insert(to);
    }
    return s;
  }
  // Paths of what would be lost now.
  std::set<std::string> unsynced() {
    std::lock_guard<std::mutex> lock(mutex_);
    return unsynced_;
  }

 private:
  class File : public FSWritableFileOwnerWrapper {
   public:
    File(ForgetfulFs* fs, std::string path, std::unique_ptr<FSWritableFile>&& target)
        : FSWritableFileOwnerWrapper(std::move(target)), fs_(fs), path_(std::move(path)) {}
    IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
      std::lock_guard<std::mutex> lock(fs_->mutex_);
      fs_->unsynced_.erase(path_);
      return target()->Sync(options, dbg);
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
      std::lock_guard<std::mutex> lock(fs_->mutex_);
      fs_->unsynced_.erase(path_);
      return target()->Fsync(options, dbg);
    }

   private:
    ForgetfulFs* const fs_;
    const std::string path_;
  };

  std::mutex mutex_;
  std::set<std::string> unsynced_;
};

// Whatever is not durable then has neither a name nor a stub.
TEST_F(MemoryMistakes, ARecoveryThatSpillsIsCutOffByTheLossOfPower) {
  for (const bool home : {true, false}) {
    for (const char* point :
         {"TableWriter::WriteTo:BeforeSync", "TableWriter::WriteTo:BeforeName"}) {
      SCOPED_TRACE(std::string(home ? "home " : "slow ") + point);
      Prepare();
      LoseMemory();
      const auto forgetful = std::make_shared<ForgetfulFs>();
      const auto mount = [&](const std::string& budget) {
        TieredOptions options;
        options.tiers = "memory={kind=memory;path=" + TierPath("memory") + budget + "}" +
                        (home ? "" : ";slow={path=" + TierPath("slow") + "}");
        options.placement = home ? "0..=memory" : "0..2=memory;3..=slow";
        options.recovery_threads = 1;
        ASSERT_OK(NewTieredFileSystem(options, forgetful, &fs_));
        env_ = NewCompositeEnv(fs_);
      };
      env_.reset();
      mount(";budget=1K");
      // The image of what is there at this moment is what the power leaves.
      bool taken = false;
      std::set<std::string> forgotten;
      const std::string image = folder_ + "/image";
      SyncPoint::GetInstance()->SetCallBack(point, [&](void*) {
        if (!taken) {
          taken = true;
          fs::copy(db_name_, image, fs::copy_options::recursive);
          fs::copy(TierPath("slow"), image + "_slow", fs::copy_options::recursive);
          forgotten = forgetful->unsynced();
          for (const auto& entry : fs::recursive_directory_iterator(TierPath("slow"))) {
            const std::string base = entry.path().filename().string();
            EXPECT_FALSE(base.find(".sst.") != std::string::npos && !EndsWith(base, kTemporary))
                << base;  // a stub would be taken for it
          }
        }
      });
      SyncPoint::GetInstance()->EnableProcessing();
      Open();
      SyncPoint::GetInstance()->DisableProcessing();
      SyncPoint::GetInstance()->ClearAllCallBacks();
      ASSERT_FALSE(HasFailure());
      ASSERT_TRUE(taken);
      Verify();
      Close();
      fs::remove_all(db_name_);
      fs::remove_all(TierPath("slow"));
      fs::rename(image, db_name_);
      fs::rename(image + "_slow", TierPath("slow"));
      LoseMemory();
      for (const std::string& path : forgotten) {
        std::error_code error;
        const uint64_t size = fs::file_size(path, error);
        if (!error) {
          fs::resize_file(path, 0);
          fs::resize_file(path, size);
        }
      }
      mount("");
      Open();
      ASSERT_FALSE(HasFailure());
      Verify();
      ASSERT_OK(db_->VerifyChecksum());
      Close();
      ASSERT_OK(DestroyDB(db_name_, DbOptions()));
      model_.clear();
    }
  }
}

}  // namespace

}  // namespace rocktier
