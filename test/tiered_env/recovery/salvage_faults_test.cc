// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Databases with a tier in memory that are salvaged while something fails.

#include <algorithm>
#include <atomic>

#include "plugin/tiered_env/recipe/recipe_log.h"
#include "test/tiered_env/support/hooks.h"
#include "test/tiered_env/support/salvage.h"
#include "test_util/sync_point.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

// A disk on which files cannot be opened, or read, for a while.
class BlindFs : public HookedFs {
 public:
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    const bool is_recipes = path.find("TIERS-RECIPES") != std::string::npos;
    const fs::path name = fs::path(path).filename();
    if (name.string().compare(0, 6, "TIERS-") == 0 && name.extension() == ".log" && IsDue(&logs)) {
      return IOStatus::IOError(path, "injected");
    }
    IOStatus s = HookedFs::NewSequentialFile(path, options, result, dbg);
    if (s.ok() && is_recipes && IsDue(&reads)) {
      result->reset(new Unread(std::move(*result)));
    }
    return s;
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    if (IsDue(&maps)) {
      return IOStatus::IOError(path, "injected");
    }
    return HookedFs::NewMemoryMappedFileBuffer(path, result);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    if (path.find("TIERS-RECIPES") != std::string::npos && IsDue(&opens)) {
      return IOStatus::IOError(path, "injected");
    }
    return HookedFs::NewRandomAccessFile(path, options, result, dbg);
  }

  // Failures that are due: of opening retained logs and recipe logs, of reading these, of mapping.
  std::atomic<int> logs{0};
  std::atomic<int> opens{0};
  std::atomic<int> reads{0};
  std::atomic<int> maps{0};

 private:
  static bool IsDue(std::atomic<int>* failures) {
    int left = failures->load();
    while (left > 0 && !failures->compare_exchange_weak(left, left - 1)) {
    }
    return left > 0;
  }

  class Unread : public FSSequentialFileOwnerWrapper {
   public:
    using FSSequentialFileOwnerWrapper::FSSequentialFileOwnerWrapper;
    IOStatus Read(size_t /*n*/, const IOOptions& /*options*/, Slice* /*result*/, char* /*scratch*/,
                  IODebugContext* /*dbg*/) override {
      return IOStatus::IOError("injected");
    }
  };
};

// Without a MANIFEST and without stubs, recipes alone know of SSTs in memory.
TEST_F(SalvageTest, ARecipeLogThatCannotBeReadForAMoment) {
  const auto disk = std::make_shared<BlindFs>();
  target_ = disk;
  Prepare();
  ASSERT_FALSE(HasFailure());
  std::string current;
  ASSERT_OK(ReadFileToString(Env::Default(), db_name_ + "/CURRENT", &current));
  DamageInTheMiddle(db_name_ + "/" + current.substr(0, current.find('\n')));
  size_t stubs = 0;
  for (const std::string& base : FilesOf(".sst")) {
    if (TierOf(base) == "memory") {
      fs::remove(db_name_ + "/" + base);
      stubs++;
    }
  }
  ASSERT_GT(stubs, 0u);
  LoseMemory();
  MountMemory();
  disk->opens = 1;
  std::vector<std::string> given_up;
  const Status s = SalvageTiers(fs_.get(), db_name_, &given_up);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_EQ(disk->opens, 0);
  ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
  EXPECT_TRUE(given_up.empty());
  ExpectNothingOfMemory();
  ASSERT_OK(RepairDB(db_name_, DbOptions()));
  LoseMemory();
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  Verify();
}

// What is given up once is gone: not for an error that may not come again.
class MomentTest : public SalvageTest {
 protected:
  MomentTest() { target_ = disk_; }

  // It fails, changes nothing, and the next one gives nothing up. `left`: failures that are due.
  void ExpectOnce(const std::atomic<int>& left, const std::string& text) {
    const size_t before = FilesInDatabase();
    std::vector<std::string> given_up;
    const Status s = SalvageTiers(fs_.get(), db_name_, &given_up);
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
    EXPECT_EQ(left, 0);
    EXPECT_EQ(FilesInDatabase(), before);
    ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
    EXPECT_TRUE(given_up.empty());
    ExpectNothingOfMemory();
    LoseMemory();
    OpenMemory();
    ASSERT_FALSE(HasFailure());
    Verify();
  }

  const std::shared_ptr<BlindFs> disk_ = std::make_shared<BlindFs>();
};

TEST_F(MomentTest, ALogCannotBeOpened) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  MountMemory();
  disk_->logs = 1;
  ExpectOnce(disk_->logs, "move it away");
}

TEST_F(MomentTest, TheRecipeLogCannotBeRead) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  MountMemory();
  disk_->reads = 1;
  ExpectOnce(disk_->reads, "injected");
}

