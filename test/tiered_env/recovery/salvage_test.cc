// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Databases that cannot be recovered, or are being repaired, with a tier in memory.

#include "test/tiered_env/support/salvage.h"

#include <fstream>
#include <set>

#include "test/support/power_fs.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

TEST_F(SalvageTest, WhatCannotBeRebuiltIsGivenUp) {
  PrepareLoss();
  const size_t before = FilesInDatabase();
  ExpectRefused(TryOpen());
  ExpectRefused(RepairDB(db_name_, DbOptions()));
  ExpectRefused(DestroyDB(db_name_, DbOptions()));
  ExpectRefused(RecoverTiers(fs_.get(), db_name_));
  EXPECT_EQ(FilesInDatabase(), before);
  std::vector<std::string> given_up;
  ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
  ASSERT_FALSE(given_up.empty());
  for (const std::string& text : given_up) {
    const std::string base = text.substr(0, text.find(':'));
    EXPECT_FALSE(fs::exists(db_name_ + "/" + base)) << text;
    EXPECT_NE(text.find("cannot be rebuilt"), std::string::npos) << text;
    EXPECT_EQ(text.find("--salvage"), std::string::npos) << text;
  }
  ExpectNothingOfMemory();
  const Status s = TryOpen();  // RocksDB says what it lacks
  EXPECT_FALSE(s.ok());
  EXPECT_EQ(s.ToString().find("--salvage"), std::string::npos) << s.ToString();
  ASSERT_OK(RepairDB(db_name_, DbOptions()));
  ASSERT_OK(TryOpen());
  ASSERT_OK(db_->VerifyChecksum());
  std::map<std::string, std::string> found;
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    found[it->key().ToString()] = it->value().ToString();
    EXPECT_EQ(model_.count(it->key().ToString()), 1u);
  }
  ASSERT_OK(it->status());
  it.reset();
  EXPECT_FALSE(found.empty());
  EXPECT_EQ(found["last"], "one");
  model_ = found;
  Fill(3000);
  Settle();
  LoseAndVerify();
}

TEST_F(SalvageTest, WhatIsGivenUpCanBeDestroyed) {
  PrepareLoss();
  std::vector<std::string> given_up;
  ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
  EXPECT_FALSE(given_up.empty());
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_FALSE(fs::exists(db_name_));
  EXPECT_EQ(FilesIn("memory") + FilesIn("slow"), 0u);
}

TEST_F(SalvageTest, ADatabaseThatIsSoundLosesNothing) {
  for (const bool lost : {false, true}) {
    SCOPED_TRACE(lost);
    Prepare();
    if (lost) {
      LoseMemory();
    }
    MountMemory();
    std::vector<std::string> given_up;
    ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
    EXPECT_TRUE(given_up.empty());
    ExpectNothingOfMemory();
    LoseMemory();
    OpenMemory();
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(Stats().rebuilt_files, 0u);
    Verify();
    Close();
  }
}

// The MANIFEST is what RepairDB() is for, and without it nobody knows what is needed: all is.
TEST_F(SalvageTest, WithoutAManifest) {
  for (const bool lost : {false, true}) {
    SCOPED_TRACE(lost);
    Prepare();
    ASSERT_FALSE(HasFailure());
    std::string current;
    ASSERT_OK(ReadFileToString(Env::Default(), db_name_ + "/CURRENT", &current));
    DamageInTheMiddle(db_name_ + "/" + current.substr(0, current.find('\n')));
    if (lost) {
      LoseMemory();
    }
    MountMemory();
    ExpectRefused(TryOpen());
    ExpectRefused(RepairDB(db_name_, DbOptions()));
    std::vector<std::string> given_up;
    ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
    EXPECT_TRUE(given_up.empty());
    ExpectNothingOfMemory();
    ASSERT_OK(RepairDB(db_name_, DbOptions()));
    LoseMemory();
    OpenMemory();
    ASSERT_FALSE(HasFailure());
    Verify();
    Close();
  }
}

// Before it puts the MANIFEST aside, that names what is in memory, all that is in other tiers.
TEST_F(SalvageTest, ARepairCanBeInterrupted) {
  random_.seed(Seed());
  const auto power = std::make_shared<PowerFs>(folder_ + "/attic");
  target_ = power;
  bool done = false;
  int interrupted = 0;
  for (uint64_t changes = 1; !done; changes += 1 + random_() % 5) {
    SCOPED_TRACE(changes);
    OpenMemory();
    ASSERT_FALSE(HasFailure());
    for (int i = 0; i < 3; i++) {
      Fill(200);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    ASSERT_GT(FilesIn("memory"), 0u);
    MountMemory();
    power->FailAfter(changes);
    done = RepairDB(db_name_, DbOptions()).ok() && !power->failed();
    interrupted += done ? 0 : 1;
    MountMemory();
    power->Restart();
    LoseMemory();
    ASSERT_OK(RepairDB(db_name_, DbOptions()));
    LoseMemory();
    OpenMemory();
    ASSERT_FALSE(HasFailure());
    Verify();
    ASSERT_FALSE(HasFailure());
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    model_.clear();
  }
  EXPECT_GT(interrupted, 3);
}

// As long as they are sound: nothing is written for it, and nothing is needed of the tier.
TEST_F(SalvageTest, RecipesAreTried) {
  Prepare();
  for (const bool lost : {false, true}) {
    SCOPED_TRACE(lost);
    if (lost) {
      LoseMemory();
    }
    MountMemory();
    const size_t before = FilesInDatabase();
    TieredCheck check;
    ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check, /*rebuild=*/true));
    EXPECT_GT(check.rebuilt, 1u);
    EXPECT_EQ(check.problems.empty(), !lost);
    for (const TieredProblem& problem : check.problems) {
      EXPECT_EQ(problem.what.find("cannot be rebuilt"), std::string::npos) << problem.what;
    }
    EXPECT_EQ(FilesInDatabase(), before);
  }
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  const Status s = CheckTiers(fs_.get(), db_name_, false, std::make_unique<TieredCheck>().get(),
                              /*rebuild=*/true);
  EXPECT_FALSE(s.ok());  // it is open
  Verify();
}

TEST_F(SalvageTest, ARecipeThatIsOfNoUseIsFound) {
  random_.seed(Seed());
  Prepare();
  const std::vector<std::string> logs = Kept(".log");
  ASSERT_FALSE(logs.empty());
  for (const bool missing : {false, true}) {
    const std::string& path = logs[random_() % logs.size()];
    SCOPED_TRACE(path);
    fs::copy_file(path, folder_ + "/sound", fs::copy_options::overwrite_existing);
    if (missing) {
      fs::remove(path);
    } else {
      // In the first record: some of the last ones may be of use to no recipe.
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(20);
      file << "damage";
    }
    MountMemory();
    TieredCheck check;
    ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check, /*rebuild=*/true));
    EXPECT_FALSE(check.problems.empty());
    for (const TieredProblem& problem : check.problems) {
      EXPECT_NE(problem.what.find(fs::path(path).filename().string()), std::string::npos)
          << problem.what;
      EXPECT_FALSE(problem.harmless);
    }
    fs::copy_file(folder_ + "/sound", path, fs::copy_options::overwrite_existing);
  }
  LoseAndVerify();
}

}  // namespace

}  // namespace rocktier
