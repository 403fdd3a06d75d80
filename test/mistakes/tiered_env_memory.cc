// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory, in the hands of operators: what is in memory is acknowledged, and its recipes and logs are the only
// copies of it once the power fails.

#include <filesystem>
#include <fstream>

#include "plugin/tiered_env/name.h"
#include "test/tiered_env/volatile.h"

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
  // Names and sizes of all but LOG and statistics.
  std::map<std::string, uint64_t> Listing() const {
    std::map<std::string, uint64_t> result;
    for (const auto& entry : fs::recursive_directory_iterator(db_name_)) {
      const std::string base = entry.path().filename().string();
      if (base.compare(0, 3, "LOG") != 0 && base != kStatisticsName && entry.is_regular_file()) {
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
    EXPECT_FALSE(RepairDB(db_name_, DbOptions()).ok());
    EXPECT_FALSE(DestroyDB(db_name_, DbOptions()).ok());
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

// It would not know the logs any more that are retained.
TEST_F(MemoryMistakes, RawWalFsBelowIsRefused) {
  class RawWal : public FileSystemWrapper {
   public:
    RawWal() : FileSystemWrapper(FileSystem::Default()) {}
    static const char* kClassName() { return "RawWalFileSystem"; }
    const char* Name() const override { return kClassName(); }
  };
  class Wrapper : public FileSystemWrapper {
   public:
    explicit Wrapper(const std::shared_ptr<FileSystem>& target) : FileSystemWrapper(target) {}
    const char* Name() const override { return "Wrapper"; }
  };
  const auto raw = std::make_shared<RawWal>();
  for (const std::shared_ptr<FileSystem>& target :
       {std::shared_ptr<FileSystem>(raw), std::shared_ptr<FileSystem>(new Wrapper(raw))}) {
    TieredOptions options;
    options.tiers = MemoryTiers();
    options.placement = "0..2=memory;3..=slow";
    std::shared_ptr<FileSystem> result;
    const Status s = NewTieredFileSystem(options, target, &result);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("RawWalFileSystem"), std::string::npos) << s.ToString();
    options.tiers = Tiers();
    options.placement = "0..1=fast;2..=slow";
    EXPECT_OK(NewTieredFileSystem(options, target, &result));
  }
}

}  // namespace

}  // namespace rocktier