// And cannot be rebuilt any more.
TEST_F(MomentTest, AnSstCannotBeCompared) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  for (const std::string end : {".log", ".seg"}) {
    for (const std::string& path : Kept(end)) {
      fs::remove(path);
    }
  }
  MountMemory();
  disk_->maps = 1;
  ExpectOnce(disk_->maps, "injected");
}

// A later version can rebuild it.
TEST_F(SalvageTest, ARecipeOfALaterVersionIsNotGivenUp) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  std::string base;
  {
    RecipeLog recipes(FileSystem::Default().get(), db_name_);
    RecipeLog::Contents contents;
    ASSERT_OK(recipes.Load(&contents));
    ASSERT_FALSE(contents.recipes.empty());
    base = contents.recipes.begin()->first;
    std::string recipe;
    ASSERT_OK(recipes.ReadRecipe(base, &recipe));
    recipe[4]++;
    EncodeFixed32(&recipe[0], crc32c::Mask(crc32c::Value(recipe.data() + 4, recipe.size() - 4)));
    ASSERT_OK(recipes.Start(contents));
    ASSERT_OK(recipes.AddRecipe(base, recipe));
    ASSERT_OK(recipes.Sync());
  }
  for (const bool lost : {false, true}) {
    SCOPED_TRACE(lost);
    if (lost) {
      LoseMemory();
    }
    MountMemory();
    const size_t before = FilesInDatabase();
    std::vector<std::string> given_up;
    for (const Status& s : {SalvageTiers(fs_.get(), db_name_, &given_up), TryOpen()}) {
      EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
      EXPECT_NE(s.ToString().find(base), std::string::npos) << s.ToString();
      EXPECT_NE(s.ToString().find("recipe of version 2"), std::string::npos) << s.ToString();
      EXPECT_EQ(s.ToString().find("--salvage"), std::string::npos) << s.ToString();
    }
    EXPECT_TRUE(given_up.empty());
    EXPECT_EQ(FilesInDatabase(), before);
  }
}

// What must leave memory goes to the next tier that takes it.
class FullTest : public SalvageTest {
 protected:
  FullTest() { target_ = disk_; }

  // From then on nothing goes to the slow tier.
  void PrepareFull() {
    Prepare();
    ASSERT_FALSE(HasFailure());
    MountMemory();
    disk_->before_create = [start = TierPath("slow")](const std::string& path) {
      return path.compare(0, start.size(), start) == 0 ? IOStatus::NoSpace(path, "injected")
                                                       : IOStatus::OK();
    };
  }
  size_t AtHome() const {
    const std::vector<std::string> all = FilesOf(".sst");
    return static_cast<size_t>(
        std::count_if(all.begin(), all.end(),
                      [this](const std::string& base) { return TierOf(base) == "home"; }));
  }
  void ExpectWhole() {
    disk_->before_create = nullptr;
    LoseMemory();
    OpenMemory();
    ASSERT_FALSE(HasFailure());
    Verify();
  }

  const std::shared_ptr<HookedFs> disk_ = std::make_shared<HookedFs>();
};

TEST_F(FullTest, ASalvage) {
  PrepareFull();
  const size_t before = AtHome();
  std::vector<std::string> given_up;
  ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
  EXPECT_TRUE(given_up.empty());
  EXPECT_GT(AtHome(), before);
  ExpectNothingOfMemory();
  ExpectWhole();
}

TEST_F(FullTest, ARepair) {
  PrepareFull();
  ASSERT_OK(RepairDB(db_name_, DbOptions()));
  EXPECT_EQ(FilesIn("memory"), 0u);
  ExpectWhole();
}

// Of SSTs whose recipes are lost, and would be too long.
TEST_F(FullTest, AnOpeningAndADestruction) {
  for (const bool destroyed : {false, true}) {
    SCOPED_TRACE(destroyed);
    PrepareFull();
    for (const std::string end : {"RECIPES", ".log", ".seg"}) {
      for (const std::string& path : Kept(end)) {
        fs::remove(path);
      }
    }
    SyncPoint::GetInstance()->SetCallBack("RecipeLog::AddRecipe:Most",
                                          [](void* most) { *static_cast<uint64_t*>(most) = 100; });
    SyncPoint::GetInstance()->EnableProcessing();
    if (destroyed) {
      ASSERT_OK(DestroyDB(db_name_, DbOptions()));
      EXPECT_FALSE(fs::exists(db_name_));
    } else {
      const size_t before = AtHome();
      ASSERT_OK(TryOpen());
      Close();
      EXPECT_GT(AtHome(), before);
      ExpectWhole();
      Close();
      ASSERT_OK(DestroyDB(db_name_, DbOptions()));
      model_.clear();
    }
    SyncPoint::GetInstance()->DisableProcessing();
  }
}

}  // namespace

}  // namespace rocktier
